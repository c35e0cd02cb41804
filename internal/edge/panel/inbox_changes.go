package panel

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
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// changed is the response to a change of a conversation.
type changed struct {
	Turn         *chats.TurnView `json:"turn,omitempty"`
	Conversation chats.Summary   `json:"conversation"`
}

// changed makes the response. The conflict of a conversation that another teammate has names them.
func (x inbox) changed(ctx context.Context, turn *chats.Turn, c *chats.Conversation, err error) (any, error) {
	var e *carillon.Error
	if errors.As(err, &e) && e.Code == carillon.Conflict {
		if id, ok := e.Details.Find(conversation.DetailAssignee).(string); ok {
			return nil, x.withName(ctx, e, id)
		}
	}
	if err != nil {
		return nil, err
	}
	all := changed{Conversation: chats.Summarize(c)}
	if turn != nil {
		view := turn.View()
		addFileURL(c.CompanyID, c.ID, &view)
		all.Turn = &view
	}
	return all, nil
}

// withName adds the name of the teammate who has a conversation to a conflict.
func (x inbox) withName(ctx context.Context, e *carillon.Error, accountID string) error {
	a, err := x.Store.Accounts.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if a != nil {
		e.Details = append(slices.Clip(e.Details), carillon.Detail{Key: "assignee_name", Value: nameOf(a.Name, a.Email)})
	}
	return e
}

// nameOf is how teammates see one another.
func nameOf(name, email string) string {
	if name == "" {
		return email
	}
	return name
}

func (x inbox) take(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "from")
	if err != nil {
		return nil, err
	}
	from, _, err := o.String("from", "from")
	if err != nil {
		return nil, err
	}
	c, err := x.Conversations.Take(r.Context(), by.by(), id, from)
	return x.changed(r.Context(), nil, c, err)
}

func (x inbox) answer(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "client_id", "text", "file", "seen")
	if err != nil {
		return nil, err
	}
	said, err := x.readAnswer(r, by, id, o)
	if err != nil {
		return nil, err
	}
	seen := int64(-1)
	if o.Find("seen").Present() {
		if seen, err = seqOf(o, "seen"); err != nil {
			return nil, err
		}
	}
	if err := (written{x}).open(r.Context(), by.companyID, id); err != nil {
		return nil, err
	}
	turn, c, err := x.Conversations.Answer(r.Context(), by.by(), id, said, seen)
	return x.changed(r.Context(), turn, c, err)
}

func (x inbox) writeNote(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "client_id", "text")
	if err != nil {
		return nil, err
	}
	said, err := readSaid(o)
	if err != nil {
		return nil, err
	}
	turn, c, err := x.Conversations.Note(r.Context(), by.by(), id, said)
	return x.changed(r.Context(), turn, c, err)
}

// readAnswer reads a text or a file.
func (x inbox) readAnswer(r *http.Request, by member, id string, o *jsonbody.Object) (in conversation.Said, err error) {
	file, given, err := o.String("file", "file")
	switch {
	case err != nil:
		return in, err
	case !given:
		return readSaid(o)
	case o.Find("text").Present():
		return in, carillon.Invalid("body", "Takes one of text and file")
	}
	if in.ClientID, err = text(o, "client_id", clientIDMost); err != nil {
		return in, err
	}
	in.Kind = chats.KindFile
	in.File, err = x.Files.Keep(r.Context(), by.from(id), file)
	return in, err
}

// readSaid reads what a teammate writes.
func readSaid(o *jsonbody.Object) (in conversation.Said, err error) {
	if in.ClientID, err = text(o, "client_id", clientIDMost); err != nil {
		return in, err
	}
	in.Kind = chats.KindText
	in.Text, err = lines(o, "text", conversation.MaxText)
	return in, err
}

// lines reads a required text of at most that many characters, on any number of lines.
func lines(o *jsonbody.Object, field string, most int) (string, error) {
	s, _, err := o.String(field, field)
	if err != nil {
		return "", err
	}
	s = conversation.Clean(s)
	switch {
	case s == "":
		return "", carillon.Missing(field)
	case utf8.RuneCountInString(s) > most:
		return "", carillon.Invalid(field, "At most "+strconv.Itoa(most)+" characters")
	}
	return s, nil
}

