// Package inbox serves the conversations of a company to its teammates. Start reading with Inbox. Channel has the
// rules of messaging channels.
package inbox

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/notice"
)

// Inbox serves a company's conversations to its teammates (docs/reference/conversation.md).
type Inbox struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
	Files         *files.Files
	Channel       Channel
	Mails         bool // the installation can send e-mails
}

const (
	MaxTurns       = 100 // turns in a response
	maxSearch      = 100 // characters
	maxTag         = 40
	maxTopic       = 140
	maxTags        = 20
	conversationID = "conversation" // cursor kind
)

func (x Inbox) Routes() []httpio.Route {
	read, answer := auth.MayReadConversations, auth.MayAnswerConversations
	const one = "/conversations/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/conversations", read, x.list),
		member.Route(x.Gate, "GET", "/conversations/counts", read, x.counts),
		member.Route(x.Gate, "GET", "/conversations/times", read, x.times),
		member.Route(x.Gate, "GET", one, read, x.get),
		member.Route(x.Gate, "GET", one+"/turns", read, x.turns),
		member.Route(x.Gate, "GET", one+"/reach", read, x.reachOf),
		member.Route(x.Gate, "POST", one+"/take", answer, member.ID("Conversation", x.take)).Taking(takeRequest{}),
		member.Route(x.Gate, "POST", one+"/answers", answer, member.ID("Conversation", x.answer)).Taking(answerRequest{}),
		member.Route(x.Gate, "POST", one+"/notes", answer, member.ID("Conversation", x.writeNote)).Taking(noteRequest{}),
		member.Route(x.Gate, "POST", one+"/release", answer, member.ID("Conversation", x.release)).Taking(releaseRequest{}),
		member.Route(x.Gate, "POST", one+"/assign", answer, x.assign).Taking(assignRequest{}),
		member.Route(x.Gate, "POST", one+"/resolve", answer, member.ID("Conversation", x.resolve)),
		member.Route(x.Gate, "POST", one+"/reopen", answer, member.ID("Conversation", x.reopen)),
		member.Route(x.Gate, "POST", one+"/undo", answer, member.ID("Conversation", x.undo)),
		member.Route(x.Gate, "PUT", one+"/tags", answer, member.ID("Conversation", x.tag)).Taking(tagsRequest{}),
		member.Route(x.Gate, "POST", one+"/read", answer, x.read).Taking(readRequest{}),
		member.Route(x.Gate, "POST", one+"/typing", answer, x.typing),
		member.Route(x.Gate, "POST", one+"/viewing", answer, x.viewing),
	}
}

func (x Inbox) list(r *http.Request, by member.Member) (httpio.List[chats.Listed], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, conversationID)
	if err != nil {
		return httpio.List[chats.Listed]{}, err
	}
	f := chats.Filter{CompanyID: by.CompanyID, AccountID: by.AccountID, Cursor: page.After, Limit: page.Limit}
	if err := readFilter(q, &f); err != nil {
		return httpio.List[chats.Listed]{}, err
	}
	rows, next, err := x.Store.Chats.List(r.Context(), f)
	return httpio.Part(conversationID, rows, next), err
}

func readFilter(q url.Values, f *chats.Filter) (err error) {
	f.Folder = q.Get("folder")
	if f.Folder == "" {
		f.Folder = "all"
	}
	if !slices.Contains(chats.Folders(), f.Folder) {
		return carillon.Invalid("folder", "Must be one of "+strings.Join(chats.Folders(), ", "))
	}
	switch q.Get("order") {
	case "", "newest":
	case "oldest":
		f.Oldest = true
	default:
		return carillon.Invalid("order", "Must be one of newest, oldest")
	}
	switch q.Get("closed") {
	case "", "false":
	case "true":
		f.Closed = true
	default:
		return carillon.Invalid("closed", "Must be true or false")
	}
	f.ContactID = strings.ToLower(q.Get("contact"))
	if f.ContactID != "" && !carillon.ValidUUID(f.ContactID) {
		return carillon.Invalid("contact", "Must be the id of a contact")
	}
	if f.Search, err = form.Query(q, "search", maxSearch); err != nil {
		return err
	}
	if f.Tag, err = form.Query(q, "tag", maxTag); err == nil && f.Tag != "" {
		err = checkTag("tag", f.Tag)
	}
	if err != nil {
		return err
	}
	if f.Topic, err = form.Query(q, "topic", maxTopic); err != nil {
		return err
	}
	if f.Goal = q.Get("goal"); f.Goal != "" && !slices.Contains(chats.Goals(), f.Goal) {
		return carillon.Invalid("goal", "Must be one of "+strings.Join(chats.Goals(), ", "))
	}
	return nil
}

func (x Inbox) counts(r *http.Request, by member.Member) (chats.Counts, error) {
	return x.Store.Chats.Count(r.Context(), by.CompanyID, by.AccountID)
}

