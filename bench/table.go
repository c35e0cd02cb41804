package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
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

// write makes the page of results. load is the machine's load before the run: what else it had to do.
func (t *table) write(name string, rounds int, load string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured figures\n\nMade by `make bench`, which `bench/` is. %s, commit %s, %d cores, %s, %d rounds,\n"+
		"load average before the run %s.\n\n"+
		"A ratio is the median of the rounds' ratios to the yardstick that ran beside it: H a bare handler that decodes the\n"+
		"same body, C a bare client that posts the same message, F the disk's fdatasync, K the bare password hash.\n\n",
		time.Now().UTC().Format(time.DateOnly), commit(), runtime.NumCPU(), runtime.Version(), rounds, load)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range t.rows {
		if len(r.values) > 0 {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(r.cells(), " | "))
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
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
