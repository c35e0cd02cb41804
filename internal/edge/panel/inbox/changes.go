package inbox

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// change is the response to a change of a conversation.
type change struct {
	Turn         *chats.TurnView `json:"turn,omitempty"`
	Conversation chats.Summary   `json:"conversation"`
}

// changed builds the response. If the conversation is assigned to another teammate, the conflict includes their name.
func changed(ctx context.Context, s *store.Store, turn *chats.Turn, c *chats.Conversation, err error) (change, error) {
	var e *carillon.Error
	if errors.As(err, &e) && e.Code == carillon.Conflict {
		if id, ok := e.Details.Find(conversation.DetailAssignee).(string); ok {
			return change{}, withName(ctx, s, e, id)
		}
	}
	if err != nil {
		return change{}, err
	}
	all := change{Conversation: chats.Summarize(c)}
	if turn != nil {
		view := turn.View()
		AddFileURL(c.CompanyID, c.ID, &view)
		all.Turn = &view
	}
	return all, nil
}

// withName adds the name of the assigned teammate to a conflict.
func withName(ctx context.Context, s *store.Store, e *carillon.Error, accountID string) error {
	a, err := s.Accounts.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if a != nil {
		e.Details = append(slices.Clip(e.Details), carillon.Detail{Key: "assignee_name", Value: member.ShownName(a.Name, a.Email)})
	}
	return e
}

// takeRequest takes a conversation, from a teammate if named.
type takeRequest struct {
	From string `json:"from,omitempty"`
}

func (x Inbox) take(r *http.Request, by member.Member, id string) (change, error) {
	o, err := form.Body[takeRequest](r)
	if err != nil {
		return change{}, err
	}
	from, _, err := o.String("from", "from")
	if err != nil {
		return change{}, err
	}
	c, err := x.Conversations.Desk.Take(r.Context(), by.Teammate(), id, from)
	return changed(r.Context(), x.Store, nil, c, err)
}

// answerRequest replies with either a text or a file.
type answerRequest struct {
	ClientID string `json:"client_id"`
	Text     string `json:"text,omitempty"`
	File     string `json:"file,omitempty"`
	Seen     int64  `json:"seen,omitempty"`
	// AskNumber sends a text with a button by which the contact shares their number.
	AskNumber bool `json:"ask_number,omitempty"`
	// AskCalls sends a text with a button by which the contact allows calls over WhatsApp.
	AskCalls bool `json:"ask_calls,omitempty"`
}

func (x Inbox) answer(r *http.Request, by member.Member, id string) (change, error) {
	o, err := form.Body[answerRequest](r)
	if err != nil {
		return change{}, err
	}
	said, err := x.readAnswer(r, by, id, o)
	if err != nil {
		return change{}, err
	}
	seen := int64(-1)
	if o.Find("seen").Present() {
		if seen, err = seqOf(o, "seen"); err != nil {
			return change{}, err
		}
	}
	if err := x.Channel.open(r.Context(), by.CompanyID, id); err != nil {
		return change{}, err
	}
	if said.AskNumber {
		if err := x.Channel.mayAsk(r.Context(), by.CompanyID, id); err != nil {
			return change{}, err
		}
	}
	if said.AskCalls {
		if err := x.Channel.mayAskForCalls(r.Context(), by.CompanyID, id); err != nil {
			return change{}, err
		}
	}
	turn, c, err := x.Conversations.Desk.Answer(r.Context(), by.Teammate(), id, said, seen)
	return changed(r.Context(), x.Store, turn, c, err)
}

// noteRequest writes a note.
type noteRequest struct {
	ClientID string `json:"client_id"`
	Text     string `json:"text"`
}

func (x Inbox) writeNote(r *http.Request, by member.Member, id string) (change, error) {
	o, err := form.Body[noteRequest](r)
	if err != nil {
		return change{}, err
	}
	said, err := readSaid(o)
	if err != nil {
		return change{}, err
	}
	turn, c, err := x.Conversations.Desk.Note(r.Context(), by.Teammate(), id, said)
	return changed(r.Context(), x.Store, turn, c, err)
}