// find returns the conversation named in the path.
func find(r *http.Request, s *store.Store, by member.Member) (*chats.Conversation, error) {
	id, err := form.ID(r, "Conversation")
	if err != nil {
		return nil, err
	}
	return s.Chats.Find(r.Context(), by.CompanyID, id)
}

// thread is a conversation with its contact and its newest turns.
type thread struct {
	Conversation chats.Summary     `json:"conversation"`
	Contact      chats.ContactView `json:"contact"`
	Window       *windowView       `json:"window,omitempty"` // only for a messaging channel
	Review       *chats.ReviewView `json:"review,omitempty"`
	Reach        *reach            `json:"reach,omitempty"` // only for a chat on a page
	part
}

// reach says how a reply reaches a visitor of a page.
type reach struct {
	Connected bool `json:"connected"` // the chat is open
	ByMail    bool `json:"by_mail"`   // replies go by e-mail to a visitor with an address who left
}

// reachOf responds with how a reply reaches the visitor now.
func (x Inbox) reachOf(r *http.Request, by member.Member) (reach, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return reach{}, err
	}
	contact, err := x.Store.Contacts.ContactOf(r.Context(), by.CompanyID, c.ContactID)
	if err != nil {
		return reach{}, err
	}
	to, err := x.reach(r.Context(), c, contact)
	if err == nil && to == nil {
		err = carillon.InConflict("The conversation is not a chat on a page")
	}
	if err != nil {
		return reach{}, err
	}
	return *to, nil
}

// reach returns how a reply reaches the visitor, or nil if the conversation is no chat on a page.
func (x Inbox) reach(ctx context.Context, c *chats.Conversation, contact *chats.Contact) (*reach, error) {
	if c.Channel != "web_chat" {
		return nil, nil
	}
	company, err := x.Store.Accounts.Company(ctx, c.CompanyID)
	if err != nil {
		return nil, err
	}
	return &reach{time.Since(contact.SeenAt) < notice.ConnectedFor, x.Mails && !company.Inbox.ChatOnly}, nil
}

// part is a range of turns. More reports whether there are further turns: before them, or after them if turns after a
// seq were requested.
type part struct {
	Turns      []chats.TurnView `json:"turns"`
	Deliveries []delivery       `json:"deliveries,omitempty"` // only for a messaging channel
	More       bool             `json:"more"`
}

func (x Inbox) get(r *http.Request, by member.Member) (thread, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return thread{}, err
	}
	contact, err := x.Store.Contacts.ContactOf(r.Context(), by.CompanyID, c.ContactID)
	if err != nil {
		return thread{}, err
	}
	turns, err := x.Store.Chats.TurnsBefore(r.Context(), by.CompanyID, c.ID, c.LastSeq+1, MaxTurns)
	if err != nil {
		return thread{}, err
	}
	window, _, err := x.Channel.window(r.Context(), c)
	if err != nil {
		return thread{}, err
	}
	sent, err := x.Channel.deliveries(r.Context(), c, turns)
	if err != nil {
		return thread{}, err
	}
	reviews, err := x.Store.Reviews.Of(r.Context(), by.CompanyID, c.ID)
	if err != nil {
		return thread{}, err
	}
	to, err := x.reach(r.Context(), c, contact)
	if err != nil {
		return thread{}, err
	}
	p := part{Views(by.CompanyID, c.ID, turns), sent, len(turns) > 0 && turns[0].Seq > 1}
	return thread{chats.Summarize(c), contact.View(), window, reviews[c.ID].View(), to, p}, nil
}

// turns responds with the turns immediately before or after a seq.
func (x Inbox) turns(r *http.Request, by member.Member) (part, error) {
	q := r.URL.Query()
	if q.Has("before") == q.Has("after") {
		return part{}, carillon.Invalid("before", "Takes one of before and after")
	}
	name, read := "after", x.Store.Chats.Turns
	if q.Has("before") {
		name, read = "before", x.Store.Chats.TurnsBefore
	}
	seq, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil || seq < 0 {
		return part{}, carillon.Invalid(name, "Must be the seq of a turn")
	}
	c, err := find(r, x.Store, by)
	if err != nil {
		return part{}, err
	}
	turns, err := read(r.Context(), by.CompanyID, c.ID, seq, MaxTurns)
	if err != nil {
		return part{}, err
	}
	p := part{Turns: Views(by.CompanyID, c.ID, turns)}
	if p.Deliveries, err = x.Channel.deliveries(r.Context(), c, turns); err != nil {
		return part{}, err
	}
	if n := len(turns); n > 0 {
		p.More = name == "before" && turns[0].Seq > 1 || name == "after" && turns[n-1].Seq < c.LastSeq
	}
	return p, nil
}
