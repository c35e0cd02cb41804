package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Inbound is a received message that is not a turn yet.
type Inbound struct {
	SenderUID  int64
	ProviderID string
	CompanyID  string
	Person     string // author, whose messages are processed in order
	Content    string // JSON, defined by the caller
	Tries      int
	ReceivedAt time.Time
}

// Window is the period in which a conversation may be answered, and the address.
type Window struct {
	CompanyID      string
	ConversationID string
	SenderUID      int64
	Number         string // empty if the channel did not report it
	UserID         string // the channel's id of the person; empty if unknown
	LastID         string // provider's id of the person's last message
	Until          time.Time
}

// Reply is a turn of the company that is sent to the contact.
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

	// For an application's message: its access key, and the message as JSON.
	KeyID, Content string
	// When it reached these states; zero if it did not.
	SentAt, DeliveredAt, ReadAt time.Time
}

// Store reads and writes the tables. Its methods are safe for concurrent use.
type Replies struct {
	d *db.DB
	// followed reports whether events of a company's topic are written.
	followed func(ctx context.Context, companyID, topic string) bool
}

// NewReplies returns the store of a database.
func NewReplies(d *db.DB, followed func(ctx context.Context, companyID, topic string) bool) *Replies {
	return &Replies{d, followed}
}

// Receive stores received messages and returns the number of new ones. A message stored before, by sender and
// provider's id, is left unchanged.
func (s *Replies) Receive(ctx context.Context, all []Inbound) (n int, err error) {
	if err := s.d.Health.Confirms(); err != nil {
		return 0, err
	}
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		for _, m := range all {
			made, err := tx.Exec(ctx, `INSERT INTO inbound_message
				(sender_uid, provider_id, company_id, number, content, due_at, received_at)
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

// Waiting returns at most `most` due messages of any company except those in `without`, in order of arrival. A message
// waits for earlier ones of the same person.
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
			AND e.number = inbound_message.number AND e.due_at > 0 AND e.received_at < inbound_message.received_at)`+db.Here+others+`
		ORDER BY due_at, received_at LIMIT $2`, args...)
}

// Claim reserves a waiting message for a node until an instant. Of concurrent claims on any nodes, only one returns
// true.
func (s *Replies) Claim(ctx context.Context, m *Inbound, node string, now, until time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE inbound_message SET due_at = $1, tries = tries + 1, node = $6
		WHERE sender_uid = $2 AND provider_id = $3 AND company_id = $4 AND due_at > 0 AND due_at <= $5`+db.Here,
		db.Millis(until), m.SenderUID, m.ProviderID, m.CompanyID, db.Millis(now), node)
	return n > 0, db.Wrap(err, "claim inbound message")
}

// Release makes a message claimed until an instant wait until another one, unless it was claimed again since.
func (s *Replies) Release(ctx context.Context, m *Inbound, claimed, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE inbound_message SET due_at = $1, node = ''
		WHERE sender_uid = $2 AND provider_id = $3 AND company_id = $4 AND due_at = $5`,
		db.Millis(due), m.SenderUID, m.ProviderID, m.CompanyID, db.Millis(claimed))
	return db.Wrap(err, "release inbound message")
}

// Recover makes claimed messages and replies of dead nodes due again. alone means that this process is the only user
// of the database, so all of them are.
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

// Done marks a message as processed, and drops its content.
func (s *Replies) Done(ctx context.Context, m *Inbound) error {
	_, err := s.d.Exec(ctx, "UPDATE inbound_message SET due_at = 0, content = '' WHERE sender_uid = $1 AND provider_id = $2 AND "+
		"company_id = $3",
		m.SenderUID, m.ProviderID, m.CompanyID)
	return db.Wrap(err, "finish inbound message")
}

// SetWindow opens or extends a window; it never shortens one. A zero Until stores the address alone: the window is closed.
func (s *Replies) SetWindow(ctx context.Context, w *Window) error {
	_, err := s.d.Exec(ctx, `INSERT INTO reply_window (conversation_id, company_id, sender_uid, number, last_id, until_at, user_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (conversation_id) DO UPDATE SET sender_uid = excluded.sender_uid, number = excluded.number, last_id = excluded.last_id,
			until_at = excluded.until_at, user_id = excluded.user_id WHERE reply_window.until_at <= excluded.until_at`,
		w.ConversationID, w.CompanyID, w.SenderUID, w.Number, w.LastID, db.Millis(w.Until), w.UserID)
	return db.Wrap(err, "set window")
}

