package chats

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/messages"
)

// MessageID returns the public id of a turn of a conversation over a messaging channel: `<conversation>.<seq>`.
func MessageID(conversationID string, seq int64) string {
	return conversationID + "." + strconv.FormatInt(seq, 10)
}

// ParseMessageID parses an id that MessageID returned.
func ParseMessageID(id string) (conversationID string, seq int64, ok bool) {
	conversationID, n, _ := strings.Cut(id, ".")
	seq, err := strconv.ParseInt(n, 10, 64)
	ok = err == nil && seq > 0 && carillon.ValidUUID(conversationID) && n == strconv.FormatInt(seq, 10)
	return strings.ToLower(conversationID), seq, ok
}

// Posted is an application's message, stored with its turn.
type Posted struct {
	KeyID   string
	Content string // JSON, defined by the caller
	// Claim is the idempotency key of the request; nil for none.
	Claim *Claim
}

// Claim is an idempotency key that is stored with a change.
type Claim struct {
	Route, Key, Hash string
	// Answer returns the response for the appended turns. Repeats get it too.
	Answer    func(turns []Turn) string
	Now       time.Time
	ExpiresAt time.Time

	// Replay is the response to an earlier request with the key; then nothing was stored.
	Replay string

	id string // of the change in the table
}

// claimKeys inserts the idempotency keys of changes, in a fixed order. A change whose key exists gets the stored response or
// an error. The conversations are locked before, and no other operation uses keys of these routes.
func claimKeys(ctx context.Context, tx *db.Tx, changes []*Change) error {
	for _, c := range claiming(changes) {
		k := c.Posted.Claim
		k.Replay, k.id = "", c.ClientID
		n, err := tx.Exec(ctx, `INSERT INTO idempotency (company_id, route, key, hash, notification_id, answer, expires_at)
			VALUES ($1, $2, $3, $4, $5, '', $6) ON CONFLICT (company_id, route, key) DO UPDATE SET hash = excluded.hash,
			notification_id = excluded.notification_id, answer = '', expires_at = excluded.expires_at
			WHERE idempotency.expires_at <= $7`,
			c.CompanyID, k.Route, k.Key, k.Hash, k.id, db.Millis(k.ExpiresAt), db.Millis(k.Now))
		if err != nil {
			return db.Wrap(err, "claim an idempotency key")
		}
		if n > 0 {
			continue
		}
		var hash string
		if err := tx.Row(ctx, []any{&hash, &k.Replay},
			"SELECT hash, answer FROM idempotency WHERE company_id = $1 AND route = $2 AND key = $3",
			c.CompanyID, k.Route, k.Key); err != nil {
			return db.Wrap(err, "read an idempotency key")
		}
		if hash != k.Hash || k.Replay == "" {
			k.Replay, c.refused = "", messages.KeyReused()
		}
	}
	return nil
}

// claiming returns the changes with an idempotency key, sorted by it.
func claiming(changes []*Change) []*Change {
	var all []*Change
	for _, c := range changes {
		if c.Posted != nil && c.Posted.Claim != nil {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(a.CompanyID, b.CompanyID), cmp.Compare(a.Posted.Claim.Key, b.Posted.Claim.Key))
	})
	return all
}

// keepAnswers stores the responses for the claimed keys, and drops the keys of refused changes.
func keepAnswers(ctx context.Context, tx *db.Tx, changes []*Change) error {
	for _, c := range claiming(changes) {
		k := c.Posted.Claim
		if k.Replay != "" || c.refused != nil {
			continue
		}
		query, args := "DELETE FROM idempotency WHERE", []any{c.CompanyID, k.Route, k.Key, k.id}
		if c.err == nil && len(c.Turns) > 0 {
			query, args = "UPDATE idempotency SET answer = $5 WHERE", append(args, k.Answer(c.Turns))
		}
		if _, err := tx.Exec(ctx, query+" company_id = $1 AND route = $2 AND key = $3 AND notification_id = $4", args...); err != nil {
			return db.Wrap(err, "store the response for an idempotency key")
		}
	}
	return nil
}

// post adds an application's message to its queued reply.
func post(ctx context.Context, tx *db.Tx, c *Change, seq int64) error {
	_, err := tx.Exec(ctx, "UPDATE reply SET key_id = $1, content = $2 WHERE conversation_id = $3 AND seq = $4 AND company_id = $5",
		c.Posted.KeyID, c.Posted.Content, c.ConversationID, seq, c.CompanyID)
	return db.Wrap(err, "store an application's message")
}

// announce records the event of an application's message that reached a state, if the company has subscribers.
func (s *Replies) announce(ctx context.Context, tx *db.Tx, r *Reply, previous string, at time.Time) error {
	if r.KeyID == "" || !s.followed(ctx, r.CompanyID, events.Notifications) {
		return nil
	}
	m := events.Reply{
		CompanyID: r.CompanyID, ConversationID: r.ConversationID, MessageID: MessageID(r.ConversationID, r.Seq), Number: r.Number,
		Attempt: r.Attempt,
	}
	if err := tx.Row(ctx, []any{&m.SenderID}, "SELECT id FROM sender WHERE uid = $1 AND company_id = $2", r.SenderUID,
		r.CompanyID); db.Ignore(err) != nil {
		return db.Wrap(err, "read sender")
	}
	if err := tx.Row(ctx, []any{&m.UserID}, `SELECT user_id FROM contact WHERE company_id = $1 AND id = (
		SELECT contact_id FROM conversation WHERE id = $2 AND company_id = $1)`, r.CompanyID, r.ConversationID); db.Ignore(err) != nil {
		return db.Wrap(err, "read contact")
	}
	events.Record(tx, m.Reached(PublicState(r.State), PublicState(previous), carillon.Reason(r.Reason), at))
	return nil
}

// PublicState returns the state of a reply as applications see it: one with an unknown outcome has failed, and its reason
// says so.
func PublicState(state string) carillon.State {
	if state == "unknown" {
		return carillon.StateFailed
	}
	return carillon.State(state)
}

// Posted returns an application's message of a company, and when it was accepted. Errors: not_found.
func (s *Replies) Posted(ctx context.Context, companyID, conversationID string, seq int64) (*Reply, time.Time, error) {
	var at int64
	r, err := db.Find(ctx, s.d, "message", func(scan db.Scan) (*Reply, error) {
		return scanReply(func(dest ...any) error { return scan(append(dest, &at)...) })
	}, "SELECT "+replyColumns+`, (SELECT at FROM turn WHERE turn.conversation_id = reply.conversation_id AND turn.seq = reply.seq)
		FROM reply WHERE conversation_id = $1 AND company_id = $2 AND seq = $3 AND key_id <> ''`, conversationID, companyID, seq)
	if err == nil && r == nil {
		err = carillon.Absent("Message")
	}
	return r, db.Instant(at), err
}
