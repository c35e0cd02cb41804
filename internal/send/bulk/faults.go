package bulk

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/sheet"
	"carillon/internal/store/messages"
)

// BadRow is a row that is not sent.
type BadRow struct {
	Line   int      `json:"line"`
	Reason string   `json:"reason" enum:"faults"`
	Detail string   `json:"detail,omitempty"`
	Cells  []string `json:"cells"`
}

// Place is the position at which a list of bad rows continues: a batch and a row in it.
type Place struct{ Batch, Row int }

const checksRead = 100

// BadRows returns rows of a job that are not sent, in the order of the file, with long cells shortened. An empty
// reason matches every reason. more reports whether there are more rows, and next where they begin.
func (x *Jobs) BadRows(
	ctx context.Context, companyID, id, reason string, from Place, most int,
) (all []BadRow, next Place, more bool, err error) {
	v, err := x.Find(ctx, companyID, id)
	if err != nil {
		return nil, next, false, err
	}
	err = x.eachBad(ctx, v, reason, from, func(at Place, r BadRow) bool {
		if len(all) == most {
			next, more = at, true
			return false
		}
		for i, c := range r.Cells {
			r.Cells[i] = carillon.Shorten(c)
		}
		all = append(all, r)
		return true
	})
	return all, next, more, err
}

// eachBad calls read for each bad row until read returns false.
func (x *Jobs) eachBad(ctx context.Context, v *View, reason string, from Place, read func(at Place, r BadRow) bool) error {
	for {
		checks, err := x.o.Store.Bulk.Checks(ctx, v.CompanyID, v.ID, from.Batch, checksRead)
		if err != nil || len(checks) == 0 {
			return err
		}
		for _, c := range checks {
			if on, err := x.badOf(ctx, v, c, reason, from, read); err != nil || !on {
				return err
			}
			from = Place{c.N + 1, 0}
		}
	}
}

// badOf calls read for the bad rows of a batch.
func (x *Jobs) badOf(
	ctx context.Context, v *View, c messages.JobCheck, reason string, from Place, read func(at Place, r BadRow) bool,
) (on bool, err error) {
	known, err := faultsOf(c.Faults)
	if err != nil {
		return false, err
	}
	var wanted []fault
	for _, f := range known {
		if (reason == "" || f.Reason == reason) && (c.N > from.Batch || f.I >= from.Row) {
			wanted = append(wanted, f)
		}
	}
	if len(wanted) == 0 {
		return true, nil
	}
	slices.SortFunc(wanted, func(a, b fault) int { return a.I - b.I })
	rows, err := x.batch(ctx, v, c.N)
	if err != nil {
		return false, err
	}
	for _, f := range wanted {
		if f.I >= len(rows) {
			continue
		}
		if !read(Place{c.N, f.I}, BadRow{rows[f.I].Line, f.Reason, f.Detail, rows[f.I].Cells}) {
			return false, nil
		}
	}
	return true, nil
}

// WriteBad writes the bad rows of a job as a CSV file: their cells, their line numbers and the reasons. A cell that a
// spreadsheet would interpret as a formula is prefixed by an apostrophe.
func (x *Jobs) WriteBad(ctx context.Context, v *View, to io.Writer) error {
	b := bufio.NewWriter(to)
	_, _ = b.WriteString("\ufeff") // a byte order mark, so that spreadsheets read UTF-8; Flush reports errors
	w := csv.NewWriter(b)
	head := make([]string, 0, len(v.Settings.Columns)+3)
	for _, c := range v.Settings.Columns {
		head = append(head, sheet.Guarded(c.Name))
	}
	if err := w.Write(append(head, "line", "reason", "detail")); err != nil {
		return err
	}
	var failed error
	err := x.eachBad(ctx, v, "", Place{}, func(_ Place, r BadRow) bool {
		record := make([]string, 0, len(r.Cells)+3)
		for _, c := range r.Cells {
			record = append(record, sheet.Guarded(c))
		}
		failed = w.Write(append(record, strconv.Itoa(r.Line), r.Reason, sheet.Guarded(r.Detail)))
		return failed == nil
	})
	w.Flush()
	if err == nil {
		err = failed
	}
	if err == nil {
		err = w.Error()
	}
	if err == nil {
		err = b.Flush()
	}
	return err
}

// Sample is a row that is sent, with the values of the template's variables by component key.
type Sample struct {
	Line   int               `json:"line"`
	Number string            `json:"number"`
	UserID string            `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
	Values map[string]string `json:"values"`
}

// Samples returns rows of a job that are sent, beginning at the from-th good row, and their template.
func (x *Jobs) Samples(ctx context.Context, companyID, id string, from, most int) (all []Sample, t *carillon.Template, err error) {
	v, err := x.Find(ctx, companyID, id)
	if err != nil {
		return nil, nil, err
	}
	if v.Result.Rows < v.Total {
		return nil, nil, carillon.InConflict("The rows have not been checked yet")
	}
	if t, err = x.template(ctx, companyID, &v.Settings); err != nil {
		return nil, nil, err
	}
	for n := 0; n < v.Batches && len(all) < most; {
		checks, err := x.o.Store.Bulk.Checks(ctx, companyID, id, n, checksRead)
		if err != nil || len(checks) == 0 {
			return all, t, err
		}
		for _, c := range checks {
			if n = c.N + 1; from >= c.Good {
				from -= c.Good
				continue
			}
			good, err := x.goodOf(ctx, v, c)
			if err != nil {
				return nil, nil, err
			}
			for _, r := range good[min(from, len(good)):] {
				if len(all) < most {
					all = append(all, v.sample(t, r))
				}
			}
			if from = 0; len(all) == most {
				break
			}
		}
	}
	return all, t, nil
}

func (x *Jobs) goodOf(ctx context.Context, v *View, c messages.JobCheck) ([]row, error) {
	known, err := faultsOf(c.Faults)
	if err != nil {
		return nil, err
	}
	rows, err := x.batch(ctx, v, c.N)
	if err != nil {
		return nil, err
	}
	return without(rows, known), nil
}

// sample fills the template's values from a row. If the template has changed since the check and the row no longer
// fits, the values stay empty.
func (v *View) sample(t *carillon.Template, r row) Sample {
	address, _, _ := v.Settings.address(r)
	number, userID := identity.Split(address)
	s := Sample{r.Line, number, userID, map[string]string{}}
	req, err := v.Settings.fits(t, []row{r})
	if err != nil {
		return s
	}
	if c, err := req.Content(t, 0); err == nil {
		s.Values = content.Values(t, &c)
	}
	return s
}