// Window returns the window of a company's conversation; nil if it has none.
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

const replyColumns = `company_id, conversation_id, seq, sender_uid, number, state, attempt, provider_id, reason, detail, due_at, changed_at,
	key_id, content, sent_at, delivered_at, read_at`

func scanReply(scan db.Scan) (*Reply, error) {
	var r Reply
	var due, changed, sent, delivered, read int64
	err := scan(&r.CompanyID, &r.ConversationID, &r.Seq, &r.SenderUID, &r.Number, &r.State, &r.Attempt, &r.ProviderID, &r.Reason,
		&r.Detail, &due, &changed, &r.KeyID, &r.Content, &sent, &delivered, &read)
	r.Due, r.ChangedAt = db.Instant(due), db.Instant(changed)
	r.SentAt, r.DeliveredAt, r.ReadAt = db.Instant(sent), db.Instant(delivered), db.Instant(read)
	return &r, err
}

// Replies returns the replies in a company's conversation with seqs between `from` and `to`, in order.
func (s *Replies) Replies(ctx context.Context, companyID, conversationID string, from, to int64) ([]*Reply, error) {
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+` FROM reply
		WHERE conversation_id = $1 AND company_id = $2 AND seq >= $3 AND seq <= $4 ORDER BY seq`, conversationID, companyID, from, to)
}

// SeqOf returns the seq of the turn with a provider's message id; 0 if there is none in the conversation.
func (s *Replies) SeqOf(ctx context.Context, companyID, conversationID, providerID string) (seq int64, err error) {
	if providerID == "" {
		return 0, nil
	}
	err = s.d.Row(ctx, []any{&seq}, "SELECT seq FROM reply WHERE conversation_id = $1 AND company_id = $2 AND provider_id = $3 "+
		"ORDER BY seq DESC LIMIT 1",
		conversationID, companyID, providerID)
	return seq, db.Wrap(db.Ignore(err), "find reply")
}

// DueReplies returns at most `most` due replies of any company except those in `without`, longest due first.
func (s *Replies) DueReplies(ctx context.Context, now time.Time, most int, without []string) ([]*Reply, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+" FROM reply WHERE due_at > 0 AND due_at <= $1"+
		db.Here+others+
		" ORDER BY due_at LIMIT $2", args...)
}

// Begin records that a node is sending a reply, and until when others leave it alone. Of concurrent callers, only one
// gets true.
func (s *Replies) Begin(ctx context.Context, r *Reply, node string, now, until time.Time) (bool, error) {
	if err := s.d.Health.Confirms(); err != nil {
		return false, err
	}
	n, err := s.d.Exec(ctx, `UPDATE reply SET state = 'sending', attempt = attempt + 1, due_at = $1, changed_at = $2, node = $6
		WHERE conversation_id = $3 AND seq = $4 AND company_id = $5 AND state = 'queued' AND due_at > 0 AND due_at <= $2`+db.Here,
		db.Millis(until), db.Millis(now), r.ConversationID, r.Seq, r.CompanyID, node)
	return n > 0, db.Wrap(err, "begin reply")
}

// Unheard records that the attempt to send a reply ended without a response.
func (s *Replies) Unheard(ctx context.Context, r *Reply) error {
	_, err := s.d.Exec(ctx, "UPDATE reply SET node = '' WHERE conversation_id = $1 AND seq = $2 AND company_id = $3 AND state = 'sending'",
		r.ConversationID, r.Seq, r.CompanyID)
	return db.Wrap(err, "record an attempt without a response")
}

// Passed ends the wait for the outcome of a conversation's reply, because the person wrote after it was begun, unless
// a node is still sending it. It reports whether there was one.
func (s *Replies) Passed(ctx context.Context, companyID, conversationID string, written, now time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE reply SET due_at = $1, node = ''
		WHERE conversation_id = $2 AND company_id = $3 AND state = 'sending' AND changed_at <= $4
		AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.id = reply.node)`, db.Millis(now), conversationID, companyID, db.Millis(written))
	return n > 0, db.Wrap(err, "pass a reply whose outcome is awaited")
}

// Unproven returns replies of a conversation that may have arrived, although their provider's ids are unknown, newest
// first.
func (s *Replies) Unproven(ctx context.Context, companyID, conversationID string, most int) ([]*Reply, error) {
	return db.Collect(ctx, s.d, "replies", scanReply, "SELECT "+replyColumns+` FROM reply WHERE conversation_id = $1 AND company_id = $2
		AND state IN ('sending', 'unknown') AND provider_id = '' ORDER BY seq DESC LIMIT $3`, conversationID, companyID, most)
}

// Again returns an unsent reply to the queue for a later attempt.
func (s *Replies) Again(ctx context.Context, r *Reply, detail string, now, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE reply SET state = 'queued', detail = $1, due_at = $2, changed_at = $3
		WHERE conversation_id = $4 AND seq = $5 AND company_id = $6 AND state = 'sending'`, detail, db.Millis(due), db.Millis(now),
		r.ConversationID, r.Seq, r.CompanyID)
	return db.Wrap(err, "put back reply")
}

