// Package chats is the SQL of conversations: contacts, conversations, their turns, and the presence of teammates.
// Changes of a conversation go through the group commit; each sees the result of the previous one, which orders
// turns and decides between two teammates.
package chats

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
)

// State is the state of a conversation.
type State string

// The states of a conversation.
const (
	Automated State = "bot"       // the agent answers
	Queued    State = "queued"    // the contact waits for a teammate
	Active    State = "active"    // assigned to a teammate
	WrapUp    State = "wrap_up"   // the contact left; the teammate finishes
	Resolved  State = "resolved"  // closed
	Missed    State = "missed"    // nobody took it in time; waits for a later answer
	Abandoned State = "abandoned" // the contact left before a teammate answered
)

// Waits reports whether a contact waits for a teammate in this state.
func (s State) Waits() bool { return s == Queued || s == Missed || s == Abandoned }

// Author is the kind of author of a turn.
type Author string

// The authors of turns.
const (
	Visitor  Author = "visitor"
	Agent    Author = "agent"
	Teammate Author = "teammate"
	System   Author = "system"
)

// The kinds of turns. The Text of an event is its name: see package conversation.
const (
	KindText    = "text"
	KindChoices = "choices" // the agent asks; the payload holds the choices
	KindChoice  = "choice"  // the contact's answer to them
	KindFile    = "file"    // the payload holds the file
	KindEvent   = "event"
)

// Contact is a person who talks with a company.
type Contact struct {
	ID        string
	CompanyID string
	WidgetID  string
	VisitorID string // the page's own visitor id or, if verified, the subject signed by the company
	Verified  bool
	Name      string
	Email     string
	Number    string // last number used; empty if unknown
	Language  string
	UserID    string // the channel's id of a person who hides the number
	Username  string // chosen by the person at the channel; may change
	CreatedAt time.Time
	SeenAt    time.Time
}

// Conversation is a thread with one contact.
type Conversation struct {
	ID         string
	CompanyID  string
	Channel    string // web_chat, web_voice, whatsapp, phone
	WidgetID   string
	AgentID    string
	ContactID  string
	State      State
	StateAt    time.Time
	Assignee   string // account id; empty if unassigned
	Language   string
	Page       string // page that the visitor is on
	Tags       []string
	LastSeq    int64
	LastAt     time.Time
	LastAuthor Author
	LastText   string    // beginning of the newest turn visible to the contact
	Question   string    // beginning of the contact's newest turn that is no small talk; empty for none
	VisitorSeq int64     // the contact's last turn
	CompanySeq int64     // the company's last turn
	ReadSeq    int64     // last turn read by teammates
	SeenSeq    int64     // last turn read by the contact
	AskedAt    time.Time // time of the contact's first unanswered turn; zero if all are answered
	WaitingAt  time.Time // when the contact began to wait for a teammate; zero if nobody waits
	NoticeAt   time.Time // when the next notice to teammates about this wait is due; zero for none
	Unanswered string    // beginning of the last question that the agent left open; empty for none
	Undo       string    // the state before a teammate's last change, in the terms of package conversation; empty for none
	ReplySeq   int64     // contact's turn that waits for the agent; 0 for none
	ReplyAt    time.Time
	Asks       string    // open question of the agent, in the terms of package agent; empty for none
	AskedSeq   int64     // turn that first asked it, also for questions of flows; 0 if unknown
	ReviewAt   time.Time // when the review is due, or until when it is claimed; zero for none
	// ReviewTries is the number of times that the due review was begun since the conversation continued.
	ReviewTries int64
	Memory      string // what the agent keeps until the next message, in the terms of package agent; empty for nothing
	Rating      int    // 1 to 5; 0 for none
	Comment     string
	RatedAt     time.Time
	OpenedAt    time.Time
	ResolvedAt  time.Time
	Handoff     Handoff // the latest wait for a teammate, until the agent continues; zero for none
}

// Unread reports whether the contact said something that no teammate has read.
func (c *Conversation) Unread() bool { return c.VisitorSeq > c.ReadSeq }

// SetState changes the state at an instant. An open question is dropped, unless the agent continues or may continue. The
// agent's memory is cleared, unless it continues. A wait for a teammate begins, continues or ends.
func (c *Conversation) SetState(to State, now time.Time) {
	c.State, c.StateAt, c.ResolvedAt = to, now, time.Time{}
	if to != Automated && to != Queued {
		c.Asks, c.AskedSeq = "", 0
	}
	if to != Automated {
		c.Memory = ""
	}
	if to == Resolved {
		c.ResolvedAt = now
	}
	switch {
	case !to.Waits():
		c.WaitingAt, c.NoticeAt = time.Time{}, time.Time{}
	case c.WaitingAt.IsZero():
		c.WaitingAt, c.NoticeAt = now, now
	}
}

