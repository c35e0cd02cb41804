package messages

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/calls"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

const notificationColumns = `id, company_id, channel, sender, template_id, class, campaign, flat, total, open, scheduled, canceled,
	created_at, due_at, moved_at, done_at, recipient_id, name_template, language, agent_id, name_event, notes, secret`

func scanNotification(scan db.Scan, more ...any) (*Notification, error) {
	var n Notification
	var created, due, moved, done int64
	l := &n.Labels
	err := scan(append([]any{
		&n.ID, &n.CompanyID, &n.Channel, &n.SenderUID, &n.TemplateID, &n.Class, &n.Campaign, &n.Flat, &n.Total, &n.Open,
		&n.Scheduled, &n.Canceled,
		&created, &due, &moved, &done, &l.RecipientID, &l.TemplateName, &l.Language, &l.AgentID, &l.Event, &n.Notes, &n.Secret,
	}, more...)...)
	n.CreatedAt, n.DueAt, n.MovedAt, n.DoneAt = db.Instant(created), db.Instant(due), db.Instant(moved), db.Instant(done)
	return &n, err
}

// scanListed reads a notification without its body.
func scanListed(scan db.Scan) (*Notification, error) { return scanNotification(scan) }

// Load reads a notification with its body by its number only, to deliver one of its messages. Errors: not_found.
func (s *Notifications) Load(ctx context.Context, seq carillon.Seq) (*Notification, error) {
	n, err := db.Find(ctx, s.d, "notification", func(scan db.Scan) (*Notification, error) {
		var body string
		n, err := scanNotification(scan, &body)
		n.Body = body
		return n, err
	}, "SELECT "+notificationColumns+", body FROM notification WHERE seq = $1", int64(seq))
	if n == nil && err == nil {
		err = carillon.Absent("Notification")
	}
	return n, err
}

// Find reads a company's notification without its body. Errors: not_found, also for another company's.
func (s *Notifications) Find(ctx context.Context, companyID, id string) (*Notification, error) {
	n, err := db.Find(ctx, s.d, "notification", scanListed,
		"SELECT "+notificationColumns+" FROM notification WHERE seq = $1 AND company_id = $2 AND id = $3",
		int64(carillon.SeqOf(id)), companyID, id)
	if n == nil && err == nil {
		err = carillon.Absent("Notification")
	}
	return n, err
}

// Message is one recipient of a notification.
type Message struct {
	N           int
	Number      string
	Q           int
	Rank        rank.Rank
	Held        bool // its template is paused, or Restored
	Restored    bool // held after a restore
	Due         time.Time
	Attempts    int
	ProviderID  string
	Reason      carillon.Reason
	Detail      string
	StartedAt   time.Time
	SentAt      time.Time
	DeliveredAt time.Time
	ReadAt      time.Time
	RepliedAt   time.Time
	ClickedAt   time.Time // first use of a counted link
	Clicks      int       // uses of counted links
	EndedAt     time.Time
}

// Reached reports whether the message was delivered, read or replied to.
func (m *Message) Reached() bool {
	return m.Rank >= rank.Delivered || !m.DeliveredAt.IsZero() || !m.ReadAt.IsZero() || !m.RepliedAt.IsZero()
}

// List reads a page of a notification's recipients, starting at index n.
func (s *Messages) List(ctx context.Context, seq carillon.Seq, n, limit int) ([]Message, error) {
	return db.Collect(ctx, s.DB, "messages", func(scan db.Scan) (Message, error) {
		_, m, err := scanMessage(scan)
		return m, err
	}, "SELECT "+messageColumns+" FROM message WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3",
		int64(seq.Message(n)), int64(seq.LastMessage()), limit)
}

const messageColumns = `id, number, q, rank, hold, due_at, attempt, COALESCE(provider_id, ''), COALESCE(reason, ''),
	COALESCE(detail, ''), COALESCE(started_at, 0), COALESCE(sent_at, 0), COALESCE(delivered_at, 0), COALESCE(read_at, 0),
	COALESCE(replied_at, 0), COALESCE(ended_at, 0), COALESCE(clicked_at, 0), clicks`

