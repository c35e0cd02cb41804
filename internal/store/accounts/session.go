package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Session is a sign-in of an account and the family of its refresh tokens.
type Session struct {
	ID        string
	AccountID string
	CreatedAt time.Time
	ExpiresAt time.Time
	EndedAt   time.Time // zero if active
}

// scan reads a session's row after its id.
func (x *Session) scan(scan db.Scan) error {
	var created, expires, ended int64
	err := scan(&x.AccountID, &created, &expires, &ended)
	x.CreatedAt, x.ExpiresAt, x.EndedAt = db.Instant(created), db.Instant(expires), db.Instant(ended)
	return err
}

// StartSession stores a session with its first refresh token and records the sign-in on the account, unless the
// account's password hash has changed since it was checked: a session begun with an old password would outlive the
// change. rehashed replaces the hash by a new hash of the same password. It reports whether the session started.
func (s *Sessions) StartSession(ctx context.Context, x Session, token, checked, rehashed string) (started bool, err error) {
	started, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if started, err := insertSession(ctx, tx, x, checked, rehashed); err != nil || !started {
			return false, err
		}
		return true, addRefreshToken(ctx, tx, x.ID, token, x.CreatedAt)
	})
	return started, db.Wrap(err, "start session")
}

// insertSession records the sign-in on the account and inserts the session, unless the password changed since it was
// checked.
func insertSession(ctx context.Context, tx *db.Tx, x Session, checked, rehashed string) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE account SET last_sign_in_at = $2, password_hash = $4 WHERE id = $1 AND password_hash = $3",
		x.AccountID, db.Millis(x.CreatedAt), checked, rehashed)
	if err != nil || n != 1 {
		return false, err
	}
	_, err = tx.Exec(ctx, "INSERT INTO session (id, account_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
		x.ID, x.AccountID, db.Millis(x.CreatedAt), db.Millis(x.ExpiresAt))
	return err == nil, err
}

func addRefreshToken(ctx context.Context, tx *db.Tx, session, token string, now time.Time) error {
	_, err := tx.Exec(ctx, "INSERT INTO refresh_token (digest, session_id, created_at) VALUES ($1, $2, $3)",
		configure.Digest(token), session, db.Millis(now))
	return err
}

// Refreshed is the result of a refresh.
type Refreshed int

// The results of a refresh.
const (
	RefreshUnknown Refreshed = iota // unknown token
	RefreshExpired                  // the session has expired
	RefreshRevoked                  // the session was revoked, now or before
	RefreshDone                     // the new token is stored
)

// Refresh spends a refresh token and stores the next of its family. A spent token is accepted once more within grace
// of its first use; any other reuse revokes the whole family and ends the session.
func (s *Sessions) Refresh(ctx context.Context, token, next string, now time.Time, grace, life time.Duration) (Session, Refreshed, error) {
	type result struct {
		x Session
		r Refreshed
	}
	done, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (done result, err error) {
		done.r, err = refresh(ctx, tx, &done.x, token, next, now, grace, life)
		return done, err
	})
	return done.x, done.r, db.Wrap(err, "refresh session")
}

// refresh spends the token inside a transaction, and reads its session.
func refresh(ctx context.Context, tx *db.Tx, x *Session, token, next string, now time.Time, grace, life time.Duration) (Refreshed, error) {
	var spent int64
	var repeated bool
	// The row is locked by writing it, so the second of two concurrent refreshes sees the first.
	err := tx.Row(ctx, []any{&x.ID, &spent, &repeated},
		"UPDATE refresh_token SET used_at = used_at WHERE digest = $1 RETURNING session_id, used_at, repeated", configure.Digest(token))
	if errors.Is(err, sql.ErrNoRows) {
		return RefreshUnknown, nil
	}
	if err != nil {
		return RefreshUnknown, err
	}
	if spent != 0 && (repeated || now.UnixMilli()-spent >= grace.Milliseconds()) {
		return RefreshRevoked, endSession(ctx, tx, x.ID, now)
	}
	r, err := extendSession(ctx, tx, x, now, now.Add(life))
	if err != nil || r != RefreshDone {
		return r, err
	}
	return r, spend(ctx, tx, x.ID, token, next, now, now.Add(-life))
}