// Turn is one entry of a conversation.
type Turn struct {
	Seq       int64 // 1, 2, 3, … assigned by the commit
	Author    Author
	Kind      string
	Note      bool   // for teammates only
	AccountID string // for a teammate's turn
	ClientID  string // unique within the conversation; empty for none
	Text      string
	Extra     Extra
	At        time.Time
}

// Extra holds the fields of a turn besides its text, depending on its kind and author.
type Extra struct {
	Name    string   `json:"name,omitempty"`    // of the teammate, the agent or, in a group, the contact who speaks
	Choices []string `json:"choices,omitempty"` // of kind choices
	File    *File    `json:"file,omitempty"`    // of kind file
	Sources []Source `json:"sources,omitempty"` // articles that the agent's answer is based on
	// AskNumber shows the contact a button over the channel, by which they share their number.
	AskNumber bool `json:"ask_number,omitempty"`
	// AskCalls asks the contact over the channel to allow calls.
	AskCalls bool `json:"ask_calls,omitempty"`

	// Of an agent's response to a question, for teammates.
	Outcome  Outcome   `json:"outcome,omitempty"`
	Passages []Passage `json:"passages,omitempty"`
	Score    string    `json:"score,omitempty" enum:"like,dislike"` // the contact's
	Scores   int       `json:"scores,omitempty"`                    // how many times it changed

	Event  string  `json:"event,omitempty"`  // name of the event, for kind event
	Rating int     `json:"rating,omitempty"` // of the event rated
	Of     int64   `json:"of,omitempty"`     // for the event scored, a reaction or an answer to one message: the turn
	About  string  `json:"about,omitempty"`  // for a reaction or an answer to one message: the beginning of that message
	Why    string  `json:"why,omitempty"`    // for the event file_missing: the reason
	Voice  *Voice  `json:"voice,omitempty"`  // for a turn said aloud
	Set    []Value `json:"set,omitempty"`    // for the event noted
	Digits string  `json:"digits,omitempty"` // telephone keys pressed
	Early  bool    `json:"early,omitempty"`  // said before the response to the previous turn was heard
	Bound  *Bound  `json:"bound,omitempty"`  // for a reply to a notification with a name_event
	Tools  []Use   `json:"tools,omitempty"`  // for the event tool_called

	// Of an application's message, which has the author teammate and no account: Name is that of the access key.
	Application bool     `json:"application,omitempty"`
	ChoiceIDs   []string `json:"choice_ids,omitempty"` // of Choices, if the application chose them
	ChoiceID    string   `json:"choice_id,omitempty"`  // for kind choice: the chosen one of ChoiceIDs

	// PhoneApp means that the team wrote it in the channel's own app: the turn has the author teammate and no account.
	PhoneApp bool `json:"phone_app,omitempty"`
	// Delivery is the state of a message of the company from before the channel was connected.
	Delivery carillon.State `json:"delivery,omitempty"`

	Notification string `json:"notification,omitempty"` // for the event template_sent: its id
	Run          string `json:"run,omitempty"`          // for flow_began, and for handoff_requested by a flow: its id

	provider.Enclosed // for a contact's message over a channel
}

// Use is a call of a tool by an agent.
type Use struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"`                               // JSON, may be cut off
	Status    string `json:"status" enum:"ok,not_found,refused,failed,unknown"` // ok, not_found, refused, failed or unknown
	Code      int    `json:"code,omitempty"`                                    // HTTP status
	Reason    string `json:"reason,omitempty"`                                  // of a failure
	MS        int64  `json:"ms"`
	Changes   bool   `json:"changes,omitempty"` // the tool changes something
}

// Bound is the notification whose flow a reply starts.
type Bound struct {
	Event          string            `json:"event"`
	NotificationID string            `json:"notification_id"`
	Language       string            `json:"language,omitempty"` // of the template, BCP 47
	Values         map[string]string `json:"values,omitempty"`   // of the contact and the request
}

// Value is a fact learned in a conversation.
type Value struct {
	Name string `json:"name"`
	Type string `json:"type"` // text, number, boolean or choice
	Text string `json:"text"`
}

// Typed returns the value in its type.
func (v Value) Typed() any {
	switch v.Type {
	case "boolean":
		return v.Text == "true"
	case "number":
		if n, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return n
		}
	}
	return v.Text
}

