package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one figure: its value in each round, and the yardstick's value in the same round.
type row struct {
	figure, unit string
	yardstick    string // empty if there is none
	floor        floor
	values       []float64
	yardsticks   []float64
}

// floor is the limit that a figure must keep. The zero value is no limit.
type floor struct {
	limit float64
	isMin bool // the limit is a minimum, otherwise a maximum
	ratio bool // the limit applies to the ratio to the yardstick, otherwise to the value
	exact bool // no tolerance
	set   bool
}

func minRatio(limit float64) floor { return floor{limit, true, true, false, true} }
func maxRatio(limit float64) floor { return floor{limit: limit, ratio: true, set: true} }
func minFloor(limit float64) floor { return floor{limit: limit, isMin: true, set: true} }
func maxFloor(limit float64) floor { return floor{limit: limit, set: true} }

// tolerance is the share by which a figure may miss its floor on a noisy machine and still hold.
const tolerance = 0.1

// verdict compares a figure with the floor.
func (f floor) verdict(value float64) string {
	beyond := value > f.limit
	far := value > f.limit*(1+tolerance)
	if f.isMin {
		beyond, far = value < f.limit, value < f.limit*(1-tolerance)
	}
	switch {
	case !f.set:
		return ""
	case !beyond:
		return "ok"
	case !far && !f.exact:
		return "ok, within 10 %"
	}
	return "BELOW"
}

func (f floor) String() string {
	switch {
	case !f.set:
		return ""
	case f.isMin:
		return "≥ " + show(f.limit)
	}
	return "≤ " + show(f.limit)
}

func (r *row) add(value, yardstick float64) {
	r.values = append(r.values, value)
	r.yardsticks = append(r.yardsticks, yardstick)
}

// ratio returns the median of the rounds' ratios, or 0 without a yardstick.
func (r *row) ratio() float64 {
	var all []float64
	for i, v := range r.values {
		if r.yardsticks[i] != 0 {
			all = append(all, v/r.yardsticks[i])
		}
	}
	return median(all)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func (r *row) cells() []string {
	m, ratio := median(r.values), r.ratio()
	yardstick, shown, judged := "", "", m
	if r.yardstick != "" {
		yardstick, shown = r.yardstick+" "+show(median(r.yardsticks)), strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	if r.floor.ratio {
		judged = ratio
	}
	return []string{
		r.figure, r.unit, show(m), show(slices.Min(r.values)), show(slices.Max(r.values)), yardstick, shown, r.floor.String(),
		r.floor.verdict(judged),
	}
}

func show(v float64) string {
	if v >= 100 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// table collects the rows of a run.
type table struct {
	rows    []*row
	printed int
}

// add adds a row and returns it.
func (t *table) add(r row) *row {
	t.rows = append(t.rows, &r)
	return &r
}

// markdown writes the measured rows.
func (t *table) markdown(w io.Writer) {
	t.printed = 0
	t.print(w)
}

// print writes the rows that were measured since the last call, the first time with the heads of the columns.
func (t *table) print(w io.Writer) {
	if t.printed == 0 {
		_, _ = io.WriteString(w, "| Figure | Unit | Median | Min | Max | Yardstick | Ratio | Floor | Holds "+
			"|\n|---|---|---|---|---|---|---|---|---|\n")
	}
	for _, r := range t.rows[t.printed:] {
		if len(r.values) > 0 {
			_, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(r.cells(), " | "))
		}
	}
	t.printed = len(t.rows)
}

// method explains the figures on the results page.
//
//go:embed method.md
var method string

// writeResults writes the results page of a complete run.
func (b *bench) writeResults(name string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# Measured figures\n\nMade by `make bench`. %s, commit %s, %d cores, %s, %d rounds.\n\n%s\n",
		time.Now().UTC().Format(time.DateOnly), commit(), runtime.NumCPU(), runtime.Version(), b.rounds, method)
	b.table.markdown(&text)
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