func scanMessage(scan db.Scan) (key carillon.MessageKey, m Message, err error) {
	var due, started, sent, delivered, read, replied, ended, clicked int64
	var hold string
	err = scan(&key, &m.Number, &m.Q, &m.Rank, &hold, &due, &m.Attempts, &m.ProviderID, &m.Reason, &m.Detail,
		&started, &sent, &delivered, &read, &replied, &ended, &clicked, &m.Clicks)
	m.N = key.N()
	m.Restored = strings.HasPrefix(hold, RestoredPrefix)
	m.Held = hold != ""
	m.Due, m.StartedAt, m.SentAt = db.Instant(due), db.Instant(started), db.Instant(sent)
	m.DeliveredAt, m.ReadAt, m.RepliedAt, m.EndedAt = db.Instant(delivered), db.Instant(read), db.Instant(replied), db.Instant(ended)
	m.ClickedAt = db.Instant(clicked)
	return key, m, err
}

// Milestones are instants of a notification's messages; zero if none has come so far.
type Milestones struct {
	FirstSent  time.Time
	CanceledAt time.Time
	Canceled   int // number of canceled messages
}

// Milestones reads the milestones of a notification.
func (s *Messages) Milestones(ctx context.Context, seq carillon.Seq) (m Milestones, err error) {
	var sent, canceled int64
	err = s.DB.Row(ctx, []any{&sent, &canceled, &m.Canceled}, `SELECT COALESCE(MIN(COALESCE(sent_at, delivered_at, read_at)), 0),
		COALESCE(MAX(CASE WHEN rank = $1 THEN ended_at END), 0), COUNT(CASE WHEN rank = $1 THEN 1 END)
		FROM message WHERE id BETWEEN $2 AND $3`, int(rank.Canceled), int64(seq.Message(0)), int64(seq.LastMessage()))
	m.FirstSent, m.CanceledAt = db.Instant(sent), db.Instant(canceled)
	return m, db.Wrap(err, "read milestones")
}

// Standing counts a notification's messages in the same state.
type Standing struct {
	Q         int
	Rank      rank.Rank
	Attempted bool
	Count     int
}

// Standings counts the messages of each notification of a page by state, in one query.
func (s *Messages) Standings(ctx context.Context, seqs ...carillon.Seq) (map[carillon.Seq][]Standing, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	all := make(map[carillon.Seq][]Standing, len(seqs))
	// CROSS JOIN keeps SQLite from starting with the messages.
	err := db.Each(ctx, s.DB, func(scan db.Scan) error {
		var seq carillon.Seq
		var t Standing
		err := scan(&seq, &t.Q, &t.Rank, &t.Attempted, &t.Count)
		all[seq] = append(all[seq], t)
		return err
	}, "WITH page (seq) AS (SELECT CAST(value AS BIGINT) FROM "+s.DB.Elements(1)+`) SELECT seq, q, rank, attempt > 0, COUNT(*)
		FROM page CROSS JOIN message WHERE id BETWEEN seq * 128 AND seq * 128 + 127 GROUP BY seq, q, rank, attempt > 0`, db.JSON(seqs))
	return all, db.Wrap(err, "count messages")
}

// Canceled counts the changes of a cancel.
type Canceled struct {
	Messages  int // messages and calls of requests that were not started
	Sent      int // those that were
	Fallbacks int // calls that would have followed messages that were sent
	HungUp    int // such calls in progress, which will end
}

// Cancel cancels all messages that have not started, and the calls that would follow those that were sent; with hangUp
// it also ends such calls in progress. Errors: not_found, conflict if there is nothing to cancel.
func (s *Notifications) Cancel(ctx context.Context, companyID, id string, hangUp bool, now time.Time) (Canceled, error) {
	seq, of := carillon.SeqOf(id), s.followed(ctx, companyID)
	var keys []carillon.MessageKey // those with subscribed events
	for key := seq.Message(0); of.notifications && key <= seq.LastMessage(); key++ {
		keys = append(keys, key)
	}
	done, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (Canceled, error) {
		return cancel(ctx, tx, companyID, id, keys, hangUp, now, of.calls)
	})
	if !carillon.IsCode(err, carillon.NotFound) && !carillon.IsCode(err, carillon.Conflict) {
		s.touch(seq, err)
	}
	return done, err
}

