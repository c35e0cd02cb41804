// Package suppressions is the SQL of the numbers that a company's messages skip.
package suppressions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/provider"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
)

// Companies finds companies; accounts.Store is one.
type Companies interface {
	Company(ctx context.Context, id string) (*carillon.Company, error)
}

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct {
	d         *db.DB
	config    *configure.Configuration
	companies Companies
}

// New returns the store of a database.
func New(d *db.DB, c *configure.Configuration, companies Companies) *Store {
	return &Store{d: d, config: c, companies: companies}
}

// Tx writes inside a transaction.
type Tx struct{ tx *configure.Tx }

// On returns what writes inside a transaction.
func (s *Store) On(tx *configure.Tx) *Tx { return &Tx{tx} }

// Type is what a suppressed number does not get.
type Type string

// The types. All includes Marketing.
const (
	All       Type = "all"
	Marketing Type = "marketing"
)

// OptedOut is the reason of a suppression by which the recipient opted out at the channel.
const OptedOut = "opted_out"

// AskedByCaller is the reason of a suppression that somebody asked for who called with the number, which anybody can.
const AskedByCaller = "asked by a caller"

// Suppression is a number that a company's messages and calls skip, those of every type or marketing ones alone.
type Suppression struct {
	Number    string
	Type      Type
	Reason    string
	Author    string // the e-mail address of who added it in the panel; "": nobody did
	CreatedAt time.Time
}

// Suppressed returns which of the numbers of a request of the class are suppressed, in one query. Callers skip it where
// Company.Suppresses is false.
func (s *Store) Suppressed(ctx context.Context, companyID string, class carillon.Class, numbers []string) (map[string]bool, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	query := "SELECT number FROM suppression WHERE company_id = $1 AND number " + s.d.In(2)
	if class != carillon.Marketing {
		query += " AND type = 'all'"
	}
	found := make(map[string]bool, len(numbers))
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var number string
		err := scan(&number)
		found[number] = true
		return err
	}, query, companyID, s.d.List(numbers))
	return found, db.Wrap(err, "look up suppressions")
}

const suppressionPage = `SELECT number, type, reason, author, created_at FROM suppression
	WHERE company_id = $1 AND number > $2 AND number >= $3 AND number < $4 ORDER BY number LIMIT $5`

// Suppressions is a page of a company's suppressed numbers, by number, those after the one given.
func (s *Store) Suppressions(ctx context.Context, companyID, after string, limit int) ([]Suppression, error) {
	return s.SuppressionsFrom(ctx, companyID, "", after, limit)
}

// SuppressionsFrom is a page of those that begin with some digits.
func (s *Store) SuppressionsFrom(ctx context.Context, companyID, begin, after string, limit int) ([]Suppression, error) {
	return db.Collect(ctx, s.d, "suppressions", func(scan db.Scan) (x Suppression, err error) {
		var created int64
		err = scan(&x.Number, &x.Type, &x.Reason, &x.Author, &created)
		x.CreatedAt = db.Instant(created)
		return x, err
	}, suppressionPage, companyID, after, begin, begin+":", limit) // the character after the digits
}

// Suppression is one number of a company's list. Errors: not_found.
func (s *Store) Suppression(ctx context.Context, companyID, number string) (*Suppression, error) {
	x := &Suppression{Number: number}
	var created int64
	err := s.d.Row(ctx, []any{&x.Type, &x.Reason, &x.Author, &created}, "SELECT type, reason, author, created_at FROM suppression WHERE company_id = $1 AND number = $2", companyID, number)
	if err != nil {
		return nil, db.Absent(err, "Suppression")
	}
	x.CreatedAt = db.Instant(created)
	return x, nil
}

// errFirst says that a company's first suppression must invalidate caches.
var errFirst = errors.New("the company has no suppressions yet")

// Suppress adds numbers to a company's list, as AddSuppressions does.
func (s *Store) Suppress(ctx context.Context, companyID string, of Type, reason string, now time.Time, numbers ...string) error {
	_, err := s.AddSuppressions(ctx, companyID, Suppression{Type: of, Reason: reason, CreatedAt: now}, numbers...)
	return err
}

// AddSuppressions adds numbers to a company's list, each as x says, and returns how many it added or changed. One that is on it already is
// left unchanged, but for a suppression of marketing that All replaces. Only the first number of a list invalidates caches, because of Company.Suppresses; a removal never does: a stale
// Suppresses costs only a look-up.
func (s *Store) AddSuppressions(ctx context.Context, companyID string, x Suppression, numbers ...string) (added int, err error) {
	ctx = context.WithoutCancel(ctx) // what was committed must invalidate the caches
	c, err := s.companies.Company(ctx, companyID)
	if err != nil {
		return 0, err
	}
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	if c.Suppresses {
		err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := lockCompany(ctx, tx, companyID); err != nil {
				return err
			}
			var some bool
			err := tx.Row(ctx, []any{&some}, "SELECT MIN(number) IS NOT NULL FROM suppression WHERE company_id = $1", companyID)
			if err == nil && !some {
				err = errFirst
			}
			if err != nil {
				return err
			}
			added, err = put(ctx, tx, companyID, x, numbers...)
			return err
		})
	}
	if !c.Suppresses || errors.Is(err, errFirst) {
		err = s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
			if err := lockCompany(ctx, tx.Tx, companyID); err != nil {
				return err
			}
			tx.Changes(companyID)
			added, err = put(ctx, tx.Tx, companyID, x, numbers...)
			return err
		})
	}
	return added, db.Wrap(err, "suppress numbers")
}

