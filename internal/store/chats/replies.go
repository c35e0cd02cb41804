package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Inbound is a message that came in and is not a turn yet.
type Inbound struct {
	SenderUID  int64
	ProviderID string
	CompanyID  string
	Person     string // who wrote it: their messages are taken in one after the other
	Content    string // JSON, of the caller
	Tries      int
	ReceivedAt time.Time
}

// Window is until when a conversation may be replied to, and how.
type Window struct {
	CompanyID      string
	ConversationID string
	SenderUID      int64
	Number         string // "": the channel did not say it
	UserID         string // the channel's id of the person; "": none is known
	LastID         string // the provider's id of the person's last message
	Until          time.Time
}

// Reply is a turn of the company that is sent to the person.
type Reply struct {
	CompanyID      string
	ConversationID string
	Seq            int64
	SenderUID      int64
	Number         string
	State          string // queued, sending, sent, delivered, read, failed or unknown
	Attempt        int
	ProviderID     string
	Reason, Detail string
	Due            time.Time
	ChangedAt      time.Time
}

// Store reads and writes the tables. Its methods are safe for concurrent use.
type Replies struct{ d *db.DB }

// New returns the store of a database.
func NewReplies(d *db.DB) *Replies { return &Replies{d} }

// Receive stores messages that came in. One that was stored before, by its sender and provider's id, is left as it is. It returns how
// many are new.
func (s *Replies) Receive(ctx context.Context, all []Inbound) (n int, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		for _, m := range all {
			made, err :=
				tx.Exec(ctx, `INSERT INTO inbound_message (sender_uid, provider_id, company_id, number, content, due_at, received_at)
				VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (sender_uid, provider_id) DO NOTHING`,
					m.SenderUID, m.ProviderID, m.CompanyID, m.Person, m.Content, db.Millis(m.ReceivedAt))
			if err != nil {
				return err
			}
			n += int(made)
		}
		return nil
	})
	return n, db.Wrap(err, "store inbound messages")
}

// Waiting returns messages of any company but those of `without` that are due at an instant, in the order in which they came, at most
// `most`. A message waits for those of the same person that came before it.
func (s *Replies) Waiting(ctx context.Context, now time.Time, most int, without []string) ([]*Inbound, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "inbound messages", func(scan db.Scan) (*Inbound, error) {
		var m Inbound
		var received int64
		err := scan(&m.SenderUID, &m.ProviderID, &m.CompanyID, &m.Person, &m.Content, &m.Tries, &received)
		m.ReceivedAt = db.Instant(received)
		return &m, err
	}, `SELECT sender_uid, provider_id, company_id, number, content, tries, received_at FROM inbound_message
		WHERE due_at > 0 AND due_at <= $1 AND NOT EXISTS (SELECT 1 FROM inbound_message AS e WHERE e.sender_uid = inbound_message.sender_uid
			AND e.number = inbound_message.number AND e.due_at > 0 AND e.received_at < inbound_message.received_at)`+others+`
		ORDER BY due_at, received_at LIMIT $2`, args...)
}

// Claim reserves a message that waits for a node until an instant. Of those who claim it at once, on any nodes, one gets true.
func (s *Replies) Claim(ctx context.Context, m *Inbound, node string, now, until time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE inbound_message SET due_at = $1, tries = tries + 1, node = $6
		WHERE sender_uid = $2 AND provider_id = $3 AND company_id = $4 AND due_at > 0 AND due_at <= $5`,
		db.Millis(until), m.SenderUID, m.ProviderID, m.CompanyID, db.Millis(now), node)
	return n > 0, db.Wrap(err, "claim inbound message")
}

// Release has a message that was claimed until an instant wait until another one, unless somebody else has claimed it since.
func (s *Replies) Release(ctx context.Context, m *Inbound, claimed, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE inbound_message SET due_at = $1, node = ''
		WHERE sender_uid = $2 AND provider_id = $3 AND company_id = $4 AND due_at = $5`,
		db.Millis(due), m.SenderUID, m.ProviderID, m.CompanyID, db.Millis(claimed))
	return db.Wrap(err, "release inbound message")
}

// Recover has the messages that are claimed wait no longer, nor replies for the outcome of their attempts: the nodes that were at it are no
// more. alone says that nobody else has this database, so that all of them are.
func (s *Replies) Recover(ctx context.Context, now time.Time, alone bool) error {
	for _, x := range []struct{ table, which string }{{"inbound_message", ""}, {"reply", " AND state = 'sending'"}} {
		if !alone {
			x.which += " AND node <> '' AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.id = " + x.table + ".node)"
		}
		query := "UPDATE " + x.table + " SET due_at = $1, node = '' WHERE due_at > 0 AND due_at > $1" + x.which
		if _, err := s.d.Exec(ctx, query, db.Millis(now)); err != nil {
			return db.Wrap(err, "recover messages")
		}
	}
	return nil
}

