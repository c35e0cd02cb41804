package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
)

// Filter narrows a company's list of notifications; zero values do not filter.
type Filter struct {
	Campaign, Number string
	Class            *carillon.Class
	Channel          carillon.Channel
	State            carillon.State // scheduled, in_progress, completed, canceled
	SenderUID        int64
	From, To         time.Time // of acceptance; From inclusive, To exclusive
	Before           string    // cursor: ids below it
	Limit            int
}

// where gathers conditions and their arguments.
type where struct {
	text []string
	args []any
}

func (w *where) add(condition string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.text = append(w.text, condition)
}

func (w *where) clause() string { return strings.Join(w.text, " AND ") }

// last is a bound above every UUIDv7.
const last = "g"

// Notifications lists a company's notifications, newest first. A search by number or campaign goes through the search
// table, which is filled behind; what is newer than that table is looked through directly.
func (s *Store) Notifications(ctx context.Context, companyID string, f Filter, now time.Time) ([]*Notification, error) {
	if f.Before == "" {
		f.Before = last
	}
	if f.Number == "" && f.Campaign == "" {
		return s.list(ctx, companyID, f, now, "", "")
	}
	horizon, err := s.searchHorizon(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.list(ctx, companyID, f, now, horizon, "")
	if err != nil || len(found) == f.Limit {
		return found, err
	}
	field, value := "campaign", f.Campaign
	if f.Number != "" {
		field, value = "number", f.Number
	}
	f.Limit -= len(found)
	f.Before = min(f.Before, horizon+"0")
	rest, err := s.list(ctx, companyID, f, now, "", field+":"+value)
	return append(found, rest...), err
}

// list runs one list query: below f.Before, above floor, through the search table when indexed names field and value.
func (s *Store) list(ctx context.Context, companyID string, f Filter, now time.Time, floor, indexed string) ([]*Notification, error) {
	var w where
	if indexed != "" {
		field, value, _ := strings.Cut(indexed, ":")
		w.args = []any{companyID, field, value, f.Before}
		return s.listIndexed(ctx, f, now, w)
	}
	w.add("company_id = ? AND id < ?", companyID, f.Before)
	if floor != "" {
		w.add("id > ?", floor)
	}
	f.conditions(&w, now, false)
	w.args = append(w.args, f.Limit)
	return s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE "+w.clause()+
		" ORDER BY id DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}

func (s *Store) listIndexed(ctx context.Context, f Filter, now time.Time, w where) ([]*Notification, error) {
	w.text = []string{"s.company_id = $1 AND s.field = $2 AND s.value = $3 AND s.notification_id < $4 AND n.id = s.notification_id"}
	if w.args[1] == "number" {
		f.Number = "" // the search table has answered it
	}
	f.conditions(&w, now, true)
	w.args = append(w.args, f.Limit)
	columns := "n." + strings.Join(strings.Fields(strings.ReplaceAll(notificationColumns, ",", " ")), ", n.")
	// CROSS JOIN keeps SQLite from walking through all of the company's notifications instead.
	return s.notifications(ctx, "SELECT "+columns+" FROM search s CROSS JOIN notification n WHERE "+w.clause()+
		" ORDER BY s.notification_id DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}

// conditions adds the filters; joined says that the columns are the alias n's, and the ids those of the search table.
func (f *Filter) conditions(w *where, now time.Time, joined bool) {
	p, id := "", "id"
	if joined {
		p, id = "n.", "s.notification_id"
	}
	if f.Campaign != "" {
		w.add(p+"campaign = ?", f.Campaign)
	}
	if f.Number != "" {
		// Not EXISTS, which PostgreSQL may turn round: it would read all messages to find those of the number.
		w.add("(SELECT MIN(m.n) FROM message m WHERE m.notification_id = "+p+"id AND m.number = ?) IS NOT NULL", f.Number)
	}
	if f.Class != nil {
		w.add(p+"class = ?", int(*f.Class))
	}
	if f.Channel != "" {
		w.add(p+"channel = ?", string(f.Channel))
	}
	if f.SenderUID != 0 {
		w.add(p+"sender = ?", f.SenderUID)
	}
	if !f.From.IsZero() {
		w.add(id+" >= ?", firstID(f.From))
	}
	if !f.To.IsZero() {
		w.add(id+" < ?", firstID(f.To))
	}
	switch f.State {
	case carillon.StateScheduled:
		w.add(p+"open > 0 AND "+p+"scheduled AND "+p+"due_at > ?", millis(now))
	case carillon.StateInProgress:
		w.add(p+"open > 0 AND (NOT "+p+"scheduled OR "+p+"due_at <= ?)", millis(now))
	case carillon.StateCompleted:
		w.add(p + "open = 0 AND NOT " + p + "canceled")
	case carillon.StateCanceled:
		w.add(p + "canceled")
	default: // no state is asked for
	}
}

// firstID is below every UUIDv7 of the instant and later, and above all earlier ones.
func firstID(t time.Time) string {
	ms := fmt.Sprintf("%012x", max(t.UnixMilli(), 0))
	return ms[:8] + "-" + ms[8:]
}

func (s *Store) notifications(ctx context.Context, query string, args ...any) ([]*Notification, error) {
	rows, err := s.rows(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list notifications: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []*Notification
	for rows.Next() {
		n, err := scanNotification(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list notifications: %w", err)
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// searchHorizon is the id up to which the search table is filled.
func (s *Store) searchHorizon(ctx context.Context) (string, error) {
	var id string
	err := s.row(ctx, []any{&id}, "SELECT text FROM meta WHERE name = 'search'")
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read search horizon: %w", err)
	}
	return id, nil
}

const (
	searchLag  = 10 * time.Second // ids precede their commits by at most commitTimeout, and clocks differ a little
	searchRows = 2000             // rows a step
)

// FillSearch moves the search table's horizon one step, and tells whether there is more to do now.
func (s *Store) FillSearch(ctx context.Context, now time.Time) (more bool, err error) {
	horizon, err := s.searchHorizon(ctx)
	if err != nil {
		return false, err
	}
	rows, err := s.rows(ctx, `SELECT n.id, m.number, n.company_id, n.campaign FROM notification n CROSS JOIN message m
		WHERE n.id > $1 AND n.id < $2 AND m.notification_id = n.id
		ORDER BY n.id LIMIT $3`, horizon, firstID(now.Add(-searchLag)), searchRows)
	if err != nil {
		return false, fmt.Errorf("read for search: %w", err)
	}
	found, to, count, err := searchEntries(rows)
	if err != nil || count == 0 {
		return false, err
	}
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		b := newBulk("search", "ON CONFLICT (company_id, field, value, notification_id) DO NOTHING",
			"company_id:text", "field:text", "value:text", "notification_id:text")
		for _, e := range found {
			b.add(e.company, e.field, e.value, e.id)
		}
		if err := b.write(ctx, tx); err != nil {
			return err
		}
		_, err := tx.exec(ctx, "INSERT INTO meta (name, text) VALUES ('search', $1) ON CONFLICT (name) DO UPDATE SET text = excluded.text", to)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("fill search: %w", err)
	}
	return true, nil
}

type searchEntry struct{ company, field, value, id string }

// searchEntries reads the rows of a step, sorted for the table. A full step may have cut its last notification short:
// that one is left to the next step, unless it is alone.
func searchEntries(rows *sql.Rows) (found []searchEntry, to string, count int, err error) {
	defer func() { _ = rows.Close() }()
	var id, number, company, campaign string
	for rows.Next() {
		if err := rows.Scan(&id, &number, &company, &campaign); err != nil {
			return nil, "", 0, fmt.Errorf("read for search: %w", err)
		}
		if count++; id != to {
			found = append(found, searchEntry{company, "campaign", campaign, id})
		}
		found = append(found, searchEntry{company, "number", number, id})
		to = id
	}
	if count == searchRows {
		first := found[0].id
		if cut := slices.IndexFunc(found, func(e searchEntry) bool { return e.id == to }); first != to {
			found, to = found[:cut], found[cut-1].id
		}
	}
	slices.SortFunc(found, func(a, b searchEntry) int {
		return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value), cmp.Compare(a.id, b.id))
	})
	return slices.Compact(found), to, count, rows.Err()
}
