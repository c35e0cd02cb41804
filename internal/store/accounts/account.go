package accounts

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Account is a person who can sign in.
type Account struct {
	ID           string
	Email        string // lower case
	Name         string
	Phone        string
	PasswordHash string // PHC form
	ConfirmedAt  time.Time
	ProvedAt     time.Time // when its mailbox or a single sign-on server confirmed it; zero if somebody else may know the password
	LastSignInAt time.Time // zero if never
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

const accountColumns = "id, email, name, phone, password_hash, confirmed_at, proved_at, last_sign_in_at, created_at, updated_at"

// Account finds an account by id; nil when there is none.
func (s *Store) Account(ctx context.Context, id string) (*Account, error) {
	return s.accountWhere(ctx, "id = $1", id)
}

// AccountByEmail finds an account by its e-mail address, ignoring case; nil when there is none.
func (s *Store) AccountByEmail(ctx context.Context, email string) (*Account, error) {
	return s.accountWhere(ctx, "email = $1", config.FoldEmail(email))
}

func (s *Store) accountWhere(ctx context.Context, where string, args ...any) (*Account, error) {
	return db.Find(ctx, s.d, "account", func(scan db.Scan) (*Account, error) {
		var a Account
		var confirmed, proved, signedIn, created, updated int64
		err := scan(&a.ID, &a.Email, &a.Name, &a.Phone, &a.PasswordHash, &confirmed, &proved, &signedIn, &created, &updated)
		a.ConfirmedAt, a.ProvedAt, a.LastSignInAt = db.Instant(confirmed), db.Instant(proved), db.Instant(signedIn)
		a.CreatedAt, a.UpdatedAt = db.Instant(created), db.Instant(updated)
		return &a, err
	}, "SELECT "+accountColumns+" FROM account WHERE "+where, args...)
}

// AnyAccount reports whether there is an account.
func (s *Store) AnyAccount(ctx context.Context) (exists bool, err error) {
	err = s.d.Row(ctx, []any{&exists}, "SELECT EXISTS (SELECT 1 FROM account)")
	return exists, db.Wrap(err, "look for accounts")
}

// PasswordHashes reads a stored hash of each form, so that their parameters are known: hashes differ in salt and sum, the last
// 67 bytes.
func (s *Store) PasswordHashes(ctx context.Context) ([]string, error) {
	return db.Collect(ctx, s.d, "forms of password hashes", func(scan db.Scan) (hash string, err error) {
		err = scan(&hash)
		return hash, err
	}, `SELECT MIN(password_hash) FROM account GROUP BY substr(password_hash, 1,
		CASE WHEN length(password_hash) > 67 THEN length(password_hash) - 67 ELSE 0 END)`) // PostgreSQL refuses a negative length
}

// AddAccount inserts a new, confirmed account, and fills what is empty. Errors: conflict when the e-mail address is
// taken.
func AddAccount(ctx context.Context, tx *configure.Tx, a *Account, now time.Time) error {
	n, err := insertAccount(ctx, tx, a, now)
	if err == nil && n == 0 {
		return carillon.InConflict("An account with this e-mail exists")
	}
	return err
}

// PutAccount inserts an account by its e-mail address, or gives the existing one the same name and password hash; an
// empty hash keeps the stored one. A different hash ends the account's sessions. It writes nothing if nothing changes,
// and fills ID.
func PutAccount(ctx context.Context, tx *configure.Tx, a *Account, now time.Time) error {
	wanted := a.ID
	n, err := insertAccount(ctx, tx, a, now)
	if err != nil || n == 1 {
		return err
	}
	var stored string
	if err := tx.Row(ctx, []any{&a.ID, &stored}, "SELECT id, password_hash FROM account WHERE email = $1", a.Email); err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if wanted != "" && wanted != a.ID {
		return carillon.InConflict("The e-mail belongs to another account")
	}
	if a.PasswordHash != "" && a.PasswordHash != stored {
		if err := SetPassword(ctx, tx, a.ID, a.PasswordHash, "", now); err != nil {
			return err
		}
	}
	var name string
	if err := tx.Row(ctx, []any{&name}, "SELECT name FROM account WHERE id = $1", a.ID); err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if _, err = tx.Exec(ctx, "UPDATE account SET name = $2, updated_at = $3 WHERE id = $1 AND name <> $2", a.ID, a.Name,
		db.Millis(now)); err != nil {
		return fmt.Errorf("write account: %w", err)
	}
	return RecordUser(ctx, tx, now, a.ID, audit.Entry{
		Action: audit.Changed, Before: map[string]string{"name": name}, After: map[string]string{"name": a.Name},
	})
}

// RecordUser records a change of an account's sign-in in each of its companies.
func RecordUser(ctx context.Context, tx *configure.Tx, now time.Time, accountID string, e audit.Entry) error {
	return audit.RecordAll(ctx, tx.Tx, now, accountID, e)
}

func insertAccount(ctx context.Context, tx *configure.Tx, a *Account, now time.Time) (int64, error) {
	a.Email = config.FoldEmail(a.Email)
	if a.ID == "" {
		a.ID = carillon.NewID(now)
	}
	if a.ConfirmedAt.IsZero() {
		a.ConfirmedAt = now
	}
	a.CreatedAt, a.UpdatedAt = now, now
	n, err := tx.Exec(ctx, `INSERT INTO account (`+accountColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $8, 0, $7, $7)
		ON CONFLICT (email) DO NOTHING`, a.ID, a.Email, a.Name, a.Phone, a.PasswordHash, db.Millis(a.ConfirmedAt), db.Millis(now),
		db.Millis(a.ProvedAt))
	return n, db.Wrap(err, "write account")
}

// SetPassword replaces an account's password hash, and ends its password links and its sessions except keep; keep is
// empty to end all. Errors: not_found.
func SetPassword(ctx context.Context, tx *configure.Tx, accountID, hash, keep string, now time.Time) error {
	n, err := tx.Exec(ctx, "UPDATE account SET password_hash = $2, updated_at = $3 WHERE id = $1", accountID, hash, db.Millis(now))
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if n == 0 {
		return carillon.Absent("User")
	}
	if _, err := tx.Exec(ctx, "DELETE FROM password_reset WHERE account_id = $1", accountID); err != nil {
		return fmt.Errorf("remove links for a password: %w", err)
	}
	if err := RecordUser(ctx, tx, now, accountID, audit.Entry{Action: audit.PasswordSet}); err != nil {
		return err
	}
	return EndSessions(ctx, tx, accountID, keep, now)
}

// SetProof records when the account's mailbox or a single sign-on server confirmed the owner of its present password;
// the zero time means that somebody else may know the password.
func SetProof(ctx context.Context, tx *configure.Tx, accountID string, at time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE account SET proved_at = $2 WHERE id = $1", accountID, db.Millis(at))
	return db.Wrap(err, "record the proof of an account")
}

// Prove hands an unproved account to its owner, and returns false if it was proved before. Whoever created the account
// may know its credentials, so the password is replaced by hash, and the second factor, links and sessions are
// deleted.
func Prove(ctx context.Context, tx *configure.Tx, accountID, hash string, now time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "UPDATE account SET proved_at = $2 WHERE id = $1 AND proved_at = 0", accountID, db.Millis(now))
	if err != nil || n == 0 {
		return false, db.Wrap(err, "prove an account")
	}
	if err := SetPassword(ctx, tx, accountID, hash, "", now); err != nil {
		return false, err
	}
	return true, RemoveFactor(ctx, tx, accountID)
}

// Proved reports whether an account is proved.
func Proved(ctx context.Context, tx *configure.Tx, accountID string) (proved bool, err error) {
	err = tx.Row(ctx, []any{&proved}, "SELECT EXISTS (SELECT 1 FROM account WHERE id = $1 AND proved_at > 0)", accountID)
	return proved, db.Wrap(err, "look for the proof of an account")
}
