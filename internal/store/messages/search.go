package messages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// CampaignKey is a campaign's key in the search table: an index has no room for long names.
func CampaignKey(campaign string) string {
	digest := sha256.Sum256([]byte(campaign))
	return hex.EncodeToString(digest[:16])
}

// Horizon returns the number up to which the search table is filled.
func Horizon(ctx context.Context, d *db.DB) (carillon.Seq, error) {
	seq := carillon.NoSeq
	err := d.Row(ctx, []any{&seq}, "SELECT value FROM meta WHERE name = 'search'")
	return seq, db.Wrap(db.Ignore(err), "read search horizon")
}

const (
	searchLag  = 30 * time.Second // ids precede their commits by 12 s at most, and clocks differ a little (docs/adr/0004)
	searchRows = 250              // rows per step; longer steps would delay requests
)

// Fill advances the search table's horizon one step and reports whether there is more to do now.
func (s *Search) Fill(ctx context.Context, now time.Time) (more bool, err error) {
	if importing, err := db.Importing(ctx, s.d, now); importing || err != nil {
		return false, err
	}
	filled, err := Horizon(ctx, s.d)
	if err != nil {
		return false, err
	}
	until := carillon.FirstSeq(now.Add(-searchLag))
	rows, err := s.rowsOf(ctx, nil, searchMessages, int64(filled), int64(until))
	if err == nil {
		rows, err = s.rowsOf(ctx, rows, searchCalls, int64(filled.LastMessage()), int64(until.Message(0)))
	}
	if err != nil {
		return false, fmt.Errorf("read for search: %w", err)
	}
	found, to := searchEntries(rows)
	if len(found) == 0 {
		return false, nil
	}
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := addSearched(ctx, tx, found...); err != nil {
			return err
		}
		return moveHorizon(ctx, tx, to)
	})
	if err != nil && ctx.Err() == nil && !carillon.IsCode(err, carillon.ServiceUnavailable) {
		err = s.addEach(ctx, found, to)
	}
	return err == nil, db.Wrap(err, "fill search")
}

func addSearched(ctx context.Context, tx *db.Tx, all ...searchEntry) error {
	b := db.NewBulk("search", "ON CONFLICT (company_id, field, value, seq) DO NOTHING",
		"company_id:text", "field:text", "value:text", "seq:bigint")
	for _, e := range all {
		b.Add(e.company, e.field, e.value, int64(e.seq))
	}
	return b.Write(ctx, tx)
}

func moveHorizon(ctx context.Context, tx *db.Tx, to carillon.Seq) error {
	_, err := tx.Exec(ctx,
		"INSERT INTO meta (name, value) VALUES ('search', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value", int64(to))
	return err
}

// addEach adds the entries of a step that the database refused as a whole. Entries that are refused individually are
// omitted: one entry must not stop the search of every company.
func (s *Search) addEach(ctx context.Context, all []searchEntry, to carillon.Seq) error {
	for _, e := range all {
		err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return addSearched(ctx, tx, e) })
		switch {
		case err == nil:
		case ctx.Err() != nil || carillon.IsCode(err, carillon.ServiceUnavailable):
			return err
		default:
			if s.unsearchable.Add(1) == 1 { // later ones are counted by the metric
				s.log.WarnContext(ctx, "an entry of the search table is left out", "company", e.company, "field", e.field, "error", err)
			}
		}
	}
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return moveHorizon(ctx, tx, to) })
}

// Unsearchable returns the number of entries missing from the search table because the database refused them.
func (s *Search) Unsearchable() int64 { return s.unsearchable.Load() }

// Lag returns the time for which the oldest notification missing from the search table should have been in it.
func (s *Search) Lag(ctx context.Context, now time.Time) (time.Duration, error) {
	filled, err := Horizon(ctx, s.d)
	if err != nil {
		return 0, err
	}
	var created int64
	err = s.d.Row(ctx, []any{&created}, "SELECT created_at FROM notification WHERE seq > $1 ORDER BY seq LIMIT 1", int64(filled))
	if err != nil || created == 0 {
		return 0, db.Wrap(db.Ignore(err), "read the lag of search")
	}
	return max(0, now.Add(-searchLag).Sub(db.Instant(created))), nil
}