// Done records that a message needs no more work. Its content is dropped.
func (s *Replies) Done(ctx context.Context, m *Inbound) error {
	_, err := s.d.Exec(ctx, "UPDATE inbound_message SET due_at = 0, content = '' WHERE sender_uid = $1 AND provider_id = $2 AND "+
		"company_id = $3",
		m.SenderUID, m.ProviderID, m.CompanyID)
	return db.Wrap(err, "finish inbound message")
}

// SetWindow opens a window, or moves it on; never back.
func (s *Replies) SetWindow(ctx context.Context, w *Window) error {
	_, err := s.d.Exec(ctx, `INSERT INTO reply_window (conversation_id, company_id, sender_uid, number, last_id, until_at, user_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (conversation_id) DO UPDATE SET sender_uid = excluded.sender_uid, number = excluded.number, last_id = excluded.last_id,
			until_at = excluded.until_at, user_id = excluded.user_id WHERE reply_window.until_at <= excluded.until_at`,
		w.ConversationID, w.CompanyID, w.SenderUID, w.Number, w.LastID, db.Millis(w.Until), w.UserID)
	return db.Wrap(err, "set window")
}

// Window returns the window of a conversation of a company; nil: it has none.
func (s *Replies) Window(ctx context.Context, companyID, conversationID string) (*Window, error) {
	return db.Find(ctx, s.d, "window", func(scan db.Scan) (*Window, error) {
		var w Window
		var until int64
		err := scan(&w.ConversationID, &w.CompanyID, &w.SenderUID, &w.Number, &w.LastID, &until, &w.UserID)
		w.Until = db.Instant(until)
		return &w, err
	}, `SELECT conversation_id, company_id, sender_uid, number, last_id, until_at, user_id FROM reply_window
		WHERE conversation_id = $1 AND company_id = $2`, conversationID, companyID)
}

const replyColumns = "company_id, conversation_id, seq, sender_uid, number, state, attempt, provider_id, reason, detail, due_at, changed_at"

func scanReply(scan db.Scan) (*Reply, error) {
	var r Reply
	var due, changed int64
	err := scan(&r.CompanyID, &r.ConversationID, &r.Seq, &r.SenderUID, &r.Number, &r.State, &r.Attempt, &r.ProviderID, &r.Reason,
		&r.Detail, &due, &changed)
	r.Due, r.ChangedAt = db.Instant(due), db.Instant(changed)
	return &r, err
}

// Replies returns the replies of a conversation of a company whose seq is from `from` to `to`, in order.
func (s *Replies) Replies(ctx context.Context, companyID, conversationID string, from, to int64) ([]*Reply, error) {
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+` FROM reply
		WHERE conversation_id = $1 AND company_id = $2 AND seq >= $3 AND seq <= $4 ORDER BY seq`, conversationID, companyID, from, to)
}

// SeqOf returns the turn that a provider knows as one of its messages; 0: none of the conversation's replies is.
func (s *Replies) SeqOf(ctx context.Context, companyID, conversationID, providerID string) (seq int64, err error) {
	if providerID == "" {
		return 0, nil
	}
	err = s.d.Row(ctx, []any{&seq}, "SELECT seq FROM reply WHERE conversation_id = $1 AND company_id = $2 AND provider_id = $3 "+
		"ORDER BY seq DESC LIMIT 1",
		conversationID, companyID, providerID)
	return seq, db.Wrap(db.Ignore(err), "find reply")
}

// DueReplies returns replies of any company but those of `without` that are due at an instant, the longest first, at most `most`.
func (s *Replies) DueReplies(ctx context.Context, now time.Time, most int, without []string) ([]*Reply, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+" FROM reply WHERE due_at > 0 AND due_at <= $1"+others+
		" ORDER BY due_at LIMIT $2", args...)
}

// Begin records that a reply is being sent by a node; until then nobody else looks at it. Of those who begin it at once one gets true.
func (s *Replies) Begin(ctx context.Context, r *Reply, node string, now, until time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE reply SET state = 'sending', attempt = attempt + 1, due_at = $1, changed_at = $2, node = $6
		WHERE conversation_id = $3 AND seq = $4 AND company_id = $5 AND state = 'queued' AND due_at > 0 AND due_at <= $2`,
		db.Millis(until), db.Millis(now), r.ConversationID, r.Seq, r.CompanyID, node)
	return n > 0, db.Wrap(err, "begin reply")
}

// Unheard records that the attempt to send a reply has ended without a response.
func (s *Replies) Unheard(ctx context.Context, r *Reply) error {
	_, err := s.d.Exec(ctx, "UPDATE reply SET node = '' WHERE conversation_id = $1 AND seq = $2 AND company_id = $3 AND state = 'sending'",
		r.ConversationID, r.Seq, r.CompanyID)
	return db.Wrap(err, "record an attempt without a response")
}

// Passed has the reply of a conversation whose outcome is awaited wait no longer, since the person has written after it was begun: unless a
// node is still at it. It reports whether there is one.
func (s *Replies) Passed(ctx context.Context, companyID, conversationID string, written, now time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE reply SET due_at = $1, node = ''
		WHERE conversation_id = $2 AND company_id = $3 AND state = 'sending' AND changed_at <= $4
		AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.id = reply.node)`, db.Millis(now), conversationID, companyID, db.Millis(written))
	return n > 0, db.Wrap(err, "pass a reply whose outcome is awaited")
}

