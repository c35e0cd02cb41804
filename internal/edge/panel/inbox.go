package panel

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// inbox serves a company's conversations to its teammates (docs/reference/conversation.md).
type inbox struct{ *Panel }

const (
	turnsMost      = 100 // in a response
	searchMost     = 100 // characters
	tagMost        = 40
	tagsMost       = 20
	clientIDMost   = 64
	conversationID = "conversation" // the kind of cursors
)

func (x inbox) routes() []httpio.Route {
	read, answer := auth.MayReadConversations, auth.MayAnswerConversations
	p := people{x}
	const one = "/conversations/{id}"
	return []httpio.Route{
		x.route("GET", "/conversations", read, x.list),
		x.route("GET", "/conversations/counts", read, x.counts),
		x.route("GET", one, read, x.get),
		x.route("GET", one+"/turns", read, x.turns),
		x.route("POST", one+"/take", answer, x.take),
		x.route("POST", one+"/answers", answer, x.answer),
		x.route("POST", one+"/notes", answer, x.writeNote),
		x.route("POST", one+"/release", answer, x.release),
		x.route("POST", one+"/assign", answer, x.assign),
		x.route("POST", one+"/resolve", answer, x.resolve),
		x.route("POST", one+"/reopen", answer, x.reopen),
		x.route("PUT", one+"/tags", answer, x.tag),
		x.route("POST", one+"/read", answer, x.read),
		x.route("POST", one+"/typing", answer, x.typing),
		x.route("POST", one+"/viewing", answer, x.viewing),
		x.route("GET", one+"/contact", read, p.contact),
		x.route("PUT", one+"/contact", answer, p.editContact),
		x.route("GET", "/inbox/teammates", read, p.teammates),
		x.route("PUT", "/inbox/presence", answer, p.setAway),
		{Pattern: "GET " + prefix + "/inbox/events", Access: "panel", Permission: string(read), Stream: true, Handle: p.events},
	}
}

func (x inbox) chats() *chats.Store { return x.Store.Chats }

// by is the member as conversations know them.
func (by member) by() conversation.By {
	return conversation.By{CompanyID: by.companyID, AccountID: by.accountID, Name: by.name}
}

func (x inbox) list(r *http.Request, by member) (any, error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, conversationID)
	if err != nil {
		return nil, err
	}
	f := chats.Filter{CompanyID: by.companyID, AccountID: by.accountID, Cursor: page.After, Limit: page.Limit}
	if err := readFilter(q, &f); err != nil {
		return nil, err
	}
	rows, next, err := x.Store.Chats.List(r.Context(), f)
	if err != nil {
		return nil, err
	}
	list := httpio.List[chats.Listed]{Data: append([]chats.Listed{}, rows...)}
	if next != "" {
		next = httpio.EncodeCursor(conversationID, next)
		list.Next = &next
	}
	return list, nil
}

func readFilter(q url.Values, f *chats.Filter) (err error) {
	f.Folder = q.Get("folder")
	if f.Folder == "" {
		f.Folder = "all"
	}
	if !slices.Contains(chats.Folders(), f.Folder) {
		return carillon.Invalid("folder", "Must be one of "+strings.Join(chats.Folders(), ", "))
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
	if f.Search, err = queryText(q, "search", searchMost); err != nil {
		return err
	}
	if f.Tag, err = queryText(q, "tag", tagMost); err == nil && f.Tag != "" {
		err = checkTag("tag", f.Tag)
	}
	return err
}

// queryText reads a text of the query, of at most that many characters.
func queryText(q url.Values, name string, most int) (string, error) {
	s := strings.TrimSpace(q.Get(name))
	switch {
	case !utf8.ValidString(s), strings.ContainsRune(s, 0):
		return "", carillon.Invalid(name, "Must be text")
	case utf8.RuneCountInString(s) > most:
		return "", carillon.Invalid(name, "At most "+strconv.Itoa(most)+" characters")
	}
	return s, nil
}

func (x inbox) counts(r *http.Request, by member) (any, error) {
	return x.Store.Chats.Count(r.Context(), by.companyID, by.accountID)
}

// conversationOf is the path's conversation. Errors: not_found.
func conversationOf(r *http.Request) (id string, err error) {
	if id = strings.ToLower(r.PathValue("id")); !carillon.ValidUUID(id) {
		return "", carillon.Absent("Conversation")
	}
	return id, nil
}

// find reads the path's conversation.
func (x inbox) find(r *http.Request, by member) (*chats.Conversation, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	return x.Store.Chats.Find(r.Context(), by.companyID, id)
}

// thread is a conversation with its contact and its newest turns.
type thread struct {
	Conversation chats.Summary     `json:"conversation"`
	Contact      chats.ContactView `json:"contact"`
	Window       *windowView       `json:"window,omitempty"` // of one over a messaging channel
	part
}

// part are some turns; more: there are further ones, before them or, where they were asked for after a seq, behind them.
type part struct {
	Turns      []chats.TurnView `json:"turns"`
	Deliveries []delivery       `json:"deliveries,omitempty"` // of turns over a messaging channel
	More       bool             `json:"more"`
}

func (x inbox) get(r *http.Request, by member) (any, error) {
	c, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	contact, err := x.Store.Contacts.ContactOf(r.Context(), by.companyID, c.ContactID)
	if err != nil {
		return nil, err
	}
	turns, err := x.Store.Chats.TurnsBefore(r.Context(), by.companyID, c.ID, c.LastSeq+1, turnsMost)
	if err != nil {
		return nil, err
	}
	window, _, err := written{x}.window(r.Context(), c)
	if err != nil {
		return nil, err
	}
	sent, err := written{x}.deliveries(r.Context(), c, turns)
	if err != nil {
		return nil, err
	}
	p := part{views(by.companyID, c.ID, turns), sent, len(turns) > 0 && turns[0].Seq > 1}
	return thread{chats.Summarize(c), contact.View(), window, p}, nil
}

// turns responds with the turns right before a seq, or right after one.
func (x inbox) turns(r *http.Request, by member) (any, error) {
	q := r.URL.Query()
	if q.Has("before") == q.Has("after") {
		return nil, carillon.Invalid("before", "Takes one of before and after")
	}
	name, read := "after", x.Store.Chats.Turns
	if q.Has("before") {
		name, read = "before", x.Store.Chats.TurnsBefore
	}
	seq, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil || seq < 0 {
		return nil, carillon.Invalid(name, "Must be the seq of a turn")
	}
	c, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	turns, err := read(r.Context(), by.companyID, c.ID, seq, turnsMost)
	if err != nil {
		return nil, err
	}
	p := part{Turns: views(by.companyID, c.ID, turns)}
	if p.Deliveries, err = (written{x}).deliveries(r.Context(), c, turns); err != nil {
		return nil, err
	}
	if n := len(turns); n > 0 {
		p.More = name == "before" && turns[0].Seq > 1 || name == "after" && turns[n-1].Seq < c.LastSeq
	}
	return p, nil
}