// readAnswer reads a text or a file.
func (x Inbox) readAnswer(r *http.Request, by member.Member, id string, o *jsonbody.Object) (in conversation.Said, err error) {
	file, given, err := o.String("file", "file")
	switch {
	case err != nil:
		return in, err
	case !given:
		if in, err = readSaid(o); err == nil {
			in.AskNumber, _, err = o.Bool("ask_number", "ask_number")
		}
		if err == nil {
			in.AskCalls, _, err = o.Bool("ask_calls", "ask_calls")
		}
		return in, err
	case o.Find("text").Present(), o.Find("ask_number").Present(), o.Find("ask_calls").Present():
		return in, carillon.Invalid("body", "Takes one of text and file")
	}
	if in.ClientID, err = form.Text(o, "client_id", form.MaxClientID); err != nil {
		return in, err
	}
	in.Kind = chats.KindFile
	in.File, err = x.Files.Keep(r.Context(), sender(by, id), file)
	return in, err
}

// readSaid reads a teammate's text.
func readSaid(o *jsonbody.Object) (in conversation.Said, err error) {
	if in.ClientID, err = form.Text(o, "client_id", form.MaxClientID); err != nil {
		return in, err
	}
	in.Kind = chats.KindText
	in.Text, err = form.Lines(o, "text", conversation.MaxText)
	return in, err
}

// seqOf reads the required sequence number of a turn; 0 is before the first turn.
func seqOf(o *jsonbody.Object, field string) (int64, error) {
	v := o.Find(field)
	if !v.Present() {
		return 0, carillon.Missing(field)
	}
	seq, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	if err != nil || seq < 0 {
		return 0, carillon.Invalid(field, "Must be the seq of a turn")
	}
	return seq, nil
}

// releaseRequest gives a conversation back.
type releaseRequest struct {
	To string `json:"to" enum:"queue,agent"`
}

func (x Inbox) release(r *http.Request, by member.Member, id string) (change, error) {
	o, err := form.Body[releaseRequest](r)
	if err != nil {
		return change{}, err
	}
	to, err := o.Find("to").Required("to")
	if err != nil {
		return change{}, err
	}
	if to != "queue" && to != "agent" {
		return change{}, carillon.Invalid("to", "Must be queue or agent")
	}
	c, err := x.Conversations.Desk.Release(r.Context(), by.Teammate(), id, to == "agent")
	return changed(r.Context(), x.Store, nil, c, err)
}

// assignRequest assigns a conversation, to nobody if empty.
type assignRequest struct {
	AccountID string `json:"account_id"`
}

func (x Inbox) assign(r *http.Request, by member.Member) (change, error) {
	const field = "account_id"
	id, err := form.ID(r, "Conversation")
	if err != nil {
		return change{}, err
	}
	o, err := form.Body[assignRequest](r)
	if err != nil {
		return change{}, err
	}
	account, given, err := o.String(field, field)
	switch {
	case err != nil:
		return change{}, err
	case !given:
		return change{}, carillon.Missing(field)
	}
	to := conversation.By{CompanyID: by.CompanyID, AccountID: strings.ToLower(account)}
	if account != "" {
		mate, err := x.teammate(r.Context(), by.CompanyID, to.AccountID)
		if err != nil {
			return change{}, err
		}
		if mate == nil {
			return change{}, carillon.Invalid(field, "Must be a member of the company who may answer conversations, or empty")
		}
		to.Name = mate.Name
	}
	c, err := x.Conversations.Desk.Assign(r.Context(), by.Teammate(), to, id)
	return changed(r.Context(), x.Store, nil, c, err)
}

// teammate returns a member who may answer conversations, or nil.
func (x Inbox) teammate(ctx context.Context, companyID, accountID string) (*accounts.Account, error) {
	if !carillon.ValidUUID(accountID) {
		return nil, nil
	}
	memberships, err := accounts.Memberships(ctx, x.Store.DB, accountID)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		if m.CompanyID == companyID && auth.Role(m.Role).Can(auth.MayAnswerConversations) {
			return x.Store.Accounts.Account(ctx, accountID)
		}
	}
	return nil, nil
}

