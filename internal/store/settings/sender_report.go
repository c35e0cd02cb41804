package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
)

// SenderReport is the channel's report on a sender. Unknown times are zero.
type SenderReport struct {
	SenderUID   int64
	HandshakeAt time.Time // last verification of the callback URL by the channel
	CallbackAt  time.Time // approximate time of the last callback
	Notice      string    // last event sent by the channel
	NoticeAt    time.Time
	Quality     string
	QualityAt   time.Time
	Messages    string // limit of messages
	MessagesAt  time.Time
	Findings    []provider.Finding
	CheckedAt   time.Time
}

const senderReportColumns = "sender, handshake_at, callback_at, notice, notice_at, quality, quality_at, messages, messages_at, findings, " +
	"checked_at"

// Reports returns the reports of a company's senders that have one, by the sender's uid.
func (s *Senders) Reports(ctx context.Context, companyID string) (map[int64]SenderReport, error) {
	all, err := db.Collect(ctx, s.d, "what channels say of senders", scanSenderReport,
		"SELECT "+senderReportColumns+" FROM sender_report WHERE sender IN (SELECT uid FROM sender WHERE company_id = $1)", companyID)
	by := make(map[int64]SenderReport, len(all))
	for _, r := range all {
		by[r.SenderUID] = r
	}
	return by, err
}

// Report returns the report of a company's sender; the zero value if there is none.
func (s *Senders) Report(ctx context.Context, companyID string, uid int64) (SenderReport, error) {
	r, err := db.Find(ctx, s.d, "what the channel says of a sender", func(scan db.Scan) (*SenderReport, error) {
		r, err := scanSenderReport(scan)
		return &r, err
	}, "SELECT "+senderReportColumns+
		" FROM sender_report WHERE sender = $2 AND EXISTS (SELECT 1 FROM sender WHERE uid = $2 AND company_id = $1)", companyID, uid)
	if r == nil || err != nil {
		return SenderReport{SenderUID: uid}, err
	}
	return *r, nil
}

func scanSenderReport(scan db.Scan) (r SenderReport, err error) {
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

// KeepHandshake stores that the channel verified the callback URL.
func (s *Senders) KeepHandshake(ctx context.Context, x *carillon.Sender, at time.Time) error {
	_, err := s.d.Exec(ctx,
		`INSERT INTO sender_report (sender, handshake_at) SELECT uid, $3 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET handshake_at = excluded.handshake_at`, x.CompanyID, x.UID, db.Millis(at))
	return db.Wrap(err, "store a handshake")
}

// KeepCallback stores the time of a callback. It need not be called for every one.
func (s *Senders) KeepCallback(ctx context.Context, x *carillon.Sender, at time.Time) error {
	_, err := s.d.Exec(ctx,
		`INSERT INTO sender_report (sender, callback_at) SELECT uid, $3 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET callback_at = excluded.callback_at WHERE sender_report.callback_at < excluded.callback_at`,
		x.CompanyID, x.UID, db.Millis(at))
	return db.Wrap(err, "store when a callback came")
}

// KeepNotice stores an event sent by the channel; an older event than the stored one changes nothing. The channel's
// clock counts seconds: an event in the same second as a check counts as later.
func (s *Senders) KeepNotice(ctx context.Context, x *carillon.Sender, n provider.Notice) error {
	_, err := s.d.Exec(ctx, `INSERT INTO sender_report (sender, notice, notice_at, messages, messages_at)
		SELECT uid, $3, $4, $5, $6 FROM sender WHERE uid = $2 AND company_id = $1 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET notice = excluded.notice, notice_at = excluded.notice_at,
		messages = CASE WHEN excluded.messages_at + 1000 > sender_report.messages_at THEN excluded.messages ELSE sender_report.messages END,
		messages_at = CASE WHEN excluded.messages_at + 1000 > sender_report.messages_at THEN excluded.messages_at
			ELSE sender_report.messages_at END
		WHERE sender_report.notice_at <= excluded.notice_at`, x.CompanyID, x.UID, n.Event, db.Millis(n.At), n.Limit, foundAt(n.Limit, n.At))
	return db.Wrap(err, "store a notice of the channel")
}

// KeepInspection stores the result of a check. Quality and limit that it did not find are kept.
func (s *Senders) KeepInspection(ctx context.Context, x *carillon.Sender, i provider.Inspection, at time.Time) error {
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
		x.CompanyID, x.UID, string(findings), db.Millis(at), i.Quality, foundAt(i.Quality, at), i.Limit, foundAt(i.Limit, at))
	return db.Wrap(err, "store what a check found")
}

// foundAt returns the time of a finding; 0 if it was not found.
func foundAt(found string, at time.Time) int64 {
	if found == "" {
		return 0
	}
	return db.Millis(at)
}

// maxBacklog bounds the counted messages of each class.
const maxBacklog = 10_000

// SenderBacklog describes the waiting messages of a sender.
type SenderBacklog struct {
	Messages int       // waiting messages, now or later; counted up to a bound of each class
	Due      int       // those that are due
	Oldest   time.Time // due time of the oldest due one; zero if none
	More     bool      // there are more than counted
}

// Backlog counts the waiting messages of a sender, without held ones.
func (s *Senders) Backlog(ctx context.Context, x *carillon.Sender, now time.Time) (w SenderBacklog, err error) {
	for class := range carillon.Classes {
		var n, due int
		var oldest int64
		err := s.d.Row(ctx, []any{&n, &due, &oldest},
			`SELECT COUNT(*), COALESCE(SUM(CASE WHEN due_at <= $4 THEN 1 ELSE 0 END), 0), COALESCE(MIN(due_at), 0)
			FROM (SELECT due_at FROM message WHERE shard = $1 AND sender = $2 AND class = $3 AND q = 1 AND hold = '' ORDER BY due_at
				LIMIT $5) AS counted`,
			x.Shard(), x.UID, class, db.Millis(now), maxBacklog)
		if err != nil {
			return w, fmt.Errorf("count what waits: %w", err)
		}
		w.Messages, w.Due, w.More = w.Messages+n, w.Due+due, w.More || n == maxBacklog
		if at := db.Instant(oldest); due > 0 && (w.Oldest.IsZero() || at.Before(w.Oldest)) {
			w.Oldest = at
		}
	}
	return w, nil
}
