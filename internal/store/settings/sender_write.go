package settings

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// SenderUID returns the uid of a company's sender by id, even a removed one, inside a transaction; 0 if there is none.
func SenderUID(ctx context.Context, tx *configure.Tx, companyID, id string) (int64, error) {
	var uid int64
	err := tx.Row(ctx, []any{&uid}, "SELECT uid FROM sender WHERE company_id = $1 AND id = $2", companyID, id)
	return uid, db.Ignore(err)
}

// FindSender reads a company's sender by id, inside the transaction; nil if there is none.
func FindSender(ctx context.Context, tx *configure.Tx, companyID, id string) (*carillon.Sender, error) {
	return db.Find(ctx, tx, "sender", senderScanner(tx.Seal),
		senderSelect+"company_id = $1 AND id = $2 AND NOT removed", companyID, id)
}

// MessagingSender returns the uid of a company's messaging sender by id or else by number; 0 if there is none.
func MessagingSender(ctx context.Context, tx *configure.Tx, companyID, idOrNumber string) (uid int64, err error) {
	err = tx.Row(ctx, []any{&uid},
		`SELECT uid FROM sender WHERE company_id = $1 AND channel = 'messaging' AND (id = $2 OR number = $2) AND NOT removed
		ORDER BY CASE WHEN id = $2 THEN 0 ELSE 1 END LIMIT 1`, companyID, idOrNumber)
	return uid, db.Wrap(db.Ignore(err), "look up sender")
}

// ReplaceDefault clears the default flag of the former default sender of a company and channel.
func ReplaceDefault(ctx context.Context, tx *configure.Tx, x *carillon.Sender, now time.Time) error {
	earlier, err := db.Collect(ctx, tx, "default senders", senderScanner(tx.Seal), senderSelect+`
		company_id = $1 AND channel = $2 AND id <> $3 AND is_default`, x.CompanyID, string(x.Channel), x.ID)
	if err != nil {
		return err
	}
	for _, before := range earlier {
		after := *before
		after.Default = false
		if err := recordSender(ctx, tx, audit.Changed, before, &after, now); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "UPDATE sender SET is_default = FALSE, updated_at = $4 WHERE company_id = $1 AND channel = $2 AND id <> "+
		"$3 AND is_default",
		x.CompanyID, string(x.Channel), x.ID, db.Millis(now))
	return db.Wrap(err, "replace the default sender")
}

