package chats

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/store/events"
)

// InboxTopic is the company's topic of what its teammates see: turns and changes of state of all conversations.
const InboxTopic = events.Inbox

// previewLength is how many characters of the newest turn a list shows.
const previewLength = 160

// Change is an operation on one conversation. All of it happens, or nothing.
type Change struct {
	CompanyID, ConversationID string
	// ClientID is that of the turn which the change appends: where the conversation has such a turn, nothing changes and
	// Repeated is that turn. "": none.
	ClientID string
	// Edit gets the conversation as it is, changes it, and returns the turns to append. Its error refuses the change. It has no
	// other effects: it is called again when the transaction is repeated.
	Edit func(c *Conversation) ([]Turn, error)

	// What was found. Turns are the appended ones.
	Conversation *Conversation
	Turns        []Turn
	Repeated     *Turn

	err error
}

// Do stores a change. A caller that leaves does not undo it. Errors: not_found, and what Edit returned.
func (s *Store) Do(ctx context.Context, c *Change) error {
	if err := s.changes.Commit(ctx, s.d, c); err != nil {
		return err
	}
	return c.err
}

func (s *Store) apply(ctx context.Context, tx *db.Tx, changes []*Change, _ bool) error {
	// Rows are locked in one order, whatever the order of the changes; those of one conversation keep theirs.
	slices.SortStableFunc(changes, func(a, b *Change) int { return strings.Compare(a.ConversationID, b.ConversationID) })
	for _, c := range changes {
		if err := s.applyOne(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}

const lockConversation = "SELECT " + columns + " FROM conversation WHERE id = $1 AND company_id = $2"

func (s *Store) applyOne(ctx context.Context, tx *db.Tx, c *Change) error {
	c.Conversation, c.Turns, c.Repeated, c.err = nil, nil, nil, nil
	query := lockConversation
	if !tx.SQLite() {
		query += " FOR UPDATE"
	}
	have, err := db.Find(ctx, tx, "conversation", scan, query, c.ConversationID, c.CompanyID)
	if err != nil {
		return err
	}
	if have == nil {
		c.err = carillon.Absent("Conversation")
		return nil
	}
	c.Conversation = have
	if c.ClientID != "" {
		turn, err := db.Find(ctx, tx, "turn", func(row db.Scan) (*Turn, error) {
			t, err := scanTurn(row)
			return &t, err
		}, "SELECT "+turnColumns+" FROM turn WHERE conversation_id = $1 AND client_id = $2 AND client_id <> ''", c.ConversationID, c.ClientID)
		if err != nil || turn != nil {
			c.Repeated = turn
			return err
		}
	}
	before := *have
	before.Tags = slices.Clone(have.Tags)
	turns, err := c.Edit(have)
	if err != nil {
		*have = before
		c.err = err
		return nil
	}
	if len(turns) == 0 && same(&before, have) {
		return nil
	}
	c.Turns = number(have, turns)
	if err := insertTurns(ctx, tx, have.ID, c.Turns); err != nil {
		return err
	}
	if err := update(ctx, tx, have); err != nil {
		return err
	}
	s.record(ctx, tx, have, c.Turns)
	return nil
}

// same reports whether a conversation was left as it was.
func same(before, have *Conversation) bool {
	a, b := *before, *have
	a.Tags, b.Tags = nil, nil
	return reflect.DeepEqual(a, b) && slices.Equal(before.Tags, have.Tags)
}

// number gives turns their seq, and has the conversation describe the newest.
func number(c *Conversation, turns []Turn) []Turn {
	for i := range turns {
		t := &turns[i]
		c.LastSeq++
		t.Seq = c.LastSeq
		switch {
		case t.Author == Visitor:
			c.VisitorSeq = t.Seq
			if c.AskedAt.IsZero() {
				c.AskedAt = t.At
			}
		case t.Author != System && !t.Note:
			c.CompanySeq, c.AskedAt = t.Seq, time.Time{}
		}
		if !t.Note && t.Kind != KindEvent {
			c.LastAt, c.LastAuthor, c.LastText = t.At, t.Author, preview(shownText(t))
		}
	}
	return turns
}

// shownText is what a list shows of a turn: of a file its name.
func shownText(t *Turn) string {
	if t.Text == "" && t.Extra.File != nil {
		return t.Extra.File.Name
	}
	return t.Text
}

func preview(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > previewLength {
		return string(runes[:previewLength-1]) + "…"
	}
	return string(runes)
}

func insertTurns(ctx context.Context, tx *db.Tx, id string, turns []Turn) error {
	for _, t := range turns {
		extra, err := json.Marshal(t.Extra)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, `INSERT INTO turn (conversation_id, seq, author, kind, note, account_id, client_id, at, text, payload)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, id, t.Seq, string(t.Author), t.Kind, t.Note, t.AccountID, t.ClientID, db.Millis(t.At),
			t.Text, extraText(extra)); err != nil {
			return db.Wrap(err, "write turn")
		}
	}
	return nil
}

// extraText leaves an empty Extra out of the table.
func extraText(extra []byte) string {
	if string(extra) == "{}" {
		return ""
	}
	return string(extra)
}

func update(ctx context.Context, tx *db.Tx, c *Conversation) error {
	tags, err := json.Marshal(append([]string{}, c.Tags...))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE conversation SET agent_id = $1, state = $2, state_at = $3, assignee = $4, language = $5, page = $6, tags = $7,
		last_seq = $8, last_at = $9, last_author = $10, last_text = $11, visitor_seq = $12, company_seq = $13, read_seq = $14, seen_seq = $15,
		reply_seq = $16, reply_at = $17, rating = $18, comment = $19, resolved_at = $20, asked_at = $21
		WHERE id = $22`,
		c.AgentID, string(c.State), db.Millis(c.StateAt), c.Assignee, c.Language, c.Page, string(tags), c.LastSeq, db.Millis(c.LastAt),
		string(c.LastAuthor), c.LastText, c.VisitorSeq, c.CompanySeq, c.ReadSeq, c.SeenSeq, c.ReplySeq, db.Millis(c.ReplyAt), c.Rating, c.Comment,
		db.Millis(c.ResolvedAt), db.Millis(c.AskedAt), c.ID)
	if db.Duplicate(err) {
		return carillon.InConflict("The contact has another open conversation")
	}
	return db.Wrap(err, "write conversation")
}

// record has what changed passed on after the commit: each turn on the conversation's own topic, whose rows are the turns, and
// the conversation on the topic of the inbox, where somebody follows it.
func (s *Store) record(ctx context.Context, tx *db.Tx, c *Conversation, turns []Turn) {
	for i := range turns {
		events.Record(tx, turnEvent(c.CompanyID, c.ID, &turns[i]))
	}
	if !s.followed(ctx, c.CompanyID, InboxTopic) {
		return
	}
	events.Record(tx, &events.Event{
		CompanyID: c.CompanyID, Topic: InboxTopic, Kind: "conversation.updated", Subject: c.ID, At: time.Now(),
		Payload: jsonOf(Update{Version: 1, Conversation: Summarize(c), Turns: Views(turns)}),
	})
}