// Add adds a value, replacing an earlier one of the same name.
func (v Value) Add(to carillon.Details) carillon.Details {
	if at := slices.IndexFunc(to, func(d carillon.Detail) bool { return d.Key == v.Name }); at >= 0 {
		to[at].Value = v.Typed()
		return to
	}
	return append(to, carillon.Detail{Key: v.Name, Value: v.Typed()})
}

// Voice describes how a turn was said aloud. Times are in milliseconds; 0 if not applicable.
type Voice struct {
	LengthMS     int64  `json:"length_ms,omitempty"`      // length of the sound
	DetectMS     int64  `json:"detect_ms,omitempty"`      // from the last word to the detected end of the turn
	TranscribeMS int64  `json:"transcribe_ms,omitempty"`  // from there to the text
	ThinkMS      int64  `json:"think_ms,omitempty"`       // response: from the text to its first words
	FirstAudioMS int64  `json:"first_audio_ms,omitempty"` // response: from its first words to their first sound
	Cut          bool   `json:"cut,omitempty"`            // response: interrupted by the person
	Heard        string `json:"heard,omitempty"`          // interrupted response: the part that was heard
	// HeardBy is the part that turned the contact's sound into text; empty for this program. Such a text is no better proof
	// than a typed one.
	HeardBy   string `json:"heard_by,omitempty" enum:"browser"`
	Final     string `json:"final,omitempty"`     // the contact's words as recognized after the turn was answered
	Continues bool   `json:"continues,omitempty"` // the turn continues the previous one, which was mistaken for complete
}

// Of returns the words of a turn with this text that count as said: of an interrupted response the part that was heard, of
// recognized speech the final words. v may be nil.
func (v *Voice) Of(text string) string {
	switch {
	case v == nil:
		return text
	case v.Cut:
		return v.Heard + " …"
	case v.Final != "":
		return v.Final
	}
	return text
}

// File describes a file that is part of a turn.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
	URL  string `json:"url,omitempty"` // signed when it is shown
}

// Source is an article that supports an answer.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// Store reads and writes conversations and their turns. Its methods are safe for concurrent use.
type Store struct {
	d       *db.DB
	changes *db.Kind[*Change]
	opens   *db.Kind[*Open]
	// followed reports whether events of a company's topic are written.
	followed func(ctx context.Context, companyID, topic string) bool
}

// New returns the conversations of a database. Opens and changes have their places in the lock order.
func New(d *db.DB, opens, changes db.Place, followed func(ctx context.Context, companyID, topic string) bool) *Store {
	s := &Store{d: d, followed: followed}
	s.changes = &db.Kind[*Change]{Name: "conversation", Place: changes, Apply: s.apply}
	s.opens = &db.Kind[*Open]{Name: "contact", Place: opens, Apply: s.applyOpens}
	return s
}

// Contacts reads and writes the contacts of conversations and their identities.
type Contacts struct {
	d     *db.DB
	chats *Store
}

// NewContacts returns the contacts of a database's conversations.
func NewContacts(s *Store) *Contacts { return &Contacts{s.d, s} }

// Attendance reads and writes the presence of teammates.
type Attendance struct{ d *db.DB }

// NewAttendance returns the attendance of a database.
func NewAttendance(d *db.DB) *Attendance { return &Attendance{d} }

// CannedReplies are prepared texts for replies of teammates.
type CannedReplies struct{ d *db.DB }

// NewCannedReplies returns the canned replies of a database.
func NewCannedReplies(d *db.DB) *CannedReplies { return &CannedReplies{d} }

const columns = `id, company_id, channel, widget_id, agent_id, contact_id, state, state_at, assignee, language, page, tags,
	last_seq, last_at,
	last_author, last_text, visitor_seq, company_seq, read_seq, seen_seq, reply_seq, reply_at, rating, comment, opened_at, resolved_at,
	asked_at, asks, asked_seq, memory, review_at, review_tries, question, waiting_at, notice_at, unanswered, undo,
	rated_at, handoff_at, replied_at, replied_by`

