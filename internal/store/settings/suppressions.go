package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Companies finds companies; accounts.Store is one.
type Companies interface {
	Company(ctx context.Context, id string) (*carillon.Company, error)
}

// Suppressions is the SQL of the people whom a company's messages and calls skip. A row is a number, with the channel's
// id of the person if known, or an id alone. A person is matched by any form of a number. Its methods are safe for
// concurrent use.
type Suppressions struct {
	d         *db.DB
	config    *configure.Configuration
	companies Companies
}

// NewSuppressions returns the store of a database.
func NewSuppressions(d *db.DB, c *configure.Configuration, companies Companies) *Suppressions {
	return &Suppressions{d: d, config: c, companies: companies}
}

// SuppressionType is the type of suppressed messages.
type SuppressionType string

// The types. All includes Marketing.
const (
	SuppressAll       SuppressionType = "all"
	SuppressMarketing SuppressionType = "marketing"
)

// OptedOut is the reason of an opt-out by the recipient at the channel.
const OptedOut = "opted_out"

// AskedByCaller is the reason of an opt-out during a call from the number, which can be spoofed.
const AskedByCaller = "asked by a caller"

// Suppression is a person whom a company's messages and calls skip: all types, or marketing only.
type Suppression struct {
	Number    string // empty if unknown
	UserID    string // the channel's id of the person; empty if unknown
	Type      SuppressionType
	Reason    string
	Author    string // e-mail address of the user who added it in the panel; empty for none
	CreatedAt time.Time
}

// Address is the sort key of a list: the number, or the channel's id if the number is unknown.
func (x *Suppression) Address() string {
	if x.Number != "" {
		return x.Number
	}
	return x.UserID
}

// Suppressed returns the suppressed people among the recipients of a request of the given class, by any form of a
// number. Callers skip it if Company.Suppresses is false.
func (s *Suppressions) Suppressed(
	ctx context.Context, companyID string, class carillon.Class, people []identity.Key,
) (map[identity.Key]bool, error) {
	if len(people) == 0 {
		return nil, nil
	}
	type query struct {
		text   string
		values []string
	}
	lines := query{text: "SELECT number FROM suppression WHERE company_id = $1 AND number " + s.d.In(2)}
	ids := query{text: "SELECT user_id FROM suppression WHERE " + suppressionByID + s.d.In(2)}
	for _, k := range people {
		if k.IsLine() {
			lines.values = append(lines.values, k.Forms()...)
		} else if !k.IsZero() {
			ids.values = append(ids.values, k.String())
		}
	}
	found := make(map[identity.Key]bool, len(people))
	for _, q := range []query{lines, ids} {
		if len(q.values) == 0 {
			continue
		}
		if class != carillon.Marketing {
			q.text += " AND type = 'all'"
		}
		err := db.Each(ctx, s.d, func(scan db.Scan) error {
			var address string
			err := scan(&address)
			found[identity.Of(address)] = true
			return err
		}, q.text, companyID, s.d.List(q.values))
		if err != nil {
			return nil, db.Wrap(err, "look up suppressions")
		}
	}
	return found, nil
}

// suppressionByID is the condition of the index of ids: the concatenation keeps SQLite from reading the company's whole list.
const suppressionByID = "company_id || '' = $1 AND user_id <> '' AND user_id "

const suppressionColumns = "number, user_id, type, reason, author, created_at"

func scanSuppression(row db.Scan) (x Suppression, err error) {
	var created int64
	err = row(&x.Number, &x.UserID, &x.Type, &x.Reason, &x.Author, &created)
	if x.Number == x.UserID {
		x.Number = ""
	}
	x.CreatedAt = db.Instant(created)
	return x, err
}

// Suppressions returns a page of a company's list, by address, after the given one.
func (s *Suppressions) Suppressions(ctx context.Context, companyID, after string, limit int) ([]Suppression, error) {
	return s.SuppressionsFrom(ctx, companyID, "", after, limit)
}

// SuppressionsFrom returns a page of suppressions whose numbers begin with the given digits.
func (s *Suppressions) SuppressionsFrom(ctx context.Context, companyID, begin, after string, limit int) ([]Suppression, error) {
	end := "~" // sorts after every address
	if begin != "" {
		end = begin + ":" // the character after the digits
	}
	return db.Collect(ctx, s.d, "suppressions", scanSuppression, "SELECT "+suppressionColumns+` FROM suppression
		WHERE company_id = $1 AND number > $2 AND number >= $3 AND number < $4 ORDER BY number LIMIT $5`, companyID, after, begin,
		end, limit)
}

