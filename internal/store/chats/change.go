package chats

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// InboxTopic is the company's topic for its teammates: turns and state changes of all conversations.
const InboxTopic = events.Inbox

// previewLength bounds the characters of the newest turn that a list shows.
const previewLength = 160

// Change is an operation on one conversation. It happens completely or not at all.
type Change struct {
	CompanyID, ConversationID string
	// ClientID is the client id of the turn to append; empty if it has none. If the conversation already has such a
	// turn, nothing changes and Repeated is that turn.
	ClientID string
	// Edit gets the current conversation, changes it, and returns the turns to append. Its error refuses the change.
	// It has no other effects, because it runs again if the transaction is repeated.
	Edit func(c *Conversation) ([]Turn, error)

	// Mail queues the teammate's turns for an e-mail to the contact, if the contact has an address.
	Mail bool

	// Spoken records how a turn was said; nil for none. A Change has either Spoken or Edit.
	Spoken *Spoken
	// Run is a new state of the conversation's flow run, stored with the turns; nil for none. If the run was written
	// meanwhile, the change fails with ErrOvertaken. A change without Run that takes the conversation from the agent
	// stops the run.
	Run *RunWrite
	// Result is counted if turns are appended; nil for none.
	Result *Result
	// Score is set on a turn, together with the turns of Edit; nil for none. Nothing changes if the turn has it already.
	Score *Score

	// Posted is an application's message; nil for none. If its Claim has a Replay, nothing else changes.
	Posted *Posted

	// Review is stored in place of an earlier one; nil for none.
	Review *Review

	// The results. Turns are the appended turns.
	Conversation *Conversation
	Turns        []Turn
	Repeated     *Turn
	Ran          *Run // as stored

	before  *Conversation
	changed bool
	refused error // for its idempotency key
	err     error
}

// ErrOvertaken means that the conversation's run has changed since it was read.
var ErrOvertaken = errors.New("the flow run was written meanwhile")

// Spoken describes how a turn was said aloud.
type Spoken struct {
	Seq   int64
	Voice Voice
}

// Do stores a change, even if the caller's context ends. Errors: not_found, and those of Edit.
func (s *Store) Do(ctx context.Context, c *Change) error {
	if err := s.changes.Commit(ctx, s.d, c); err != nil {
		return err
	}
	return c.err
}

// changing holds the changes of one transaction: their results, and the rows to write.
type changing struct {
	rows     map[string]*changedRow // by conversation
	repeated map[turnKey]*Turn
	turns    *db.Bulk
	runs     *LockedRuns

	scores    map[scoredKey]*Turn
	scoredNow []scoredKey
	answered  answered
}

// changedRow is a conversation as stored, and after the changes so far.
type changedRow struct{ stored, have *Conversation }

type turnKey struct{ conversationID, clientID string }