func extendSession(ctx context.Context, tx *db.Tx, x *Session, now, until time.Time) (Refreshed, error) {
	err := x.scan(func(dest ...any) error {
		return tx.Row(ctx, dest, `UPDATE session SET expires_at = CASE
			WHEN ended_at = 0 AND expires_at > $2 THEN $3 ELSE expires_at END WHERE id = $1
			RETURNING account_id, created_at, expires_at, ended_at`, x.ID, db.Millis(now), db.Millis(until))
	})
	switch {
	case err != nil:
		return RefreshUnknown, err
	case !x.EndedAt.IsZero():
		return RefreshRevoked, nil
	case x.ExpiresAt.UnixMilli() <= now.UnixMilli():
		return RefreshExpired, nil
	}
	return RefreshDone, nil
}

// spend marks the token as used or, if it was, as repeated; it stores the next token and deletes tokens spent before
// an instant.
func spend(ctx context.Context, tx *db.Tx, session, token, next string, now, forget time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE refresh_token SET repeated = used_at <> 0,
		used_at = CASE WHEN used_at = 0 THEN $2 ELSE used_at END WHERE digest = $1`, configure.Digest(token), db.Millis(now)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM refresh_token WHERE session_id = $1 AND used_at <> 0 AND used_at < $2", session,
		db.Millis(forget)); err != nil {
		return err
	}
	return addRefreshToken(ctx, tx, session, next, now)
}

// endSession ends a session, with the push subscription of its browser.
func endSession(ctx context.Context, tx *db.Tx, id string, now time.Time) error {
	if _, err := tx.Exec(ctx, "UPDATE session SET ended_at = $2 WHERE id = $1 AND ended_at = 0", id, db.Millis(now)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM push_subscription WHERE session_id = $1", id)
	return err
}

// EndSession ends a session and invalidates its refresh and access tokens.
func (s *Sessions) EndSession(ctx context.Context, id string, now time.Time) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return endSession(ctx, tx, id, now) })
	return db.Wrap(err, "end session")
}

// EndSessions ends the sessions of an account except keep; keep is empty to end all.
func EndSessions(ctx context.Context, tx *configure.Tx, accountID, keep string, now time.Time) error {
	if _, err := tx.Exec(ctx, "UPDATE session SET ended_at = $3 WHERE account_id = $1 AND id <> $2 AND ended_at = 0", accountID, keep,
		db.Millis(now)); err != nil {
		return db.Wrap(err, "end sessions")
	}
	_, err := tx.Exec(ctx, "DELETE FROM push_subscription WHERE account_id = $1 AND session_id <> $2", accountID, keep)
	return db.Wrap(err, "end sessions")
}

// Session finds a session by id; nil when there is none.
func (s *Sessions) Session(ctx context.Context, id string) (*Session, error) {
	return db.Find(ctx, s.d, "session", func(scan db.Scan) (*Session, error) {
		x := &Session{ID: id}
		return x, x.scan(scan)
	}, "SELECT account_id, created_at, expires_at, ended_at FROM session WHERE id = $1", id)
}

// sessionsADrop bounds the sessions that one transaction deletes.
const sessionsADrop = 500

// DropSessions deletes sessions that expired before now, with their refresh tokens.
func (s *Sessions) DropSessions(ctx context.Context, now time.Time) error {
	for n := int64(sessionsADrop); n == sessionsADrop; {
		var err error
		if n, err = s.d.Exec(ctx, "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at < $1 ORDER BY "+
			"expires_at LIMIT $2)",
			db.Millis(now), sessionsADrop); err != nil {
			return fmt.Errorf("delete old sessions: %w", err)
		}
	}
	return nil
}