// Suppression returns one suppression of a company's list. Errors: not_found.
func (s *Suppressions) Suppression(ctx context.Context, companyID string, who identity.Key) (*Suppression, error) {
	all, err := db.Collect(ctx, s.d, "suppressions", scanSuppression,
		"SELECT "+suppressionColumns+" FROM suppression WHERE company_id = $1 AND number "+s.d.In(2),
		companyID, s.d.List(who.Forms()))
	if err == nil && len(all) == 0 {
		return nil, carillon.Absent("Suppression")
	}
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// errFirstSuppression means that a company's first suppression must invalidate caches.
var errFirstSuppression = errors.New("the company has no suppressions yet")

// Suppress adds people to a company's list, like AddSuppressions.
func (s *Suppressions) Suppress(ctx context.Context, companyID string, of SuppressionType, reason string, now time.Time,
	addresses ...string,
) error {
	_, err := s.AddSuppressions(ctx, companyID, Suppression{Type: of, Reason: reason, CreatedAt: now}, addresses...)
	return err
}

// AddSuppressions adds people to a company's list by their numbers or channel ids, with the properties of x and all
// identities of their contacts. It returns the number of given people who were added or changed. An existing
// suppression, by any form of the number, is left unchanged, except that All replaces Marketing. Only the first of a
// list invalidates caches, because of Company.Suppresses; a removal never does: a stale Suppresses costs only a
// lookup.
func (s *Suppressions) AddSuppressions(ctx context.Context, companyID string, x Suppression, addresses ...string) (added int, err error) {
	ctx = context.WithoutCancel(ctx) // committed changes must invalidate the caches
	c, err := s.companies.Company(ctx, companyID)
	if err != nil {
		return 0, err
	}
	addresses = slices.Compact(slices.Sorted(slices.Values(addresses)))
	if c.Suppresses {
		err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := lockCompany(ctx, tx, companyID); err != nil {
				return err
			}
			var some bool
			err := tx.Row(ctx, []any{&some}, "SELECT MIN(number) IS NOT NULL FROM suppression WHERE company_id = $1", companyID)
			if err == nil && !some {
				err = errFirstSuppression
			}
			if err != nil {
				return err
			}
			added, err = putSuppression(ctx, tx, companyID, x, addresses...)
			return err
		})
	}
	if !c.Suppresses || errors.Is(err, errFirstSuppression) {
		err = s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
			if err := lockCompany(ctx, tx.Tx, companyID); err != nil {
				return err
			}
			tx.Changes(companyID)
			added, err = putSuppression(ctx, tx.Tx, companyID, x, addresses...)
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

// PutSuppressions adds people inside a change of configuration, as Suppress does.
func PutSuppressions(ctx context.Context, tx *configure.Tx, companyID string, of SuppressionType, reason string, now time.Time,
	addresses ...string,
) error {
	tx.Changes(companyID)
	_, err := putSuppression(ctx, tx.Tx, companyID, Suppression{Type: of, Reason: reason, CreatedAt: now}, addresses...)
	return err
}

// numbersShown is the number of phone numbers recorded with a change.
const numbersShown = 20

// RecordSuppression records that numbers were added to or lifted from a company's list.
func RecordSuppression(ctx context.Context, tx *db.Tx, companyID string, action audit.Action, x Suppression, numbers []string) error {
	e := audit.Entry{CompanyID: companyID, Kind: audit.Suppression, Action: action}
	doc := map[string]any{
		"type": x.Type, "reason": x.Reason, "amount": len(numbers),
		"numbers": strings.Join(numbers[:min(len(numbers), numbersShown)], ", "),
	}
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

// Unsuppress removes a person from a company's list, by any of their identities. It reports whether they were listed.
func (s *Suppressions) Unsuppress(ctx context.Context, companyID string, who identity.Key) (removed bool, err error) {
	err = s.d.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		removed = false
		if err := lockCompany(ctx, tx, companyID); err != nil {
			return err
		}
		people, err := knownPeople(ctx, tx, companyID, []identity.Key{who})
		if err != nil {
			return err
		}
		gone, err := liftSuppressions(ctx, tx, companyID, people, func(*Suppression) bool { return true })
		if err != nil || len(gone) == 0 {
			return err
		}
		removed = true
		return RecordSuppression(ctx, tx, companyID, audit.Lifted, gone[0], addressesOf(gone))
	})
	return removed, db.Wrap(err, "remove suppression")
}

// OptOuts returns the numbers of messages whose recipients opted out of marketing, for one company's sender.
func (s *Suppressions) OptOuts(ctx context.Context, senderUID int64, receipts []provider.Receipt) ([]string, error) {
	var numbers []string
	for i := range receipts {
		if !receipts[i].OptOut {
			continue
		}
		number, err := s.NumberOf(ctx, senderUID, receipts[i].Ref)
		if err != nil {
			return nil, err
		}
		if number != "" {
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

// NumberOf returns the number of a message's recipient; "" if the message is not the sender's.
func (s *Suppressions) NumberOf(ctx context.Context, senderUID int64, ref provider.Ref) (number string, err error) {
	err = s.d.Row(ctx, []any{&number}, "SELECT number FROM message WHERE id = $1 AND sender = $2", int64(ref.Key()), senderUID)
	return number, db.Wrap(db.Ignore(err), "find the number of a message")
}
