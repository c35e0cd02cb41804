package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Factor is the second factor of an account: an authenticator app whose codes are required besides the password.
type Factor struct {
	AccountID   string
	Secret      []byte
	ConfirmedAt time.Time // zero if not confirmed, and so not required
	LastStep    int64     // newest period whose code was used
	Recovery    int       // unused recovery codes
}

// FactorRow returns the row for which the secret of an account is sealed.
func FactorRow(accountID string) string { return "second_factor:" + accountID }

// Factor finds the second factor of an account; nil when there is none.
func (s *Factors) Factor(ctx context.Context, accountID string) (*Factor, error) {
	return db.Find(ctx, s.d, "second factor", func(scan db.Scan) (*Factor, error) {
		f := &Factor{AccountID: accountID}
		var sealed string
		var confirmed int64
		if err := scan(&sealed, &confirmed, &f.LastStep, &f.Recovery); err != nil {
			return nil, err
		}
		f.ConfirmedAt = db.Instant(confirmed)
		var err error
		f.Secret, err = s.seal.Open(FactorRow(accountID), sealed)
		return f, err
	}, `SELECT sealed, confirmed_at, last_step, (SELECT COUNT(*) FROM recovery_code r WHERE r.account_id = f.account_id)
		FROM second_factor f WHERE account_id = $1`, accountID)
}

// FactorsOf returns the members of a company who have a confirmed second factor.
func (s *Factors) FactorsOf(ctx context.Context, companyID string) (map[string]bool, error) {
	all, err := db.Collect(ctx, s.d, "second factors", func(scan db.Scan) (id string, err error) {
		err = scan(&id)
		return id, err
	}, `SELECT f.account_id FROM membership m JOIN second_factor f ON f.account_id = m.account_id
		WHERE m.company_id = $1 AND f.confirmed_at > 0`, companyID)
	found := make(map[string]bool, len(all))
	for _, id := range all {
		found[id] = true
	}
	return found, err
}

// ProposeFactor stores a secret to be confirmed, replacing an earlier proposal. Errors: conflict when a factor is
// confirmed.
func (s *Factors) ProposeFactor(ctx context.Context, accountID string, secret []byte, now time.Time) error {
	n, err := s.d.Exec(ctx, `INSERT INTO second_factor (account_id, sealed, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (account_id) DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at, last_step = 0
		WHERE second_factor.confirmed_at = 0`, accountID, s.seal.Seal(FactorRow(accountID), secret), db.Millis(now))
	if err == nil && n == 0 {
		return carillon.InConflict("A second factor is in use: turn it off first")
	}
	return db.Wrap(err, "store second factor")
}

// ConfirmFactor activates the proposed secret with these recovery codes. It returns false if it was confirmed or
// removed meanwhile, or the code was already used.
func (s *Factors) ConfirmFactor(ctx context.Context, accountID string, step int64, codes []string, now time.Time) (bool, error) {
	done, err := db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		n, err := tx.Exec(ctx, "UPDATE second_factor SET confirmed_at = $2, last_step = $3 WHERE account_id = $1 AND confirmed_at = "+
			"0 AND last_step < $3",
			accountID, db.Millis(now), step)
		if err != nil || n == 0 {
			return false, err
		}
		if err := audit.RecordAll(ctx, tx, now, accountID, audit.Entry{Action: audit.FactorOn}); err != nil {
			return false, err
		}
		return true, replaceRecovery(ctx, tx, accountID, codes)
	})
	return done, db.Wrap(err, "confirm second factor")
}

// ReplaceRecovery replaces the recovery codes of an account.
func (s *Factors) ReplaceRecovery(ctx context.Context, accountID string, codes []string) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := audit.RecordAll(ctx, tx, time.Now(), accountID, audit.Entry{Action: audit.CodesMade}); err != nil {
			return err
		}
		return replaceRecovery(ctx, tx, accountID, codes)
	})
	return db.Wrap(err, "store recovery codes")
}

func replaceRecovery(ctx context.Context, tx *db.Tx, accountID string, codes []string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM recovery_code WHERE account_id = $1", accountID); err != nil {
		return err
	}
	for _, code := range codes {
		if _, err := tx.Exec(ctx, "INSERT INTO recovery_code (account_id, digest) VALUES ($1, $2)", accountID,
			recoveryDigest(accountID, code)); err != nil {
			return err
		}
	}
	return nil
}

func recoveryDigest(accountID, code string) string { return configure.Digest(accountID + ":" + code) }

// SpendStep uses the code of a period, and reports whether neither it nor a later one was used before.
func (s *Factors) SpendStep(ctx context.Context, accountID string, step int64) (bool, error) {
	n, err := s.d.Exec(ctx, "UPDATE second_factor SET last_step = $2 WHERE account_id = $1 AND last_step < $2", accountID, step)
	return n == 1, db.Wrap(err, "take the code of a second factor")
}

// SpendRecovery uses a recovery code, and reports whether it was valid.
func (s *Factors) SpendRecovery(ctx context.Context, accountID, code string) (bool, error) {
	n, err := s.d.Exec(ctx, "DELETE FROM recovery_code WHERE account_id = $1 AND digest = $2", accountID, recoveryDigest(accountID, code))
	return n == 1, db.Wrap(err, "take a recovery code")
}

// RemoveFactor removes the second factor of an account, with its recovery codes.
func RemoveFactor(ctx context.Context, tx *configure.Tx, accountID string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM recovery_code WHERE account_id = $1", accountID); err != nil {
		return fmt.Errorf("remove recovery codes: %w", err)
	}
	n, err := tx.Exec(ctx, "DELETE FROM second_factor WHERE account_id = $1", accountID)
	if err != nil || n == 0 {
		return db.Wrap(err, "remove second factor")
	}
	return RecordUser(ctx, tx, time.Now(), accountID, audit.Entry{Action: audit.FactorOff})
}
