package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is one figure: its rounds, and its yardstick's in the same rounds.
type row struct {
	figure, how string
	yard        string // what the yardstick is; empty: none
	goal        string
	good        func(median, ratio float64) bool // nil: no goal
	values      []float64
	yards       []float64
}

func (r *row) add(value, yard float64) {
	r.values = append(r.values, value)
	r.yards = append(r.yards, yard)
}

// ratio is the median of the rounds' ratios.
func (r *row) ratio() float64 {
	var all []float64
	for i, v := range r.values {
		if r.yards[i] != 0 {
			all = append(all, v/r.yards[i])
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

// cells are the row as the table shows it.
func (r *row) cells() []string {
	m, ratio := median(r.values), r.ratio()
	c := []string{r.figure, r.how, show(m), show(slices.Min(r.values)), show(slices.Max(r.values)), "", "", r.goal, ""}
	if r.yard != "" {
		c[5], c[6] = r.yard+" "+show(median(r.yards)), strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	if r.good != nil {
		c[8] = "no"
		if r.good(m, ratio) {
			c[8] = "ok"
		}
	}
	return c
}

func show(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}

// atLeast and atMost are goals for the ratio, under and over for the median itself.
func atLeast(goal float64) func(_, ratio float64) bool {
	return func(_, ratio float64) bool { return ratio >= goal }
}

func atMost(goal float64) func(_, ratio float64) bool {
	return func(_, ratio float64) bool { return ratio <= goal }
}

func under(goal float64) func(median, _ float64) bool {
	return func(median, _ float64) bool { return median <= goal }
}

func over(goal float64) func(median, _ float64) bool {
	return func(median, _ float64) bool { return median >= goal }
}

// table gathers the rows of a run.
type table struct{ rows []*row }

func (t *table) add(rows ...*row) { t.rows = append(t.rows, rows...) }

var columns = []string{"Figure", "How", "Median", "Min", "Max", "Yardstick", "Ratio", "Goal", "Ok"}

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, strings.Join(columns, "\t"))
	for _, r := range t.rows {
		if len(r.values) > 0 {
			_, _ = fmt.Fprintln(tw, strings.Join(r.cells(), "\t"))
		}
	}
	_ = tw.Flush()
}

// markdown writes the table for a page.
func (t *table) markdown(w io.Writer) {
	_, _ = fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range t.rows {
		if len(r.values) > 0 {
			_, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(r.cells(), " | "))
		}
	}
}

// loadAverage is the system's, of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
