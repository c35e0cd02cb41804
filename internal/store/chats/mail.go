package chats

import (
	"context"
	"slices"
	"time"

	"carillon/internal/store/db"
)

// MailPause is the time between a teammate's reply and its e-mail, in which further replies are added.
const MailPause = time.Minute

// MailReply is a teammate's reply that goes to the contact by e-mail.
type MailReply struct {
	Seq     int64
	State   string // queued, sending, sent, failed, seen
	Batch   int64  // replies of the same batch are one e-mail; 0 before there is one
	Attempt int64
	Reason  string // of a failure
	dueAt   int64
}

// MailReplies are the replies that go to contacts by e-mail. They are queued with the turns (Change.Mail).
type MailReplies struct{ d *db.DB }

// NewMailReplies returns the table of a database.
func NewMailReplies(d *db.DB) *MailReplies { return &MailReplies{d} }

// queueMail queues the teammate's turns of a change for an e-mail.
func queueMail(ctx context.Context, tx *db.Tx, c *Change) error {
	if !c.Mail || c.Conversation.Channel != "web_chat" {
		return nil
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Author != Teammate || t.Note || t.Kind == KindEvent {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO mail_reply (conversation_id, seq, company_id, state, due_at, changed_at)
			SELECT $1, CAST($2 AS BIGINT), company_id, 'queued', CAST($3 AS BIGINT), CAST($4 AS BIGINT) FROM contact
			WHERE id = $5 AND company_id = $6 AND email <> ''`, c.ConversationID, t.Seq, db.Millis(t.At.Add(MailPause)), db.Millis(t.At),
			c.Conversation.ContactID, c.CompanyID); err != nil {
			return db.Wrap(err, "queue an e-mail")
		}
	}
	return nil
}

// MailDue is a conversation with replies that are due.
type MailDue struct{ CompanyID, ConversationID string }

// Due returns conversations of any company with replies that are due, at most `most` replies, oldest first.
func (s *MailReplies) Due(ctx context.Context, now time.Time, most int) ([]MailDue, error) {
	all, err := db.Collect(ctx, s.d, "e-mails", func(scan db.Scan) (x MailDue, err error) {
		err = scan(&x.CompanyID, &x.ConversationID)
		return x, err
	}, `SELECT company_id, conversation_id FROM mail_reply WHERE state IN ('queued', 'sending') AND due_at <= $1`+db.Here+`
		ORDER BY due_at, conversation_id LIMIT $2`, db.Millis(now), most)
	var due []MailDue
	for _, x := range all {
		if !slices.Contains(due, x) {
			due = append(due, x)
		}
	}
	return due, err
}

const mailColumns = "seq, state, batch, attempt, reason, due_at"

func scanMail(scan db.Scan) (m MailReply, err error) {
	err = scan(&m.Seq, &m.State, &m.Batch, &m.Attempt, &m.Reason, &m.dueAt)
	return m, err
}

// Claim returns the due replies of a conversation that make the next e-mail, for this caller until an instant; none if
// another has them. Replies that were in an e-mail before are returned as the same e-mail.
func (s *MailReplies) Claim(ctx context.Context, x MailDue, now, until time.Time) ([]MailReply, error) {
	return db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) ([]MailReply, error) {
		lock := ""
		if !tx.SQLite() {
			lock = " FOR UPDATE"
		}
		open, err := db.Collect(ctx, tx, "e-mails", scanMail, "SELECT "+mailColumns+` FROM mail_reply WHERE conversation_id = $1
			AND company_id = $2 AND state IN ('queued', 'sending')`+db.Here+` ORDER BY seq`+lock, x.ConversationID, x.CompanyID)
		first := slices.IndexFunc(open, func(m MailReply) bool { return m.dueAt <= db.Millis(now) })
		if err != nil || first < 0 {
			return nil, err
		}
		due := open[first]
		batch := slices.DeleteFunc(open, func(m MailReply) bool { return m.Batch != due.Batch })
		number := batch[len(batch)-1].Seq
		if due.Batch > 0 {
			number = due.Batch
		}
		for i := range batch {
			m := &batch[i]
			m.State, m.Batch, m.Attempt = "sending", number, m.Attempt+1
			if _, err := tx.Exec(ctx, `UPDATE mail_reply SET state = 'sending', batch = $1, attempt = attempt + 1, due_at = $2,
				changed_at = $3 WHERE conversation_id = $4 AND seq = $5 AND company_id = $6`, number, db.Millis(until), db.Millis(now),
				x.ConversationID, m.Seq, x.CompanyID); err != nil {
				return nil, db.Wrap(err, "claim an e-mail")
			}
		}
		return batch, nil
	})
}

// Finish records the state of claimed replies after an attempt; due is the time of the next one if they are queued again.
func (s *MailReplies) Finish(ctx context.Context, x MailDue, batch []MailReply, state, reason string, now, due time.Time) error {
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, m := range batch {
			if _, err := tx.Exec(ctx, `UPDATE mail_reply SET state = $1, reason = $2, due_at = $3, changed_at = $4
				WHERE conversation_id = $5 AND seq = $6 AND company_id = $7 AND state = 'sending' AND attempt = $8`, state, reason,
				db.Millis(due), db.Millis(now), x.ConversationID, m.Seq, x.CompanyID, m.Attempt); err != nil {
				return err
			}
		}
		return nil
	}), "finish an e-mail")
}

// Of returns the replies of a company's conversation between two turns.
func (s *MailReplies) Of(ctx context.Context, companyID, conversationID string, from, to int64) ([]MailReply, error) {
	return db.Collect(ctx, s.d, "e-mails", scanMail, "SELECT "+mailColumns+` FROM mail_reply WHERE conversation_id = $1 AND company_id = $2
		AND seq >= $3 AND seq <= $4 ORDER BY seq`, conversationID, companyID, from, to)
}

// Postpone delays the replies of a conversation that are in no e-mail yet.
func (s *MailReplies) Postpone(ctx context.Context, x MailDue, now, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE mail_reply SET due_at = $1, changed_at = $2 WHERE conversation_id = $3 AND company_id = $4
		AND state = 'queued' AND batch = 0`, db.Millis(due), db.Millis(now), x.ConversationID, x.CompanyID)
	return db.Wrap(err, "delay an e-mail")
}

// Seen drops the replies of a conversation up to a turn that are in no e-mail yet: the contact has read them.
func (s *MailReplies) Seen(ctx context.Context, x MailDue, seq int64, now time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE mail_reply SET state = 'seen', changed_at = $1 WHERE conversation_id = $2 AND company_id = $3
		AND seq <= $4 AND state = 'queued' AND batch = 0`, db.Millis(now), x.ConversationID, x.CompanyID, seq)
	return db.Wrap(err, "drop an e-mail")
}
