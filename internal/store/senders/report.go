package senders

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
)

// Report is what the channel of a sender says of it. Instants that nothing is known of are zero.
type Report struct {
	SenderUID   int64
	HandshakeAt time.Time // when the channel last made sure of the callback's address
	CallbackAt  time.Time // of about the last callback
	Notice      string    // the last event that the channel reported by itself
	NoticeAt    time.Time
	Quality     string
	QualityAt   time.Time
	Messages    string // how many messages may be sent
	MessagesAt  time.Time
	Findings    []provider.Finding
	CheckedAt   time.Time
}

const reportColumns = "sender, handshake_at, callback_at, notice, notice_at, quality, quality_at, messages, messages_at, findings, " +
	"checked_at"

// Reports are those of a company's senders that there is something to say of, by the sender's uid.
func (s *Store) Reports(ctx context.Context, companyID string) (map[int64]Report, error) {
	all, err := db.Collect(ctx, s.d, "what channels say of senders", scanReport,
		"SELECT "+reportColumns+" FROM sender_report WHERE sender IN (SELECT uid FROM sender WHERE company_id = $1)", companyID)
	by := make(map[int64]Report, len(all))
	for _, r := range all {
		by[r.SenderUID] = r
	}
	return by, err
}

// Report is that of a company's sender; the zero value when there is nothing to say.
func (s *Store) Report(ctx context.Context, companyID string, uid int64) (Report, error) {
	r, err := db.Find(ctx, s.d, "what the channel says of a sender", func(scan db.Scan) (*Report, error) {
		r, err := scanReport(scan)
		return &r, err
	}, "SELECT "+reportColumns+
		" FROM sender_report WHERE sender = $2 AND EXISTS (SELECT 1 FROM sender WHERE uid = $2 AND company_id = $1)", companyID, uid)
	if r == nil || err != nil {
		return Report{SenderUID: uid}, err
	}
	return *r, nil
}

func scanReport(scan db.Scan) (r Report, err error) {
	var handshake, callback, notice, quality, messages, checked int64
	var findings string
	if err = scan(&r.SenderUID, &handshake, &callback, &r.Notice, &notice, &r.Quality, &quality, &r.Messages, &messages, &findings,
		&checked); err != nil {
		return r, err
	}
	r.HandshakeAt, r.CallbackAt, r.NoticeAt = db.Instant(handshake), db.Instant(callback), db.Instant(notice)
	r.QualityAt, r.MessagesAt, r.CheckedAt = db.Instant(quality), db.Instant(messages), db.Instant(checked)
	if err = json.Unmarshal([]byte(findings), &r.Findings); err != nil {
		err = fmt.Errorf("read findings of sender %d: %w", r.SenderUID, err)
	}
	return r, err
}

// KeepHandshake stores that the channel made sure of the callback's address.
func (s *Store) KeepHandshake(ctx context.Context, x *carillon.Sender, at time.Time) error {
	_, err := s.d.Exec(ctx,
		`INSERT INTO sender_report (sender, handshake_at) SELECT uid, $3 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET handshake_at = excluded.handshake_at`, x.CompanyID, x.UID, db.Millis(at))
	return db.Wrap(err, "store a handshake")
}

// KeepCallback stores that a callback came. It need not be called for each of them.
func (s *Store) KeepCallback(ctx context.Context, x *carillon.Sender, at time.Time) error {
	_, err := s.d.Exec(ctx,
		`INSERT INTO sender_report (sender, callback_at) SELECT uid, $3 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET callback_at = excluded.callback_at WHERE sender_report.callback_at < excluded.callback_at`,
		x.CompanyID, x.UID, db.Millis(at))
	return db.Wrap(err, "store when a callback came")
}