func (x Inbox) resolve(r *http.Request, by member.Member, id string) (change, error) {
	c, err := x.Conversations.Desk.Resolve(r.Context(), by.Teammate(), id)
	return changed(r.Context(), x.Store, nil, c, err)
}

func (x Inbox) reopen(r *http.Request, by member.Member, id string) (change, error) {
	c, err := x.Conversations.Desk.Reopen(r.Context(), by.Teammate(), id)
	return changed(r.Context(), x.Store, nil, c, err)
}

// undo takes back the caller's last change of the conversation's state or assignee.
func (x Inbox) undo(r *http.Request, by member.Member, id string) (change, error) {
	named := func(ctx context.Context, accountID string) (*conversation.By, error) {
		a, err := x.teammate(ctx, by.CompanyID, accountID)
		if err != nil || a == nil {
			return nil, err
		}
		return &conversation.By{CompanyID: by.CompanyID, AccountID: a.ID, Name: a.Name}, nil
	}
	c, err := x.Conversations.Desk.Undo(r.Context(), by.Teammate(), id, named)
	return changed(r.Context(), x.Store, nil, c, err)
}

// tagsRequest replaces tags.
type tagsRequest struct {
	Tags []string `json:"tags"`
}

func (x Inbox) tag(r *http.Request, by member.Member, id string) (change, error) {
	o, err := form.Body[tagsRequest](r)
	if err != nil {
		return change{}, err
	}
	tags, err := readTags(o)
	if err != nil {
		return change{}, err
	}
	c, err := x.Conversations.Desk.Tag(r.Context(), by.CompanyID, id, tags)
	return changed(r.Context(), x.Store, nil, c, err)
}

// readTags reads a list of tags, without duplicates.
func readTags(o *jsonbody.Object) ([]string, error) {
	const field = "tags"
	given, present, err := o.Find(field).Strings(field)
	switch {
	case err != nil:
		return nil, err
	case !present:
		return nil, carillon.Missing(field)
	}
	tags := []string{}
	for i, tag := range given {
		tag = strings.TrimSpace(tag)
		if err := checkTag(field+"."+strconv.Itoa(i), tag); err != nil {
			return nil, err
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > maxTags {
		return nil, carillon.Invalid(field, "At most "+strconv.Itoa(maxTags)+" tags")
	}
	return tags, nil
}

func checkTag(field, tag string) error {
	switch {
	case tag == "", utf8.RuneCountInString(tag) > maxTag:
		return carillon.Invalid(field, "Must have 1 to "+strconv.Itoa(maxTag)+" characters")
	case strings.ContainsFunc(tag, func(c rune) bool { return c < ' ' || c == 0x7f || c == ',' || c == '"' }):
		return carillon.Invalid(field, "Must be one line without commas and quotation marks")
	}
	return nil
}

// readRequest marks turns as read.
type readRequest struct {
	Seq int64 `json:"seq"`
}

func (x Inbox) read(r *http.Request, by member.Member) (httpio.None, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	o, err := form.Body[readRequest](r)
	if err != nil {
		return nil, err
	}
	seq, err := seqOf(o, "seq")
	if err != nil {
		return nil, err
	}
	if _, err = x.Conversations.Desk.Read(r.Context(), by.CompanyID, c.ID, seq); err != nil {
		return nil, err
	}
	if c.ReadSeq < c.VisitorSeq && seq >= c.VisitorSeq {
		x.Channel.mark(r.Context(), c, false)
	}
	return nil, nil
}

func (x Inbox) typing(r *http.Request, by member.Member) (httpio.None, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	x.Conversations.Typing(by.CompanyID, c.ID, chats.Teammate, by.Name, by.AccountID)
	x.Channel.mark(r.Context(), c, true)
	return nil, nil
}

func (x Inbox) viewing(r *http.Request, by member.Member) (httpio.None, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return nil, err
	}
	x.Conversations.Viewing(by.Teammate(), c.ID)
	return nil, nil
}