// The rows of a step: messages and calls, each in the order of their notifications.
const (
	searchMessages = `SELECT n.seq, m.number, n.company_id, n.campaign FROM notification n CROSS JOIN message m
		WHERE n.seq > $1 AND n.seq < $2 AND m.id BETWEEN n.seq * 128 AND n.seq * 128 + 127 ORDER BY n.seq LIMIT $3`
	searchCalls = `SELECT n.seq, c.number, n.company_id, n.campaign FROM call c CROSS JOIN notification n
		WHERE c.id > $1 AND c.id < $2 AND n.seq = c.id / 128 ORDER BY c.id LIMIT $3`

	searchMessagesOf = `SELECT n.seq, m.number, n.company_id, n.campaign FROM notification n CROSS JOIN message m
		WHERE n.company_id = $1 AND n.seq > $2 AND m.id BETWEEN n.seq * 128 AND n.seq * 128 + 127 ORDER BY n.seq LIMIT $3`
	searchCallsOf = `SELECT n.seq, c.number, n.company_id, n.campaign FROM call c CROSS JOIN notification n
		WHERE c.company_id = $1 AND c.id > CAST($2 AS BIGINT) * 128 + 127 AND n.seq = c.id / 128 ORDER BY c.id LIMIT $3`
)

type searchRow struct {
	seq                       carillon.Seq
	number, company, campaign string
}

func (s *Search) rowsOf(ctx context.Context, all []searchRow, query string, args ...any) ([]searchRow, error) {
	found, err := db.Collect(ctx, s.d, "rows to search", func(scan db.Scan) (x searchRow, err error) {
		err = scan(&x.seq, &x.number, &x.company, &x.campaign)
		return x, err
	}, query, append(args, searchRows)...)
	return append(all, found...), err
}

type searchEntry struct {
	company, field, value string
	seq                   carillon.Seq
}

// searchEntries returns the sorted entries of a step's rows, and the notification up to which they are complete. A
// full step may have read its last notification only partly: unless it is the only one, it is left to the next step.
func searchEntries(rows []searchRow) (found []searchEntry, to carillon.Seq) {
	slices.SortStableFunc(rows, func(a, b searchRow) int { return cmp.Compare(a.seq, b.seq) })
	rows = rows[:min(len(rows), searchRows)]
	to = carillon.NoSeq
	for _, x := range rows {
		if x.seq != to {
			found = append(found, searchEntry{x.company, "campaign", CampaignKey(x.campaign), x.seq})
		}
		found = append(found, searchEntry{x.company, "number", x.number, x.seq})
		to = x.seq
	}
	if len(rows) == searchRows {
		first := found[0].seq
		if cut := slices.IndexFunc(found, func(e searchEntry) bool { return e.seq == to }); first != to {
			found, to = found[:cut], found[cut-1].seq
		}
	}
	slices.SortFunc(found, func(a, b searchEntry) int {
		return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value),
			cmp.Compare(a.seq, b.seq))
	})
	return slices.Compact(found), to
}

// Complete adds a company's notifications after `from` to the search table, where Fill does not come any more.
func (s *Search) Complete(ctx context.Context, companyID string, from carillon.Seq) error {
	for {
		rows, err := s.rowsOf(ctx, nil, searchMessagesOf, companyID, int64(from))
		if err == nil {
			rows, err = s.rowsOf(ctx, rows, searchCallsOf, companyID, int64(from))
		}
		if err != nil {
			return fmt.Errorf("read for search: %w", err)
		}
		found, to := searchEntries(rows)
		if len(found) == 0 {
			return nil
		}
		err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return addSearched(ctx, tx, found...) })
		if err != nil {
			return fmt.Errorf("fill search: %w", err)
		}
		from = to
	}
}