// lockCompany serializes changes of one company's list.
func lockCompany(ctx context.Context, tx *db.Tx, companyID string) error {
	n, err := tx.Exec(ctx, "UPDATE company SET updated_at = updated_at WHERE id = $1", companyID)
	if err != nil {
		return fmt.Errorf("lock company: %w", err)
	}
	if n == 0 {
		return carillon.Absent("Company")
	}
	return nil
}

// PutSuppressions adds numbers inside a change of configuration, as Suppress does.
func (t *Tx) PutSuppressions(ctx context.Context, companyID string, of Type, reason string, now time.Time, numbers ...string) error {
	t.tx.Changes(companyID)
	_, err := put(ctx, t.tx.Tx, companyID, Suppression{Type: of, Reason: reason, CreatedAt: now}, numbers...)
	return err
}

// wider replaces a suppression of marketing by one of all types, and nothing else.
const wider = `ON CONFLICT (company_id, number) DO UPDATE SET type = excluded.type, reason = excluded.reason, author = excluded.author,
	created_at = excluded.created_at WHERE suppression.type = 'marketing' AND excluded.type = 'all'`

// put adds numbers and returns how many it added or changed.
func put(ctx context.Context, tx *db.Tx, companyID string, x Suppression, numbers ...string) (added int, err error) {
	before, err := same(ctx, tx, companyID, x, numbers)
	if err != nil {
		return 0, err
	}
	b := db.NewBulk("suppression", wider, "company_id:text", "number:text", "type:text", "reason:text", "author:text", "created_at:bigint")
	for _, number := range numbers {
		b.Add(companyID, number, string(x.Type), x.Reason, x.Author, db.Millis(x.CreatedAt))
	}
	if err := b.Write(ctx, tx); err != nil {
		return 0, err
	}
	after, err := same(ctx, tx, companyID, x, numbers)
	if err != nil || after == before {
		return 0, err
	}
	return after - before, Record(ctx, tx, companyID, audit.Added, x, numbers)
}

// numbersShown is how many numbers are recorded of a change.
const numbersShown = 20

// Record records that numbers were added to a company's list or lifted from it.
func Record(ctx context.Context, tx *db.Tx, companyID string, action audit.Action, x Suppression, numbers []string) error {
	e := audit.Entry{CompanyID: companyID, Kind: audit.Suppression, Action: action}
	doc := map[string]any{"type": x.Type, "reason": x.Reason, "amount": len(numbers), "numbers": strings.Join(numbers[:min(len(numbers), numbersShown)], ", ")}
	if len(numbers) == 1 {
		e.ID, e.Name = numbers[0], numbers[0]
		delete(doc, "amount")
		delete(doc, "numbers")
	} else {
		e.Name = strconv.Itoa(len(numbers))
	}
	if e.After = doc; action == audit.Lifted {
		e.Before, e.After = doc, nil
	}
	if by := audit.AuthorOf(ctx); by.Kind == "" && by.Origin == audit.System { // the recipient asked for it
		ctx = audit.By(ctx, audit.Author{Origin: audit.Channel})
	}
	return audit.Record(ctx, tx, time.Now(), e)
}

// same counts the numbers that are on the list for what x says.
func same(ctx context.Context, tx *db.Tx, companyID string, x Suppression, numbers []string) (n int, err error) {
	err = tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM suppression WHERE company_id = $1 AND type IN ($2, 'all') AND number "+tx.DB().In(3),
		companyID, string(x.Type), tx.DB().List(numbers))
	return n, err
}

// Unsuppress removes a number from a company's list; false: it was not there.
func (s *Store) Unsuppress(ctx context.Context, companyID, number string) (removed bool, err error) {
	err = s.d.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		if err := lockCompany(ctx, tx, companyID); err != nil {
			return err
		}
		x := Suppression{Number: number}
		err := tx.Row(ctx, []any{&x.Type, &x.Reason}, "DELETE FROM suppression WHERE company_id = $1 AND number = $2 RETURNING type, reason", companyID, number)
		if removed = err == nil; !removed {
			return db.Ignore(err)
		}
		return Record(ctx, tx, companyID, audit.Lifted, x, []string{number})
	})
	return removed, db.Wrap(err, "remove suppression")
}

// OptOuts are the numbers of messages whose recipients asked for no more marketing, for one company's sender.
func (s *Store) OptOuts(ctx context.Context, senderUID int64, receipts []provider.Receipt) ([]string, error) {
	var numbers []string
	for i := range receipts {
		r := &receipts[i]
		if !r.OptOut {
			continue
		}
		var number string
		err := s.d.Row(ctx, []any{&number}, "SELECT number FROM message WHERE id = $1 AND sender = $2",
			int64(r.Ref.Key()), senderUID)
		if err := db.Ignore(err); err != nil {
			return nil, fmt.Errorf("look up opt-outs: %w", err)
		}
		if number != "" {
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}