// cancel is Cancel inside a transaction. keys are the messages with subscribed events; ofCalls reports whether the
// events of calls are subscribed.
func cancel(
	ctx context.Context, tx *db.Tx, companyID, id string, keys []carillon.MessageKey, hangUp bool, now time.Time, ofCalls bool,
) (c Canceled, err error) {
	channel, err := own(ctx, tx, companyID, id)
	if err != nil {
		return c, err
	}
	seq := carillon.SeqOf(id)
	first, last := int64(seq.Message(0)), int64(seq.LastMessage())
	if err := events.Messages(ctx, tx, keys, func() error {
		n, err := tx.Exec(ctx, `UPDATE message SET q = 0, rank = $1, reason = $2, ended_at = $3
			WHERE id BETWEEN $4 AND $5 AND q + 0 = 1`, int(rank.Canceled), string(carillon.ReasonCanceled), db.Millis(now), first, last)
		c.Messages = int(n)
		return err
	}); err != nil {
		return c, fmt.Errorf("cancel: %w", err)
	}
	if c.Fallbacks, err = cancelFallbacks(ctx, tx, first, last, now); err != nil {
		return c, err
	}
	dropped, begun, err := calls.Cancel(ctx, tx, seq, now)
	if err != nil {
		return c, err
	}
	for _, key := range dropped {
		if ofCalls {
			if err := events.Call(ctx, tx, key, nil); err != nil {
				return c, err
			}
		}
	}
	if channel == carillon.Voice {
		c.Messages += len(dropped)
	} else if c.Fallbacks += len(dropped); hangUp {
		if c.HungUp, err = calls.HangUpAll(ctx, tx, seq); err != nil {
			return c, err
		}
	}
	if c.Messages+c.Fallbacks+c.HungUp == 0 {
		return c, carillon.InConflict("Nothing is left to cancel")
	}
	if err := tx.Row(ctx, []any{&c.Sent},
		"SELECT COUNT(CASE WHEN rank NOT IN (10, 20) THEN 1 END) FROM message WHERE id BETWEEN $1 AND $2", first, last); err != nil {
		return c, fmt.Errorf("cancel: %w", err)
	}
	if channel == carillon.Voice {
		c.Sent = begun
	}
	if err := closeIfDone(ctx, tx, seq, c.Sent == 0, now); err != nil {
		return c, fmt.Errorf("cancel: %w", err)
	}
	after := map[string]int{"canceled": c.Messages, "already_sent": c.Sent}
	if c.Fallbacks > 0 {
		after["fallbacks_canceled"] = c.Fallbacks
	}
	if c.HungUp > 0 {
		after["hung_up"] = c.HungUp
	}
	return c, audit.Record(ctx, tx, now, audit.Entry{
		CompanyID: companyID, Kind: audit.Notification, ID: id, Action: audit.Canceled, After: after,
	})
}

// closeIfDone counts what is still open of a locked notification, and closes it if that is nothing.
func closeIfDone(ctx context.Context, tx *db.Tx, seq carillon.Seq, canceled bool, now time.Time) error {
	var open int
	if err := tx.Row(ctx, []any{&open}, "SELECT "+work.Open+" FROM notification WHERE seq = $1", int64(seq)); err != nil {
		return err
	}
	ended := int64(0)
	if open == 0 {
		ended = db.Millis(now)
	}
	_, err := tx.Exec(ctx, "UPDATE notification SET canceled = canceled OR $1, open = $2, done_at = $3 WHERE seq = $4", canceled, open,
		ended, int64(seq))
	return err
}