// KeepNotice stores what the channel reported by itself; an older report than the stored one changes nothing. The channel
// counts in seconds: what it reported in the second of a check is taken for the later.
func (s *Store) KeepNotice(ctx context.Context, x *carillon.Sender, n provider.Notice) error {
	_, err := s.d.Exec(ctx, `INSERT INTO sender_report (sender, notice, notice_at, messages, messages_at)
		SELECT uid, $3, $4, $5, $6 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET notice = excluded.notice, notice_at = excluded.notice_at,
		messages = CASE WHEN excluded.messages_at + 1000 > sender_report.messages_at THEN excluded.messages ELSE sender_report.messages END,
		messages_at = CASE WHEN excluded.messages_at + 1000 > sender_report.messages_at THEN excluded.messages_at
			ELSE sender_report.messages_at END
		WHERE sender_report.notice_at <= excluded.notice_at`, x.CompanyID, x.UID, n.Event, db.Millis(n.At), n.Limit, when(n.Limit, n.At))
	return db.Wrap(err, "store a notice of the channel")
}

// KeepInspection stores what a check found. What it did not find out of quality and limit stays as it is.
func (s *Store) KeepInspection(ctx context.Context, x *carillon.Sender, i provider.Inspection, at time.Time) error {
	findings, err := json.Marshal(i.Findings)
	if err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	_, err = s.d.Exec(ctx, `INSERT INTO sender_report (sender, findings, checked_at, quality, quality_at, messages, messages_at)
		SELECT uid, $3, $4, $5, $6, $7, $8 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET findings = excluded.findings, checked_at = excluded.checked_at,
		quality = CASE WHEN excluded.quality_at > 0 THEN excluded.quality ELSE sender_report.quality END,
		quality_at = CASE WHEN excluded.quality_at > 0 THEN excluded.quality_at ELSE sender_report.quality_at END,
		messages = CASE WHEN excluded.messages_at > 0 THEN excluded.messages ELSE sender_report.messages END,
		messages_at = CASE WHEN excluded.messages_at > 0 THEN excluded.messages_at ELSE sender_report.messages_at END`,
		x.CompanyID, x.UID, string(findings), db.Millis(at), i.Quality, when(i.Quality, at), i.Limit, when(i.Limit, at))
	return db.Wrap(err, "store what a check found")
}

// when is the instant of something that was found out, 0 for what was not.
func when(found string, at time.Time) int64 {
	if found == "" {
		return 0
	}
	return db.Millis(at)
}

// maxWaiting bounds how many waiting messages of a class are counted.
const maxWaiting = 10_000

// Backlog is what a sender's lane has.
type Backlog struct {
	Messages int       // that wait to be sent, now or later; all that there are up to a bound of each class
	Due      int       // of them, those whose time has come
	Oldest   time.Time // when the oldest of these was due; zero: none is
	More     bool      // there are more than were counted
}

// Backlog counts the messages of a sender that wait, without those that are held.
func (s *Store) Backlog(ctx context.Context, x *carillon.Sender, now time.Time) (w Backlog, err error) {
	for class := range carillon.Classes {
		var n, due int
		var oldest int64
		err := s.d.Row(ctx, []any{&n, &due, &oldest},
			`SELECT COUNT(*), COALESCE(SUM(CASE WHEN due_at <= $4 THEN 1 ELSE 0 END), 0), COALESCE(MIN(due_at), 0)
			FROM (SELECT due_at FROM message WHERE shard = $1 AND sender = $2 AND class = $3 AND q = 1 AND hold = '' ORDER BY due_at
				LIMIT $5) AS counted`,
			x.Shard(), x.UID, class, db.Millis(now), maxWaiting)
		if err != nil {
			return w, fmt.Errorf("count what waits: %w", err)
		}
		w.Messages, w.Due, w.More = w.Messages+n, w.Due+due, w.More || n == maxWaiting
		if at := db.Instant(oldest); due > 0 && (w.Oldest.IsZero() || at.Before(w.Oldest)) {
			w.Oldest = at
		}
	}
	return w, nil
}