// Finish records the outcome of sending a reply, and makes the next one of its conversation due. risen is false if a
// receipt has already reported the same or a higher state, which is kept.
func (s *Replies) Finish(ctx context.Context, r *Reply, now time.Time) (risen bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx, r.CompanyID, r.ConversationID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE reply SET state = $1, provider_id = CASE WHEN $2 = '' THEN provider_id ELSE $2 END, reason = $3, detail = $4,
			due_at = 0, changed_at = $5`+reached+` WHERE conversation_id = $6 AND seq = $7 AND company_id = $8
			AND state IN ('queued', 'sending')`,
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
		} else if err := s.announce(ctx, tx, r, begun(r.Attempt), now); err != nil {
			return err
		}
		return wakeNext(ctx, tx, r.CompanyID, r.ConversationID, now)
	})
	return risen, db.Wrap(err, "finish reply")
}

// begun returns the state of a reply before its outcome.
func begun(attempt int) string {
	if attempt == 0 {
		return "queued"
	}
	return "sending"
}

// reached sets when a reply reached the state $1, at $5. The first time is kept.
const reached = `, sent_at = CASE WHEN $1 = 'sent' AND sent_at = 0 THEN $5 ELSE sent_at END,
	delivered_at = CASE WHEN $1 = 'delivered' AND delivered_at = 0 THEN $5 ELSE delivered_at END,
	read_at = CASE WHEN $1 = 'read' AND read_at = 0 THEN $5 ELSE read_at END`

// wakeNext makes the first waiting reply of a conversation due, if none is being sent.
func wakeNext(ctx context.Context, tx *db.Tx, companyID, conversationID string, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE reply SET due_at = $1 WHERE conversation_id = $2 AND company_id = $3 AND state = 'queued' AND due_at = 0
		AND seq = (SELECT MIN(seq) FROM reply WHERE conversation_id = $2 AND state IN ('queued', 'sending'))`, db.Millis(now),
		conversationID, companyID)
	return err
}

// receiptFollows lists the states that a receipt may replace: states only rise, and a late failure has less weight
// than a delivery.
const receiptFollows = `CASE $1 WHEN 'sent' THEN state IN ('queued', 'sending',
	'unknown') WHEN 'delivered' THEN state NOT IN ('delivered', 'read')
	WHEN 'read' THEN state <> 'read' ELSE state NOT IN ('delivered', 'read', 'failed') END`

// Receipt records a provider's later report on a reply: sent, delivered, read or failed. risen is false if the reply
// is not the sender's or the report has nothing new.
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
		x := Reply{CompanyID: company, ConversationID: r.ConversationID, Seq: r.Seq, SenderUID: senderUID}
		if err := tx.Row(ctx, []any{&x.State, &x.Number, &x.Attempt, &x.KeyID},
			"SELECT state, number, attempt, key_id FROM reply WHERE conversation_id = $1 AND seq = $2 AND company_id = $3",
			r.ConversationID, r.Seq, company); err != nil {
			return db.Ignore(err)
		}
		n, err := tx.Exec(ctx,
			`UPDATE reply SET state = $1, provider_id = CASE WHEN $2 = '' THEN provider_id ELSE $2 END, reason = $3, detail = $4,
			due_at = 0, changed_at = $5`+reached+` WHERE conversation_id = $6 AND seq = $7 AND `+receiptFollows,
			r.State, r.ProviderID, r.Reason, r.Detail, db.Millis(now), r.ConversationID, r.Seq)
		if err != nil {
			return err
		}
		if risen = n > 0; risen {
			previous := x.State
			x.State, x.Reason = r.State, r.Reason
			if err := s.announce(ctx, tx, &x, previous, now); err != nil {
				return err
			}
		}
		return wakeNext(ctx, tx, company, r.ConversationID, now)
	})
	return risen, db.Wrap(err, "store receipt of a reply")
}
