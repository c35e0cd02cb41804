package messages

import (
	"context"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// Opening is the first recipient of a notification.
type Opening struct {
	Number string
	Reason carillon.Reason
}

// Openings reads the first message of each notification of a page; calls have none.
func (s *Messages) Openings(ctx context.Context, seqs ...carillon.Seq) (map[carillon.Seq]Opening, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	keys := make([]int64, len(seqs))
	for i, seq := range seqs {
		keys[i] = int64(seq.Message(0))
	}
	all := make(map[carillon.Seq]Opening, len(seqs))
	err := db.Each(ctx, s.DB, func(scan db.Scan) error {
		var key carillon.MessageKey
		var o Opening
		err := scan(&key, &o.Number, &o.Reason)
		all[key.Seq()] = o
		return err
	}, "SELECT id, number, COALESCE(reason, '') FROM message WHERE id "+s.DB.In(1), s.DB.List(keys))
	return all, db.Wrap(err, "read first recipients")
}

// Of reads those of the notifications that belong to a company, without their bodies, in no particular order.
func (s *Notifications) Of(ctx context.Context, companyID string, ids []string) ([]*Notification, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	seqs, wanted := make([]int64, len(ids)), make(map[string]bool, len(ids))
	for i, id := range ids {
		seqs[i], wanted[id] = int64(carillon.SeqOf(id)), true
	}
	all, err := s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE seq "+s.d.In(1)+" AND company_id = $2",
		s.d.List(seqs), companyID)
	found := all[:0]
	for _, n := range all {
		if wanted[n.ID] { // other ids may share a number
			found = append(found, n)
		}
	}
	return found, err
}

// lookBack is the number of a company's newest notifications that are searched for a provider's id that does not
// identify its message.
const lookBack = 1000

// ByProviderID finds the message with a provider's id among a company's newest notifications; ok is false if there is
// none.
func (s *Messages) ByProviderID(ctx context.Context, companyID, providerID string) (key carillon.MessageKey, ok bool, err error) {
	oldest := carillon.NoSeq
	if err := s.DB.Row(ctx, []any{&oldest}, "SELECT seq FROM notification WHERE company_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET "+
		strconv.Itoa(lookBack-1), companyID); db.Ignore(err) != nil {
		return 0, false, db.Wrap(err, "bound a search")
	}
	// CROSS JOIN keeps SQLite from starting with the messages.
	err = s.DB.Row(ctx, []any{&key}, `SELECT m.id FROM notification n CROSS JOIN message m WHERE n.company_id = $1 AND n.seq >= $2
		AND m.id BETWEEN n.seq * 128 AND n.seq * 128 + 127 AND m.provider_id = $3 LIMIT 1`, companyID, int64(oldest), providerID)
	return key, err == nil, db.Wrap(db.Ignore(err), "find a message")
}

// AddNote adds a note to a company's notification, once, and records the action in the change log unless it is empty.
func (s *Notifications) AddNote(ctx context.Context, companyID, id, note string, done audit.Action) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE notification SET notes = CASE WHEN notes = '' THEN $4 ELSE notes || ' ' || $4 END
			WHERE seq = $1 AND company_id = $2 AND id = $3 AND ' ' || notes || ' ' NOT LIKE '% ' || $4 || ' %'`,
			int64(carillon.SeqOf(id)), companyID, id, note)
		if err != nil || n == 0 || done == "" {
			return db.Wrap(err, "note on a notification")
		}
		return audit.Record(ctx, tx, time.Now(), audit.Entry{
			CompanyID: companyID, Kind: audit.Notification, ID: id, Action: done, After: map[string]string{"note": note},
		})
	})
}

// DropNote removes a note from a company's notification.
func (s *Notifications) DropNote(ctx context.Context, companyID, id, note string) error {
	_, err := s.d.Exec(ctx, `UPDATE notification SET notes = TRIM(REPLACE(' ' || notes || ' ', ' ' || $4 || ' ', ' '))
		WHERE seq = $1 AND company_id = $2 AND id = $3 AND ' ' || notes || ' ' LIKE '% ' || $4 || ' %'`, int64(carillon.SeqOf(id)),
		companyID, id, note)
	return db.Wrap(err, "remove a note of a notification")
}

// ListAll reads all messages of a page of notifications, by notification, in order.
func (s *Messages) ListAll(ctx context.Context, seqs []carillon.Seq) (map[carillon.Seq][]Message, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	all := make(map[carillon.Seq][]Message, len(seqs))
	// CROSS JOIN keeps SQLite from starting with the messages.
	err := db.Each(ctx, s.DB, func(scan db.Scan) error {
		key, m, err := scanMessage(scan)
		all[key.Seq()] = append(all[key.Seq()], m)
		return err
	}, "WITH page (seq) AS (SELECT CAST(value AS BIGINT) FROM "+s.DB.Elements(1)+") SELECT "+messageColumns+`
		FROM page CROSS JOIN message WHERE id BETWEEN seq * 128 AND seq * 128 + 127 ORDER BY id`, db.JSON(seqs))
	return all, db.Wrap(err, "read recipients")
}