// seqOf reads the required seq of a turn; 0 is before the first.
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

func (x inbox) release(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "to")
	if err != nil {
		return nil, err
	}
	to, err := o.Find("to").Required("to")
	if err != nil {
		return nil, err
	}
	if to != "queue" && to != "agent" {
		return nil, carillon.Invalid("to", "Must be queue or agent")
	}
	c, err := x.Conversations.Release(r.Context(), by.by(), id, to == "agent")
	return x.changed(r.Context(), nil, c, err)
}

func (x inbox) assign(r *http.Request, by member) (any, error) {
	const field = "account_id"
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, field)
	if err != nil {
		return nil, err
	}
	account, given, err := o.String(field, field)
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, carillon.Missing(field)
	}
	to := conversation.By{CompanyID: by.companyID, AccountID: strings.ToLower(account)}
	if account != "" {
		mate, err := x.teammate(r.Context(), by.companyID, to.AccountID)
		if err != nil {
			return nil, err
		}
		if mate == nil {
			return nil, carillon.Invalid(field, "Must be a member of the company who may answer conversations, or empty")
		}
		to.Name = mate.Name
	}
	c, err := x.Conversations.Assign(r.Context(), by.by(), to, id)
	return x.changed(r.Context(), nil, c, err)
}

// teammate is a member who may answer conversations, nil for others.
func (x inbox) teammate(ctx context.Context, companyID, accountID string) (*accounts.Account, error) {
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

func (x inbox) resolve(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	c, err := x.Conversations.Resolve(r.Context(), by.by(), id)
	return x.changed(r.Context(), nil, c, err)
}

func (x inbox) reopen(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	c, err := x.Conversations.Reopen(r.Context(), by.by(), id)
	return x.changed(r.Context(), nil, c, err)
}

func (x inbox) tag(r *http.Request, by member) (any, error) {
	id, err := conversationOf(r)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "tags")
	if err != nil {
		return nil, err
	}
	tags, err := readTags(o)
	if err != nil {
		return nil, err
	}
	c, err := x.Conversations.Tag(r.Context(), by.companyID, id, tags)
	return x.changed(r.Context(), nil, c, err)
}

// readTags reads a list of tags; one that is repeated counts once.
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
	if len(tags) > tagsMost {
		return nil, carillon.Invalid(field, "At most "+strconv.Itoa(tagsMost)+" tags")
	}
	return tags, nil
}

func checkTag(field, tag string) error {
	switch {
	case tag == "", utf8.RuneCountInString(tag) > tagMost:
		return carillon.Invalid(field, "Must have 1 to "+strconv.Itoa(tagMost)+" characters")
	case strings.ContainsFunc(tag, func(c rune) bool { return c < ' ' || c == 0x7f || c == ',' || c == '"' }):
		return carillon.Invalid(field, "Must be one line without commas and quotation marks")
	}
	return nil
}

func (x inbox) read(r *http.Request, by member) (any, error) {
	c, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	o, err := object(r, "seq")
	if err != nil {
		return nil, err
	}
	seq, err := seqOf(o, "seq")
	if err != nil {
		return nil, err
	}
	if _, err = x.Conversations.Read(r.Context(), by.companyID, c.ID, seq); err != nil {
		return nil, err
	}
	if c.ReadSeq < c.VisitorSeq && seq >= c.VisitorSeq {
		written{x}.mark(r.Context(), c, false)
	}
	return nil, nil
}

func (x inbox) typing(r *http.Request, by member) (any, error) {
	c, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	x.Conversations.Typing(by.companyID, c.ID, chats.Teammate, by.name, by.accountID)
	written{x}.mark(r.Context(), c, true)
	return nil, nil
}

func (x inbox) viewing(r *http.Request, by member) (any, error) {
	c, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	x.Conversations.Viewing(by.by(), c.ID)
	return nil, nil
}