// CancelTo cancels the unstarted messages of a company's notification to the owner of these numbers.
func (s *Notifications) CancelTo(ctx context.Context, companyID string, seq carillon.Seq, numbers []string, now time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return cancelTo(ctx, tx, companyID, seq, numbers, now) })
	s.touch(seq, err)
	return err
}

func cancelTo(ctx context.Context, tx *db.Tx, companyID string, seq carillon.Seq, numbers []string, now time.Time) error {
	// locks it
	n, err := tx.Exec(ctx, "UPDATE notification SET total = total WHERE seq = $1 AND company_id = $2 AND open > 0", int64(seq), companyID)
	if err != nil || n == 0 {
		return err
	}
	first, last, in := int64(seq.Message(0)), int64(seq.LastMessage()), tx.DB().In(6)
	args := []any{int(rank.Canceled), string(carillon.ReasonCanceled), db.Millis(now), first, last, tx.DB().List(numbers)}
	if _, err := tx.Exec(ctx, "UPDATE message SET q = 0, rank = $1, reason = $2, ended_at = $3 WHERE id BETWEEN $4 AND $5 AND q + 0 "+
		"= 1 AND number "+in, args...); err != nil {
		return err
	}
	args[0] = string(FallbackCanceled)
	if _, err := tx.Exec(ctx, `UPDATE fallback SET due_at = 0, state = $1, reason = $2, decided_at = $3 WHERE id BETWEEN $4 AND $5
		AND due_at + 0 > 0 AND (SELECT m.number FROM message AS m WHERE m.id = fallback.id) `+in, args...); err != nil {
		return err
	}
	args[0] = string(carillon.StateCanceled)
	if _, err := tx.Exec(ctx, "UPDATE call SET q = 0, state = $1, reason = $2, ended_at = $3 WHERE id BETWEEN $4 AND $5 AND q + 0 "+
		"= 1 AND number "+in, args...); err != nil {
		return err
	}
	return closeIfDone(ctx, tx, seq, false, now)
}

// own checks that a notification belongs to the company and locks it.
func own(ctx context.Context, tx *db.Tx, companyID, id string) (channel carillon.Channel, err error) {
	err = tx.Row(ctx, []any{&channel},
		"UPDATE notification SET total = total WHERE seq = $1 AND company_id = $2 AND id = $3 RETURNING channel",
		int64(carillon.SeqOf(id)), companyID, id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", carillon.Absent("Notification")
	}
	return channel, err
}

// Move changes a notification's time. Errors: not_found, conflict after the start of delivery.
func (s *Notifications) Move(ctx context.Context, companyID, id string, due, now time.Time) (*Notification, error) {
	seq := carillon.SeqOf(id)
	first, last := int64(seq.Message(0)), int64(seq.LastMessage())
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := own(ctx, tx, companyID, id); err != nil {
			return err
		}
		moved, err := tx.Exec(ctx, "UPDATE message SET due_at = $1 WHERE id BETWEEN $2 AND $3 AND q + 0 = 1 AND attempt = 0",
			db.Millis(due), first, last)
		if err != nil {
			return fmt.Errorf("move: %w", err)
		}
		var all int64
		if err := tx.Row(ctx, []any{&all}, "SELECT COUNT(*) FROM message WHERE id BETWEEN $1 AND $2 AND rank <> 10", first,
			last); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		called, dialable, err := calls.Move(ctx, tx, seq, due)
		if err != nil {
			return err
		}
		if moved, all = moved+called, all+dialable; moved == 0 || moved != all {
			return carillon.InConflict("Delivery has begun")
		}
		if _, err := tx.Exec(ctx, "UPDATE fallback SET due_at = $1 + wait WHERE id BETWEEN $2 AND $3 AND due_at + 0 > 0",
			db.Millis(due), first, last); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		var before int64
		if err := tx.Row(ctx, []any{&before}, "SELECT due_at FROM notification WHERE seq = $1", int64(seq)); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		if _, err = tx.Exec(ctx, "UPDATE notification SET due_at = $1, moved_at = $2, scheduled = TRUE WHERE seq = $3",
			db.Millis(due), db.Millis(now), int64(seq)); err != nil {
			return fmt.Errorf("move: %w", err)
		}
		return audit.Record(ctx, tx, now, audit.Entry{
			CompanyID: companyID, Kind: audit.Notification, ID: id, Action: audit.Moved,
			Before: map[string]string{"scheduled_time": carillon.FormatTime(db.Instant(before))},
			After:  map[string]string{"scheduled_time": carillon.FormatTime(due)},
		})
	})
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, companyID, id)
}

