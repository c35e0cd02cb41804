package bulk

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/number"
	"carillon/internal/store/messages"
)

const checksSaved = 20 // batches per save

// check checks the rows of a job from the beginning. It cannot continue an interrupted check, because the lines
// already seen are kept only in memory.
func (x *Jobs) check(ctx context.Context, v *View) error {
	v.Done, v.Result = 0, Result{Faults: map[string]int{}}
	t, err := x.template(ctx, v.CompanyID, &v.Settings)
	if err != nil {
		return x.fails(ctx, v, err)
	}
	company, err := x.o.Store.Accounts.Company(ctx, v.CompanyID)
	if err != nil {
		return err
	}
	c := checking{x: x, v: v, template: t, company: company, seen: make(map[identity.Key]int, v.Total)}
	c.class, _ = carillon.ParseClass(v.Settings.Type)
	var waiting []messages.JobCheck
	for v.Done < v.Batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := c.batch(ctx, v.Done)
		if err != nil {
			return err
		}
		waiting = append(waiting, found)
		if v.Done++; len(waiting) == checksSaved || v.Done == v.Batches {
			if v.Done == v.Batches {
				v.State, v.Owner, v.ChangedAt = messages.JobChecked, "", time.Now()
			}
			if err := x.hold(ctx, v, waiting...); err != nil {
				return err
			}
			waiting = waiting[:0]
		}
	}
	return nil
}

// fails turns a job that cannot be checked into a draft again if its settings are at fault.
func (x *Jobs) fails(ctx context.Context, v *View, err error) error {
	if reason, detail, ours := reasonOf(err); ours {
		v.State, v.Reason, v.Detail, v.Owner, v.ChangedAt = messages.JobDraft, reason, detail, "", time.Now()
		return x.save(ctx, v)
	}
	return err
}

// checking is a check in progress.
type checking struct {
	x        *Jobs
	v        *View
	template *carillon.Template
	company  *carillon.Company
	class    carillon.Class
	seen     map[identity.Key]int // row number by line of each recipient so far
}

// batch checks the rows of a batch: first the number, then the values of the template, then whether the recipient is
// suppressed or a duplicate.
func (c *checking) batch(ctx context.Context, n int) (messages.JobCheck, error) {
	rows, err := c.x.batch(ctx, c.v, n)
	if err != nil {
		return messages.JobCheck{}, err
	}
	bad := map[int]fault{}
	people := make([]identity.Key, len(rows)) // rows without a valid address have the zero key
	for i, r := range rows {
		address, cleaned, reason := c.v.Settings.address(r)
		if reason != "" {
			bad[i] = fault{i, reason, carillon.Shorten(r.Cells[c.v.Settings.Number])}
			continue
		}
		if people[i] = identity.Of(address); cleaned {
			c.v.Result.Cleaned++
		}
	}
	for _, f := range c.v.Settings.unfit(c.template, rows, bad) {
		bad[f.I] = f
	}
	suppressed := map[identity.Key]bool{}
	if c.company.Suppresses {
		if suppressed, err = c.x.o.Store.Suppressions.Suppressed(ctx, c.v.CompanyID, c.class, people); err != nil {
			return messages.JobCheck{}, err
		}
	}
	for i, r := range rows {
		if _, known := bad[i]; known {
			continue
		}
		switch line, twice := c.seen[people[i]]; {
		case suppressed[people[i]]:
			bad[i] = fault{I: i, Reason: Suppressed}
		case twice:
			bad[i] = fault{i, Duplicate, strconv.Itoa(line)}
		default:
			c.seen[people[i]] = r.Line
		}
	}
	return c.counted(n, len(rows), bad), nil
}

// counted adds a batch to the result.
func (c *checking) counted(n, rows int, bad map[int]fault) messages.JobCheck {
	found := messages.JobCheck{N: n, Good: rows - len(bad), Faulty: len(bad), Faults: faultsText(bad)}
	c.x.o.Observer.Checked(found.Good, found.Faulty)
	c.v.Result.Rows += rows
	c.v.Result.Good += found.Good
	for _, f := range bad {
		c.v.Result.Faults[f.Reason]++
	}
	return found
}

func faultsText(bad map[int]fault) string {
	if len(bad) == 0 {
		return ""
	}
	list := make([]fault, 0, len(bad))
	for _, f := range bad {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b fault) int { return a.I - b.I })
	return write(list)
}

// address returns the phone number of a row, or the channel's id of a person: in the column of numbers, or in that of ids if
// there is no number. cleaned and fault are those of cleanNumber.
func (s *Settings) address(r row) (address string, cleaned bool, fault string) {
	cell := strings.TrimSpace(r.Cells[s.Number])
	if column, there := s.Fields[userID]; there && cell == "" {
		cell = strings.TrimSpace(r.Cells[column])
	}
	if identity.ValidUser(cell) {
		return cell, false, ""
	}
	return cleanNumber(r.Cells[s.Number])
}

// cleanNumber returns the phone number in a cell and whether it had to be cleaned. fault is the reason if it is not a
// number.
func cleanNumber(cell string) (digits string, cleaned bool, fault string) {
	digits, err := number.Clean(cell)
	switch {
	case errors.Is(err, number.ErrMissing):
		return "", false, NumberMissing
	case errors.Is(err, number.ErrAmount):
		return "", false, NumberAmount
	case err != nil:
		return "", false, NumberInvalid
	}
	return digits, digits != cell, ""
}
