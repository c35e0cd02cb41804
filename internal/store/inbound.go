package store

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// DropInbound deletes messages that people wrote to senders before an instant and that wait for nothing, at most `most` of them. Until
// then a repetition of one is known.
func (s *Store) DropInbound(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM inbound_message WHERE (sender_uid, provider_id) IN (
			SELECT sender_uid, provider_id FROM inbound_message WHERE received_at < $1 AND due_at = 0 ORDER BY received_at LIMIT $2)`, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete inbound messages")
}

// DropPhones deletes what phones of the sandbox keep that has not changed since an instant, at most `most` of them.
func (s *Store) DropPhones(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM sandbox_phone WHERE (sender_uid, number) IN (
			SELECT sender_uid, number FROM sandbox_phone WHERE changed_at < $1 ORDER BY changed_at LIMIT $2)`, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete phones")
}