// CloseDone closes those of the notifications that have nothing queued or in flight.
func (s *Notifications) CloseDone(ctx context.Context, seqs []carillon.Seq, now time.Time) error {
	return s.closes.Commit(ctx, s.d, closing{seqs, now})
}

// closing are notifications that may be complete.
type closing struct {
	seqs []carillon.Seq
	now  time.Time
}

func closeKind(place db.Place) *db.Kind[closing] {
	return &db.Kind[closing]{
		Name: "close", Place: place, Background: true, Maintenance: true,
		Apply: func(ctx context.Context, tx *db.Tx, all []closing, _ bool) error {
			return db.Wrap(tx.Run(ctx, closeStatements(tx, all)...), "close notifications")
		},
		Flush: func(tx *db.Tx, all []closing) ([]db.Statement, bool) { return closeStatements(tx, all), true },
	}
}

// closeStatements count the open rows of each notification, because a planner may turn NOT EXISTS into a join with all messages.
// They add zero to open so that the index of open notifications is not used: the planner considers it short, but under a
// held snapshot it has an entry for each notification that was ever open.
func closeStatements(tx *db.Tx, all []closing) []db.Statement {
	statements := make([]db.Statement, len(all))
	for i, c := range all {
		statements[i] = db.Statement{
			SQL: "UPDATE notification SET open = 0, done_at = $1 WHERE seq " + tx.DB().In(2) + " AND open + 0 > 0 AND " +
				work.Open + " = 0",
			Args: []any{db.Millis(c.now), tx.DB().List(c.seqs)},
		}
	}
	return statements
}

// OpenAfter pages through all open notifications, in the order of the open index. It returns those that are due and
// complete, so that the writer need not check the others.
func (s *Notifications) OpenAfter(ctx context.Context, companyID string, after carillon.Seq, now time.Time,
	limit int,
) (done []carillon.Seq, lastCompany string, last carillon.Seq, err error) {
	err = db.Each(ctx, s.d, func(scan db.Scan) error {
		var ended bool
		err := scan(&lastCompany, &last, &ended)
		if ended {
			done = append(done, last)
		}
		return err
	}, `SELECT company_id, seq, due_at <= $3 AND `+work.Open+` = 0
		FROM notification WHERE open > 0 AND (company_id, seq) > ($1, $2)
		ORDER BY company_id, seq LIMIT $4`, companyID, int64(after), now.UnixMilli(), limit)
	return done, lastCompany, last, db.Wrap(err, "read open notifications")
}

// DayUse is a company's use of a UTC day.
type DayUse struct {
	Date string
	Used int
}

// UsedSince returns a company's use of each UTC day from `day` on, without unused days.
func (s *Notifications) UsedSince(ctx context.Context, companyID, day string) ([]DayUse, error) {
	return db.Collect(ctx, s.d, "usage", func(scan db.Scan) (d DayUse, err error) {
		err = scan(&d.Date, &d.Used)
		return d, err
	}, "SELECT day, CAST(SUM(used) AS BIGINT) FROM quota WHERE company_id = $1 AND day >= $2 GROUP BY company_id, day ORDER BY "+
		"company_id, day", companyID, day)
}

// Used returns a company's use of a UTC day.
func (s *Notifications) Used(ctx context.Context, companyID, day string) (int, error) {
	var used int
	err := s.d.Row(ctx, []any{&used}, "SELECT CAST(COALESCE(SUM(used), 0) AS BIGINT) FROM quota WHERE company_id = $1 AND day = $2",
		companyID, day)
	return used, db.Wrap(err, "read usage")
}