// Unproven returns replies of a conversation that may have arrived: the provider's id of them is not known. The newest come first.
func (s *Replies) Unproven(ctx context.Context, companyID, conversationID string, most int) ([]*Reply, error) {
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+` FROM reply WHERE conversation_id = $1 AND company_id = $2
		AND state IN ('sending', 'unknown') AND provider_id = '' ORDER BY seq DESC LIMIT $3`, conversationID, companyID, most)
}

// Again puts a reply that was not sent back, for a later attempt.
func (s *Replies) Again(ctx context.Context, r *Reply, detail string, now, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE reply SET state = 'queued', detail = $1, due_at = $2, changed_at = $3
		WHERE conversation_id = $4 AND seq = $5 AND company_id = $6 AND state = 'sending'`, detail, db.Millis(due), db.Millis(now),
		r.ConversationID, r.Seq, r.CompanyID)
	return db.Wrap(err, "put back reply")
}

// Finish records how the sending of a reply ended, and has the next one of its conversation sent. risen is false where a receipt has
// come before, with as much or more: then the state stays.
func (s *Replies) Finish(ctx context.Context, r *Reply, now time.Time) (risen bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx, r.CompanyID, r.ConversationID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE reply SET state = $1, provider_id = CASE WHEN $2 = '' THEN provider_id ELSE $2 END, reason = $3, detail = $4,
			due_at = 0, changed_at = $5 WHERE conversation_id = $6 AND seq = $7 AND company_id = $8 AND state IN ('queued', 'sending')`,
			r.State, r.ProviderID, r.Reason, r.Detail, db.Millis(now), r.ConversationID, r.Seq, r.CompanyID)
		if err != nil {
			return err
		}
		if risen = n > 0; !risen {
			if _, err := tx.Exec(ctx, "UPDATE reply SET provider_id = $1 WHERE conversation_id = $2 AND seq = $3 AND company_id = "+
				"$4 AND provider_id = ''",
				r.ProviderID, r.ConversationID, r.Seq, r.CompanyID); err != nil {
				return err
			}
		}
		return wakeNext(ctx, tx, r.CompanyID, r.ConversationID, now)
	})
	return risen, db.Wrap(err, "finish reply")
}

// wakeNext has the first reply of a conversation that waits sent, where none is being sent.
func wakeNext(ctx context.Context, tx *db.Tx, companyID, conversationID string, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE reply SET due_at = $1 WHERE conversation_id = $2 AND company_id = $3 AND state = 'queued' AND due_at = 0
		AND seq = (SELECT MIN(seq) FROM reply WHERE conversation_id = $2 AND state IN ('queued', 'sending'))`, db.Millis(now),
		conversationID, companyID)
	return err
}

// receiptFollows is what a receipt may follow on: states only rise, and a late failure says less than a delivery.
const receiptFollows = `CASE $1 WHEN 'sent' THEN state IN ('queued', 'sending',
	'unknown') WHEN 'delivered' THEN state NOT IN ('delivered', 'read')
	WHEN 'read' THEN state <> 'read' ELSE state NOT IN ('delivered', 'read', 'failed') END`

// Receipt records a provider's later report on a reply of a sender's conversation: sent, delivered, read or failed. risen is false where
// the reply is no such one of the sender, or the report says nothing new.
func (s *Replies) Receipt(ctx context.Context, senderUID int64, r *Reply, now time.Time) (risen bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		risen = false
		var company string
		if err := tx.Row(ctx, []any{&company},
			"SELECT company_id FROM reply WHERE conversation_id = $1 AND seq = $2 AND sender_uid = $3", r.ConversationID, r.Seq,
			senderUID); err != nil {
			return db.Ignore(err)
		}
		if err := lock(ctx, tx, company, r.ConversationID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE reply SET state = $1, provider_id = CASE WHEN $2 = '' THEN provider_id ELSE $2 END, reason = $3, detail = $4,
			due_at = 0, changed_at = $5 WHERE conversation_id = $6 AND seq = $7 AND `+receiptFollows,
			r.State, r.ProviderID, r.Reason, r.Detail, db.Millis(now), r.ConversationID, r.Seq)
		if err != nil {
			return err
		}
		risen = n > 0
		return wakeNext(ctx, tx, company, r.ConversationID, now)
	})
	return risen, db.Wrap(err, "store receipt of a reply")
}