// PutSender inserts or replaces a sender by company and id, inside Configure, and fills its UID.
func PutSender(ctx context.Context, tx *configure.Tx, x *carillon.Sender, now time.Time) error {
	tx.Changes(x.CompanyID)
	uid, err := SenderUID(ctx, tx, x.CompanyID, x.ID)
	if err != nil {
		return fmt.Errorf("look up sender: %w", err)
	}
	if uid == 0 {
		if uid, err = drawUID(ctx, tx); err != nil {
			return fmt.Errorf("number sender: %w", err)
		}
	}
	x.UID = uid
	unknown, err := json.Marshal(x.Unknown)
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	sealed, err := tx.Seal.SealOf(ctx, tx, x.CompanyID, senderRow(x.UID), x.Settings)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO sender (`+senderColumns+`, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
		ON CONFLICT (uid) DO UPDATE SET number = excluded.number, channel = excluded.channel, provider = excluded.provider,
		is_default = excluded.is_default, per_second = excluded.per_second, per_recipient = excluded.per_recipient,
		max_concurrent = excluded.max_concurrent, ring_timeout = excluded.ring_timeout, media_check = excluded.media_check,
		unknown_outcome = excluded.unknown_outcome, sealed = excluded.sealed, removed = FALSE, updated_at = excluded.updated_at`,
		x.UID, x.CompanyID, x.ID, x.Number, string(x.Channel), x.Provider, x.Default, x.PerSecond, x.PerRecipient.Milliseconds(),
		x.MaxConcurrent, x.RingTimeout.Milliseconds(), x.MediaCheck, string(unknown), sealed, db.Millis(now))
	if db.Duplicate(err) {
		return &carillon.Error{Code: carillon.Conflict, Message: "The present state does not allow this", Details: carillon.Details{
			{Key: "field", Value: "number"}, {Key: "reason", Value: "Another sender of the company has the number of " + x.ID},
		}}
	}
	if err != nil || x.Channel != carillon.Messaging {
		return err
	}
	return requestSync(ctx, tx, x.UID, now)
}

// maxUID is the largest integer that a float64 represents exactly: JavaScript and JSON tools read numbers as such.
const maxUID = 1<<53 - 1

// drawUID draws a number that no sender has. It is random, so that a company's senders keep their numbers in another
// installation (docs/adr/0015). Changes of configuration are serialized, so no other transaction draws it too.
func drawUID(ctx context.Context, tx *configure.Tx) (int64, error) {
	for {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
		uid := int64(binary.BigEndian.Uint64(random[:]) & maxUID)
		taken := 0
		err := tx.Row(ctx, []any{&taken}, "SELECT COUNT(*) FROM sender WHERE uid = $1", uid)
		if err != nil || taken == 0 && uid > 0 {
			return uid, err
		}
	}
}

// DeclareSender puts a sender by company and id. A new default sender replaces a former one. An unchanged sender is
// not written.
func DeclareSender(ctx context.Context, tx *configure.Tx, x *carillon.Sender, now time.Time) (configure.Effect, error) {
	have, err := FindSender(ctx, tx, x.CompanyID, x.ID)
	if err != nil {
		return configure.Unchanged, err
	}
	e := configure.Created
	if have != nil {
		e, x.UID = configure.Updated, have.UID
		if same, err := sameSender(have, x); err != nil || same {
			return configure.Unchanged, err
		}
	}
	if x.Default {
		if err := ReplaceDefault(ctx, tx, x, now); err != nil {
			return configure.Unchanged, err
		}
	}
	if err := PutSender(ctx, tx, x, now); err != nil {
		return configure.Unchanged, err
	}
	if have != nil && (have.Number != x.Number || have.Provider != x.Provider || !bytes.Equal(have.Settings, x.Settings)) {
		if err := dropProof(ctx, tx, x.UID); err != nil {
			return configure.Unchanged, err
		}
	}
	action := audit.Changed
	if e == configure.Created {
		action = audit.Created
	}
	return e, recordSender(ctx, tx, action, have, x, now)
}

// ProveNumber records that the channel, or with declared the operator, confirmed a company's ownership of a sender's
// number, and reports whether that is new.
func ProveNumber(ctx context.Context, tx *configure.Tx, x *carillon.Sender, declared bool, now time.Time) (bool, error) {
	tx.Changes(x.CompanyID)
	n, err := tx.Exec(ctx, `INSERT INTO number_proof (sender, number, declared, proved_at)
		SELECT uid, number, $5, $4 FROM sender WHERE company_id = $1 AND uid = $2 AND number = $3 AND NOT removed
		ON CONFLICT (sender) DO UPDATE SET number = excluded.number, declared = excluded.declared, proved_at = excluded.proved_at
		WHERE number_proof.number <> excluded.number OR excluded.declared AND NOT number_proof.declared`,
		x.CompanyID, x.UID, x.Number, db.Millis(now), declared)
	return n == 1, db.Wrap(err, "record the proof of a number")
}

func dropProof(ctx context.Context, tx *configure.Tx, uid int64) error {
	_, err := tx.Exec(ctx, "DELETE FROM number_proof WHERE sender = $1", uid)
	return db.Wrap(err, "delete the proof of a number")
}

// recordSender records a change of a sender; before or after is nil if it does not exist.
func recordSender(ctx context.Context, tx *configure.Tx, action audit.Action, before, after *carillon.Sender, now time.Time) error {
	of := cmp.Or(after, before)
	e := audit.Entry{CompanyID: of.CompanyID, Kind: audit.Sender, ID: of.ID, Name: nameOf(of), Action: action}
	if before != nil {
		e.Before = senderDoc(before)
	}
	if after != nil {
		e.After = senderDoc(after)
	}
	return audit.Record(ctx, tx.Tx, now, e)
}

// nameOf returns a sender's name in the change log.
func nameOf(x *carillon.Sender) string {
	if x.ID != x.Number {
		return x.ID + " (" + x.Number + ")"
	}
	return x.ID
}

// senderDoc returns the recorded form of a sender, as in a set-up.
func senderDoc(x *carillon.Sender) map[string]any {
	unknown := map[string]string{"after": x.Unknown.After.String()}
	for class, retry := range x.Unknown.Retry {
		unknown[carillon.Class(class).String()] = map[bool]string{true: "retry", false: "fail"}[retry]
	}
	doc := map[string]any{
		"number": x.Number, "channel": x.Channel, "provider": x.Provider, "default": x.Default, "per_second": x.PerSecond,
		"per_recipient_interval": x.PerRecipient.String(), "max_concurrent": x.MaxConcurrent, "media_check": x.MediaCheck,
		"unknown_outcome": unknown,
	}
	if x.Channel == carillon.Voice {
		doc["ring_timeout"] = x.RingTimeout.String()
	}
	if len(x.Settings) > 0 {
		doc["settings"] = x.Settings
	}
	return doc
}

// sameSender compares the stored forms.
func sameSender(x, y *carillon.Sender) (bool, error) {
	a, err := json.Marshal(x)
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(y)
	return bytes.Equal(a, b), err
}

// RoomForSender refuses another sender of a company that has reached the limit. Errors: limit_exceeded.
func RoomForSender(ctx context.Context, tx *configure.Tx, companyID string, most int) error {
	var n int
	if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM sender WHERE company_id = $1 AND NOT removed", companyID); err != nil {
		return fmt.Errorf("count senders: %w", err)
	}
	if n < most {
		return nil
	}
	return &carillon.Error{Code: carillon.LimitExceeded, Message: "The company has too many senders", Details: carillon.Details{
		{Key: "limit", Value: most}, {Key: "used", Value: n},
	}}
}

// waitingStates returns queries for a sender's unsent work; each has its own index.
func waitingStates() []string {
	return []string{
		"SELECT 1 FROM message WHERE shard = $1 AND sender = $2 AND q = 1 AND hold = '' LIMIT 1",
		"SELECT 1 FROM message WHERE shard = $1 AND sender = $2 AND q >= 2 LIMIT 1",
		"SELECT 1 FROM message WHERE shard = $1 AND sender = $2 AND q = 1 AND hold <> '' LIMIT 1",
		"SELECT 1 FROM call WHERE shard = $1 AND sender = $2 AND q = 1 AND hold = '' LIMIT 1",
		"SELECT 1 FROM call WHERE shard = $1 AND sender = $2 AND q = 2 LIMIT 1",
		"SELECT 1 FROM call WHERE shard = $1 AND sender = $2 AND q = 1 AND hold <> '' LIMIT 1",
	}
}

// RemoveSender removes a company's sender with its settings and its templates; its notifications stay. Errors: not_found,
// conflict while messages or calls of it wait.
func RemoveSender(ctx context.Context, tx *configure.Tx, companyID, id string, now time.Time) error {
	x, err := FindSender(ctx, tx, companyID, id)
	if err != nil {
		return err
	}
	if x == nil {
		return carillon.Absent("Sender")
	}
	for _, query := range waitingStates() {
		var one int
		err := tx.Row(ctx, []any{&one}, query, x.Shard(), x.UID)
		if err == nil {
			return carillon.InConflict("Messages or calls of this sender wait or are under way: cancel them, or wait until they have ended")
		}
		if err := db.Ignore(err); err != nil {
			return fmt.Errorf("look up what waits: %w", err)
		}
	}
	tx.Changes(companyID)
	if err := recordSender(ctx, tx, audit.Deleted, x, nil, now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM template WHERE sender = $1", x.UID); err != nil {
		return fmt.Errorf("delete templates: %w", err)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM template_sync WHERE sender = $1", x.UID); err != nil {
		return fmt.Errorf("delete the comparison of templates: %w", err)
	}
	if _, err := tx.Exec(ctx, "DELETE FROM sender_report WHERE sender = $1", x.UID); err != nil {
		return fmt.Errorf("delete what the channel said of a sender: %w", err)
	}
	if err := dropProof(ctx, tx, x.UID); err != nil {
		return err
	}
	sealed, err := tx.Seal.SealOf(ctx, tx, companyID, senderRow(x.UID), []byte("{}"))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE sender SET removed = TRUE, is_default = FALSE, sealed = $2, updated_at = $3 WHERE uid = $1",
		x.UID, sealed, db.Millis(now))
	return db.Wrap(err, "remove sender")
}
