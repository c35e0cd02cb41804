package accounts

import (
	"context"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Browser is a session as its account sees it. A session that was started over the public interface has no address and
// no agent, and its start counts as its last use.
type Browser struct {
	Session
	UsedAt  time.Time
	Address string // of the client that started it
	Agent   string // its User-Agent
}

// StartBrowser is StartSession for the panel's pages in a browser: a secret in a cookie replaces its tokens.
func (s *Sessions) StartBrowser(ctx context.Context, x Browser, secret, checked, rehashed string) (started bool, err error) {
	started, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if started, err := insertSession(ctx, tx, x.Session, checked, rehashed); err != nil || !started {
			return false, err
		}
		_, err := tx.Exec(ctx, "INSERT INTO browser_session (session_id, digest, used_at, address, agent) VALUES ($1, $2, $3, $4, $5)",
			x.ID, configure.Digest(secret), db.Millis(x.CreatedAt), x.Address, x.Agent)
		return true, err
	})
	return started, db.Wrap(err, "start session")
}

// Browser finds a session by the secret in its cookie, without address and agent; nil when there is none.
func (s *Sessions) Browser(ctx context.Context, secret string) (*Browser, error) {
	return db.Find(ctx, s.d, "session", func(scan db.Scan) (*Browser, error) {
		x := &Browser{}
		var used int64
		err := x.scan(func(dest ...any) error { return scan(append([]any{&x.ID, &used}, dest...)...) })
		x.UsedAt = db.Instant(used)
		return x, err
	}, `SELECT b.session_id, b.used_at, s.account_id, s.created_at, s.expires_at, s.ended_at
		FROM browser_session b JOIN session s ON s.id = b.session_id WHERE b.digest = $1`, configure.Digest(secret))
}

// UseBrowser records the use of a session and extends it, unless it has ended.
func (s *Sessions) UseBrowser(ctx context.Context, id string, now, until time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE session SET expires_at = $2 WHERE id = $1 AND ended_at = 0", id, db.Millis(until)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE browser_session SET used_at = $2 WHERE session_id = $1 AND used_at < $2", id, db.Millis(now))
		return err
	})
	return db.Wrap(err, "record the use of a session")
}

// Sessions reads the active sessions of an account, newest first. The sum in ORDER BY keeps PostgreSQL from scanning
// the index of expiry.
func (s *Sessions) Sessions(ctx context.Context, accountID string, now time.Time, limit int) ([]Browser, error) {
	return db.Collect(ctx, s.d, "sessions", func(scan db.Scan) (x Browser, err error) {
		var used int64
		err = x.scan(func(dest ...any) error { return scan(append([]any{&x.ID, &used, &x.Address, &x.Agent}, dest...)...) })
		x.UsedAt = db.Instant(used)
		return x, err
	}, `SELECT s.id, COALESCE(b.used_at, s.created_at), COALESCE(b.address, ''), COALESCE(b.agent, ''), s.account_id, s.created_at,
		s.expires_at, s.ended_at
		FROM session s LEFT JOIN browser_session b ON b.session_id = s.id
		WHERE s.account_id = $1 AND s.ended_at = 0 AND s.expires_at + 0 > $2 ORDER BY s.id DESC LIMIT $3`, accountID, db.Millis(now), limit)
}

// EndOwnSession ends a session of an account, and reports whether it was active.
func (s *Sessions) EndOwnSession(ctx context.Context, accountID, id string, now time.Time) (bool, error) {
	var ended bool
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE session SET ended_at = $3
			WHERE id = $1 AND account_id = $2 AND ended_at = 0 AND expires_at > $3`, id, accountID, db.Millis(now))
		if ended = n == 1; err != nil || !ended {
			return err
		}
		_, err = tx.Exec(ctx, "DELETE FROM push_subscription WHERE session_id = $1", id)
		return err
	})
	return ended, db.Wrap(err, "end session")
}