func scan(row db.Scan) (*Conversation, error) {
	var c Conversation
	var stateAt, lastAt, replyAt, openedAt, resolvedAt, askedAt, reviewAt, waitingAt, noticeAt, ratedAt, handoffAt, repliedAt int64
	var tags string
	if err := row(&c.ID, &c.CompanyID, &c.Channel, &c.WidgetID, &c.AgentID, &c.ContactID, &c.State, &stateAt, &c.Assignee,
		&c.Language, &c.Page,
		&tags, &c.LastSeq, &lastAt, &c.LastAuthor, &c.LastText, &c.VisitorSeq, &c.CompanySeq, &c.ReadSeq, &c.SeenSeq, &c.ReplySeq, &replyAt,
		&c.Rating, &c.Comment, &openedAt, &resolvedAt, &askedAt, &c.Asks, &c.AskedSeq, &c.Memory,
		&reviewAt, &c.ReviewTries, &c.Question, &waitingAt, &noticeAt, &c.Unanswered, &c.Undo,
		&ratedAt, &handoffAt, &repliedAt, &c.Handoff.By); err != nil {
		return nil, err
	}
	c.StateAt, c.LastAt, c.ReplyAt = db.Instant(stateAt), db.Instant(lastAt), db.Instant(replyAt)
	c.OpenedAt, c.ResolvedAt, c.AskedAt = db.Instant(openedAt), db.Instant(resolvedAt), db.Instant(askedAt)
	c.ReviewAt, c.WaitingAt, c.NoticeAt = db.Instant(reviewAt), db.Instant(waitingAt), db.Instant(noticeAt)
	c.RatedAt, c.Handoff.At, c.Handoff.RepliedAt = db.Instant(ratedAt), db.Instant(handoffAt), db.Instant(repliedAt)
	return &c, json.Unmarshal([]byte(tags), &c.Tags)
}

// Find returns a company's conversation. Errors: not_found.
func (s *Store) Find(ctx context.Context, companyID, id string) (*Conversation, error) {
	c, err := db.Find(ctx, s.d, "conversation", scan, "SELECT "+columns+" FROM conversation WHERE id = $1 AND company_id = $2", id,
		companyID)
	if err == nil && c == nil {
		return nil, carillon.Absent("Conversation")
	}
	return c, err
}

const turnColumns = "seq, author, kind, note, account_id, client_id, at, text, payload"

func scanTurn(row db.Scan) (t Turn, err error) {
	var at int64
	var payload string
	err = row(&t.Seq, &t.Author, &t.Kind, &t.Note, &t.AccountID, &t.ClientID, &at, &t.Text, &payload)
	t.At = db.Instant(at)
	if err == nil && payload != "" {
		err = json.Unmarshal([]byte(payload), &t.Extra)
	}
	return t, err
}

// Turns returns at most `most` turns of a company's conversation after a seq, oldest first, including notes.
func (s *Store) Turns(ctx context.Context, companyID, id string, after int64, most int) ([]Turn, error) {
	return db.Collect(ctx, s.d, "turns", scanTurn, "SELECT "+turnColumns+` FROM turn WHERE conversation_id = $1 AND seq > $2
		AND EXISTS (SELECT 1 FROM conversation AS c WHERE c.id = $1 AND c.company_id = $3) ORDER BY seq LIMIT $4`, id, after,
		companyID, most)
}

// TurnsBefore returns at most `most` turns right before a seq, oldest first.
func (s *Store) TurnsBefore(ctx context.Context, companyID, id string, before int64, most int) ([]Turn, error) {
	turns, err := db.Collect(ctx, s.d, "turns", scanTurn, "SELECT "+turnColumns+` FROM turn WHERE conversation_id = $1 AND seq < $2
		AND EXISTS (SELECT 1 FROM conversation AS c WHERE c.id = $1 AND c.company_id = $3) ORDER BY seq DESC LIMIT $4`, id, before,
		companyID, most)
	slices.Reverse(turns)
	return turns, err
}

// TurnBy returns the turn of a conversation with a client id; nil if there is none.
func (s *Store) TurnBy(ctx context.Context, companyID, id, clientID string) (*Turn, error) {
	return db.Find(ctx, s.d, "turn", func(row db.Scan) (*Turn, error) {
		t, err := scanTurn(row)
		return &t, err
	}, "SELECT "+turnColumns+` FROM turn WHERE client_id <> '' AND conversation_id = $1 AND client_id = $2
		AND EXISTS (SELECT 1 FROM conversation AS c WHERE c.id = $1 AND c.company_id = $3)`, id, clientID, companyID)
}

// ContactOf returns a company's contact. Errors: not_found.
func (s *Contacts) ContactOf(ctx context.Context, companyID, id string) (*Contact, error) {
	c, err := db.Find(ctx, s.d, "contact", scanContact, "SELECT "+contactColumns+" FROM contact WHERE id = $1 AND company_id = $2",
		id, companyID)
	if err == nil && c == nil {
		return nil, carillon.Absent("Contact")
	}
	return c, err
}

const contactColumns = `id, company_id, widget_id, visitor_id, verified, name, email, number, language, created_at, seen_at,
	user_id, username`