// apply runs changes in order of arrival at their conversation. Each sees the result of the previous one.
func (s *Store) apply(ctx context.Context, tx *db.Tx, changes []*Change, _ bool) error {
	slices.SortStableFunc(changes, func(a, b *Change) int { return strings.Compare(a.ConversationID, b.ConversationID) })
	x := &changing{turns: turnRows()}
	var err error
	if x.rows, err = lockRows(ctx, tx, changes); err != nil {
		return err
	}
	if x.repeated, err = findRepeated(ctx, tx, changes); err != nil {
		return err
	}
	if x.scores, err = findScored(ctx, tx, changes); err != nil {
		return err
	}
	if x.runs, err = LockRuns(ctx, tx, withRuns(changes)); err != nil {
		return err
	}
	for _, c := range changes {
		c.refused = nil
	}
	if err := claimKeys(ctx, tx, changes); err != nil {
		return err
	}
	for _, c := range changes {
		x.apply(c)
	}
	if err := keepAnswers(ctx, tx, changes); err != nil {
		return err
	}
	if err := x.turns.Write(ctx, tx); err != nil {
		return err
	}
	if err := x.runs.Write(ctx, tx); err != nil {
		return err
	}
	if err := x.queueReplies(ctx, tx, changes); err != nil {
		return err
	}
	if err := x.update(ctx, tx); err != nil {
		return err
	}
	if err := x.writeHandoffs(ctx, tx); err != nil {
		return err
	}
	if err := x.writeAnswers(ctx, tx); err != nil {
		return err
	}
	if err := writeReviews(ctx, tx, changes); err != nil {
		return err
	}
	for _, c := range changes {
		if c.Spoken != nil && c.err == nil {
			if err := setSpoken(ctx, tx, c.ConversationID, c.Spoken); err != nil {
				return err
			}
		}
	}
	for _, c := range changes {
		if len(c.Turns) > 0 || c.changed {
			s.record(ctx, tx, c.Conversation, c.Turns, c.Review)
			if err := s.recordOutward(ctx, tx, c.before, c.Conversation, c.Turns, c.Review); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockRows reads the conversations of changes and, on PostgreSQL, locks them in a fixed order.
func lockRows(ctx context.Context, tx *db.Tx, changes []*Change) (map[string]*changedRow, error) {
	var ids, companies []string
	for _, c := range changes {
		ids, companies = append(ids, c.ConversationID), append(companies, c.CompanyID)
	}
	ids = slices.Compact(ids)
	slices.Sort(companies)
	companies = slices.Compact(companies)
	lock := ""
	if !tx.SQLite() {
		lock = " ORDER BY id FOR UPDATE"
	}
	d := tx.DB()
	found, err := db.Collect(ctx, tx, "conversations", scan,
		"SELECT "+columns+" FROM conversation WHERE id "+d.In(1)+" AND company_id "+d.In(2)+lock,
		d.List(ids), d.List(companies))
	rows := make(map[string]*changedRow, len(found))
	for _, c := range found {
		rows[c.ID] = &changedRow{c, c}
	}
	return rows, err
}

// queueReplies queues the company's turns for sending in conversations over a sender.
func (x *changing) queueReplies(ctx context.Context, tx *db.Tx, changes []*Change) error {
	for _, c := range changes {
		if c.err != nil || c.Conversation == nil {
			continue
		}
		if c.Conversation.Channel != "whatsapp" {
			if err := queueMail(ctx, tx, c); err != nil {
				return err
			}
			continue
		}
		for i := range c.Turns {
			t := &c.Turns[i]
			if t.Author != Agent && t.Author != Teammate || t.Note || t.Kind == KindEvent || t.Extra.PhoneApp {
				continue
			}
			if err := Queue(ctx, tx, c.CompanyID, c.ConversationID, t.Seq, t.At); err != nil {
				return err
			}
			if c.Posted != nil {
				if err := post(ctx, tx, c, t.Seq); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// withRuns returns the conversations whose runs are written by changes.
func withRuns(changes []*Change) []string {
	var ids []string
	for _, c := range changes {
		if c.Run != nil {
			ids = append(ids, c.ConversationID)
		}
	}
	return slices.Compact(ids) // the changes are in order
}

// findRepeated reads turns whose client ids are used again by changes.
func findRepeated(ctx context.Context, tx *db.Tx, changes []*Change) (map[turnKey]*Turn, error) {
	found := map[turnKey]*Turn{}
	var keys [][]string
	for _, c := range changes {
		if c.ClientID != "" {
			keys = append(keys, []string{c.ConversationID, c.ClientID})
		}
	}
	if len(keys) == 0 {
		return found, nil
	}
	err := db.Each(ctx, tx, func(row db.Scan) error {
		var conversationID string
		t, err := scanTurn(func(dest ...any) error { return row(append(dest, &conversationID)...) })
		found[turnKey{conversationID, t.ClientID}] = &t
		return err
	}, "SELECT "+turnColumns+`, conversation_id FROM turn WHERE client_id <> '' AND (conversation_id, client_id) IN (
		SELECT value ->> 0, value ->> 1 FROM `+tx.DB().Elements(1)+")", db.JSON(keys))
	return found, db.Wrap(err, "read turns")
}

// apply runs one change on the result of those before it.
func (x *changing) apply(c *Change) {
	c.Conversation, c.Turns, c.Repeated, c.Ran, c.before, c.changed, c.err = nil, nil, nil, nil, nil, false, nil
	row := x.rows[c.ConversationID]
	if row == nil || row.have.CompanyID != c.CompanyID {
		c.err = carillon.Absent("Conversation")
		return
	}
	before := row.have
	have := *before
	have.Tags = slices.Clone(before.Tags)
	c.Conversation, c.before = before, before
	if c.Posted != nil && c.Posted.Claim != nil {
		if c.err = c.refused; c.err != nil || c.Posted.Claim.Replay != "" {
			return
		}
	}
	if c.ClientID != "" {
		if c.Repeated = x.repeated[turnKey{c.ConversationID, c.ClientID}]; c.Repeated != nil {
			return
		}
	}
	if c.Spoken != nil {
		return
	}
	if c.Run != nil && !x.runs.Fits(c.Run) {
		c.err = ErrOvertaken
		return
	}
	if c.Score != nil && !x.scored(c) {
		return
	}
	turns, err := c.Edit(&have)
	if err != nil {
		c.err = err
		return
	}
	switch {
	case c.Run != nil:
		c.Ran = x.runs.Add(c.Run)
	case before.State == Automated && have.State != Automated:
		x.runs.Stop(have.ID, have.StateAt)
	}
	if len(turns) == 0 && same(before, &have) {
		return
	}
	c.Turns, c.Conversation, c.changed, row.have = number(&have, turns), &have, true, &have
	if c.Result != nil && len(c.Turns) > 0 {
		c.Result.leaveOpen(&have)
	}
	have.followHandoff(before, c.Turns)
	scheduleReview(before, &have, c.Turns)
	for i := range c.Turns {
		t := &c.Turns[i]
		addTurn(x.turns, c.ConversationID, t)
		if t.ClientID != "" {
			x.repeated[turnKey{c.ConversationID, t.ClientID}] = t
		}
	}
	x.countAnswers(c)
}

// setSpoken adds to a turn how it was said.
func setSpoken(ctx context.Context, tx *db.Tx, conversationID string, s *Spoken) error {
	t, err := db.Find(ctx, tx, "turn", func(row db.Scan) (*Turn, error) {
		t, err := scanTurn(row)
		return &t, err
	}, "SELECT "+turnColumns+" FROM turn WHERE conversation_id = $1 AND seq = $2", conversationID, s.Seq)
	if err != nil || t == nil {
		return err
	}
	t.Extra.Voice = &s.Voice
	_, err = tx.Exec(ctx, "UPDATE turn SET payload = $1 WHERE conversation_id = $2 AND seq = $3", extraText(&t.Extra),
		conversationID, s.Seq)
	return db.Wrap(err, "record how a turn was said")
}

// update writes the changed conversations.
func (x *changing) update(ctx context.Context, tx *db.Tx) error {
	var changed []*changedRow
	for _, id := range slices.Sorted(maps.Keys(x.rows)) {
		if row := x.rows[id]; row.have != row.stored {
			changed = append(changed, row)
		}
	}
	return updateRows(ctx, tx, changed)
}

// same reports whether a conversation is unchanged.
func same(before, have *Conversation) bool {
	a, b := *before, *have
	a.Tags, b.Tags = nil, nil
	return reflect.DeepEqual(a, b) && slices.Equal(before.Tags, have.Tags)
}

// number assigns seqs to turns, and updates the conversation's fields of the newest turn.
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
			c.LastAt, c.LastAuthor, c.LastText = t.At, t.Author, Preview(shownText(t))
		}
	}
	return turns
}

// shownText returns a list's text of a turn; for a file its name.
func shownText(t *Turn) string {
	if t.Text == "" && t.Extra.File != nil {
		return t.Extra.File.Name
	}
	return t.Text
}

// Preview returns the beginning of a text in one line, as lists show it.
func Preview(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > previewLength {
		return string(runes[:previewLength-1]) + "…"
	}
	return string(runes)
}

func turnRows() *db.Bulk {
	return db.NewBulk("turn", "", "conversation_id:text", "seq:bigint", "author:text", "kind:text", "note:boolean",
		"account_id:text", "client_id:text",
		"at:bigint", "text:text", "payload:text")
}

func addTurn(rows *db.Bulk, conversationID string, t *Turn) {
	rows.Add(conversationID, t.Seq, string(t.Author), t.Kind, t.Note, t.AccountID, t.ClientID, db.Millis(t.At), t.Text, extraText(&t.Extra))
}

// extraText returns the stored form of an Extra; empty if it is empty.
func extraText(x *Extra) string {
	if text := string(jsonOf(x)); text != "{}" {
		return text
	}
	return ""
}

// record publishes changes after the commit: each turn on the conversation's own topic, whose rows are the turns, and
// the conversation on the inbox topic, if anybody follows it.
func (s *Store) record(ctx context.Context, tx *db.Tx, c *Conversation, turns []Turn, review *Review) {
	for i := range turns {
		events.Record(tx, turnEvent(c.CompanyID, c.ID, &turns[i]))
	}
	if !s.followed(ctx, c.CompanyID, InboxTopic) {
		return
	}
	events.Record(tx, &events.Event{
		CompanyID: c.CompanyID, Topic: InboxTopic, Kind: "conversation.updated", Subject: c.ID, At: time.Now(),
		Payload: jsonOf(Update{Version: 1, Conversation: Summarize(c), Turns: Views(turns), Review: review.View()}),
	})
}
