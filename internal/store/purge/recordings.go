package purge

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// recordings deletes the recordings of calls that companies keep for a shorter time than the conversations.
func (p *Purge) recordings(ctx context.Context, now time.Time) (busy bool, err error) {
	for id := ""; ; {
		if id, err = p.rows.Next(ctx, Recordings, id); err != nil || id == "" {
			return false, err
		}
		before, err := p.daysBefore(ctx, id, now, func(c *carillon.Company) int { return c.RecordingDays })
		if err != nil {
			return false, err
		}
		if before.IsZero() {
			continue
		}
		if busy, err := p.steps(ctx, Recordings, func() (Purged, error) {
			return p.rows.DropRecordings(ctx, id, before, p.pace.rows)
		}); busy || err != nil {
			return busy, err
		}
	}
}

// recorded is the recording of a call.
type recorded struct {
	file, conversation string
	size               int64
}

// DropRecordings deletes the recordings of a company that began before an instant, about `most` rows with the oldest
// first. Their calls keep the reason, and the change log each deletion.
func (s *Store) DropRecordings(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	page, err := db.Collect(ctx, s.d, "old recordings", func(scan db.Scan) (r recorded, err error) {
		err = scan(&r.file, &r.conversation, &r.size)
		return r, err
	}, `SELECT id, COALESCE(conversation_id, ''), size FROM file WHERE company_id = $1 AND sent_by = 'call' AND created_at < $2 AND whole
		ORDER BY created_at LIMIT $3`, companyID, db.Millis(before), most)
	if err != nil || len(page) == 0 {
		return Purged{}, err
	}
	more, rows := len(page) == most, 0
	for i, r := range page {
		if rows += 1 + int(r.size/rowBytes); rows > most && i > 0 {
			page, more = page[:i], true
			break
		}
	}
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		p.Rows = 0
		for _, r := range page {
			n, err := tx.Exec(ctx, "DELETE FROM file WHERE id = $1 AND company_id = $2", r.file, companyID)
			if err == nil && n > 0 {
				err = expire(ctx, tx, companyID, r)
			}
			if err != nil {
				return err
			}
			p.Rows += int(n)
		}
		return nil
	})
	p.More = more && p.Rows > 0
	return p, db.Wrap(err, "delete recordings")
}

// expire records at the call of a recording that it was deleted.
func expire(ctx context.Context, tx *db.Tx, companyID string, r recorded) error {
	const forget = ` SET recording = '', no_recording = 'expired' WHERE conversation_id = $1 AND conversation_id <> '' AND recording = $2
		AND company_id = $3 RETURNING id`
	var id string
	err := db.Ignore(tx.Row(ctx, []any{&id}, "UPDATE incoming_call"+forget, r.conversation, r.file, companyID))
	if err != nil {
		return err
	}
	if id == "" {
		var key carillon.MessageKey
		err := db.Ignore(tx.Row(ctx, []any{&key}, "UPDATE call"+forget, r.conversation, r.file, companyID))
		if err != nil || key == 0 { // of an earlier attempt
			return err
		}
		var channel carillon.Channel
		if err := tx.Row(ctx, []any{&id, &channel}, "SELECT id, channel FROM notification WHERE seq = $1", int64(key.Seq())); err != nil {
			return err
		}
		id = provider.CallID(id, channel, key)
	}
	return audit.Record(ctx, tx, time.Now(), audit.Entry{CompanyID: companyID, Kind: audit.Call, ID: id, Action: audit.RecordingGone})
}