func scanContact(row db.Scan) (*Contact, error) {
	var c Contact
	var created, seen int64
	err := row(&c.ID, &c.CompanyID, &c.WidgetID, &c.VisitorID, &c.Verified, &c.Name, &c.Email, &c.Number, &c.Language, &created, &seen,
		&c.UserID, &c.Username)
	c.CreatedAt, c.SeenAt = db.Instant(created), db.Instant(seen)
	return &c, err
}

// SetContact stores the name and e-mail address that a contact gave; empty values change nothing. Fields signed by the
// company are kept for a verified contact, because teammates see them as verified.
func (s *Contacts) SetContact(ctx context.Context, companyID, id, name, email string) error {
	n, err := s.d.Exec(ctx, `UPDATE contact SET name = CASE WHEN $1 = '' OR verified AND name <> '' THEN name ELSE $1 END,
		email = CASE WHEN $2 = '' OR verified AND email <> '' THEN email ELSE $2 END WHERE id = $3 AND company_id = $4`, name,
		email, id, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Contact")
	}
	return db.Wrap(err, "write contact")
}

// ContactEdit is a teammate's change of a contact; nil fields change nothing.
type ContactEdit struct{ Name, Email, Number *string }

// EditContact changes a company's contact and returns it. A number noted by a teammate identifies nobody, but the
// person's opt-outs apply to it too. Errors: not_found.
func (s *Contacts) EditContact(ctx context.Context, companyID, id string, edit ContactEdit) (*Contact, error) {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE contact SET name = COALESCE($1, name), email = COALESCE($2, email), number = COALESCE($3, number)
			WHERE id = $4 AND company_id = $5`, edit.Name, edit.Email, edit.Number, id, companyID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return carillon.Absent("Contact")
		case edit.Number == nil:
			return nil
		}
		if _, err := tx.Exec(ctx, `DELETE FROM contact_identity
			WHERE contact_id = $1 AND company_id = $2 AND kind = 'claimed'`, id, companyID); err != nil {
			return err
		}
		if *edit.Number == "" {
			return nil
		}
		claim := identity.Identity{Kind: identity.Claimed, Scope: id, Key: identity.Number(*edit.Number)}
		if err := addIdentity(ctx, tx, companyID, id, claim); err != nil {
			return err
		}
		return spread(ctx, tx, companyID, id)
	})
	if err != nil {
		return nil, db.Wrap(err, "write contact")
	}
	return s.ContactOf(ctx, companyID, id)
}

// OfContact returns at most `most` conversations of a company's contact except one, newest first.
func (s *Store) OfContact(ctx context.Context, companyID, contactID, except string, most int) ([]*Conversation, error) {
	return db.Collect(ctx, s.d, "conversations", scan, "SELECT "+columns+` FROM conversation
		WHERE contact_id = $1 AND company_id = $2 AND id <> $3 ORDER BY opened_at DESC LIMIT $4`, contactID, companyID, except, most)
}

// OfPerson returns the newest conversation over a messaging channel of the contact with an identity; nil if there is
// none.
func (s *Store) OfPerson(ctx context.Context, companyID string, x identity.Identity) (*Conversation, error) {
	return db.Find(ctx, s.d, "conversation", scan,
		"SELECT "+columns+` FROM conversation WHERE company_id = $1 AND channel = 'whatsapp' AND contact_id = (
		SELECT contact_id FROM contact_identity WHERE company_id = $1 AND value = $2 AND kind = $3 AND scope = $4)
		ORDER BY opened_at DESC LIMIT 1`,
		companyID, x.Key.String(), string(x.Kind), x.Scope)
}

// OfUser returns the newest conversation over a messaging channel of the contact with a channel's id, as any of the company's
// senders sees it; nil if there is none. The index of the company is avoided: it leads to all of its conversations.
func (s *Store) OfUser(ctx context.Context, companyID string, user identity.Key) (*Conversation, error) {
	return db.Find(ctx, s.d, "conversation", scan,
		"SELECT "+columns+` FROM conversation WHERE company_id || '' = $1 AND channel = 'whatsapp' AND contact_id IN (
		SELECT contact_id FROM contact_identity WHERE company_id = $1 AND value = $2 AND kind = $3)
		ORDER BY opened_at DESC LIMIT 1`, companyID, user.String(), string(identity.Person))
}

// Alive records the time when a contact was last connected.
func (s *Contacts) Alive(ctx context.Context, companyID, contactID string, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE contact SET seen_at = $1 WHERE id = $2 AND company_id = $3 AND seen_at < $1", db.Millis(now),
		contactID, companyID)
	return db.Wrap(err, "write contact")
}
