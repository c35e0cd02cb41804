package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
)

// sample is what a node takes at one instant.
type sample struct {
	at         time.Duration
	node, life int
	resting    bool       // there was no load
	values     [3]float64 // in the order of watched
}

// watched are what a sample holds.
func watched() [3]string { return [3]string{memory: "Memory, MB", "Goroutines", "File descriptors"} }

const memory = 0 // its index in watched

// watch takes a sample of every node each second.
func (s *soak) watch(ctx context.Context) error {
	for {
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
		s.mu.Lock()
		nodes := slices.Clone(s.nodes)
		s.mu.Unlock()
		for i, n := range nodes {
			x, err := n.look(ctx)
			s.mu.Lock()
			if err == nil && !n.down { // a node that is being restarted cannot be looked at
				x.node, x.at, x.resting = i, time.Since(s.begin), s.resting
				s.samples = append(s.samples, x)
			}
			s.mu.Unlock()
		}
	}
}

const (
	// restOf is how long nobody asks for anything until nodes are looked at at rest. Connections to the channel that nobody
	// uses are closed after 45 to 90 s, and outcomes that are unknown are decided after as long as the set-up says.
	restOf      = 95 * time.Second
	looksAtRest = 5 // a second apart
)

// lookAtRest waits until all is delivered and the nodes have rested, and looks at them: what they have now they keep.
func (s *soak) lookAtRest(ctx context.Context) error {
	s.say("no load for %s", restOf)
	if err := s.quiet(ctx); err != nil {
		return err
	}
	if err := rest(ctx, restOf); err != nil {
		return err
	}
	looks := make([][]sample, len(s.nodes))
	for range looksAtRest {
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
		for i, n := range s.nodes { // none is restarted without load
			x, err := n.look(ctx)
			if err != nil {
				return err
			}
			looks[i] = append(looks[i], x)
		}
	}
	kept := make([]sample, len(s.nodes))
	for i, xs := range looks {
		kept[i].at = time.Since(s.begin)
		for which := range len(kept[i].values) {
			kept[i].values[which] = level(xs, which)
		}
	}
	s.atRest = append(s.atRest, kept)
	return nil
}

func (n *soaked) look(ctx context.Context) (sample, error) {
	x := sample{life: n.life}
	resident, err := n.megabytes()
	if err != nil {
		return x, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.cmd.Process.Pid))
	if err != nil {
		return x, err
	}
	goroutines, err := n.metric(ctx, "go_goroutines")
	x.values = [3]float64{resident, goroutines, float64(len(open))}
	return x, err
}

// What counts as flat, in %.
const (
	maxGrowth = 10
	maxInLife = 25 // a life begins with empty caches and pools
)

// judgeAtRest tells by how many percent one of the values of a node grew from the first rest after load to the last, and
// whether that is flat; too few rests tell nothing. What a node keeps, it has at rest too; what belongs to requests in
// flight is gone.
func (s *soak) judgeAtRest(node, which int) (grown span, verdict string) {
	if len(s.atRest) < 4 {
		return span{}, "too short"
	}
	var levels [][2]float64
	for _, kept := range s.atRest[1:] { // the first is before the load
		levels = append(levels, [2]float64{kept[node].at.Seconds(), kept[node].values[which]})
	}
	grown = growth(levels)
	return grown, verdictOf(grown.mid <= maxGrowth)
}

func verdictOf(flat bool) string { return map[bool]string{true: "ok", false: "no"}[flat] }

// underLoad tells whether a value of a node under load stays what it is: over the run, and from life to life and within
// each where the node was restarted.
type underLoad struct {
	median, least, highest float64
	overRun                span    // growth over the run, in %
	withinLife             float64 // growth from the second to the last quarter of a life, in %, median of all lives
	lives                  int
	verdict                string
}

// judgeUnderLoad looks at one of the values of a node while there was load; which is the value's index in watched. How
// many goroutines and connections requests in flight have goes with the latency, by the second; so of these what would be
// a queue that grows as long as there is load must be shown, by the lower end of the interval. Memory goes by the estimate.
func (s *soak) judgeUnderLoad(node, which int) underLoad {
	u := underLoad{verdict: "too short"}
	lives := map[int][]sample{}
	var all []float64
	for _, x := range s.samples {
		if x.node == node && !x.resting {
			lives[x.life] = append(lives[x.life], x)
			all = append(all, x.values[which])
		}
	}
	if len(all) == 0 {
		return u
	}
	flat := func() bool {
		if which == memory {
			return u.overRun.mid <= maxGrowth
		}
		return u.overRun.low <= maxGrowth
	}
	u.median, u.least, u.highest = median(all), slices.Min(all), slices.Max(all)
	if node < s.restarting() {
		u.lives, u.overRun = 1, growth(parts(lives[0], which))
		u.verdict = verdictOf(flat())
		return u
	}
	var levels [][2]float64
	var within []float64
	for _, xs := range lives {
		if len(xs) < 12 {
			continue // too short a life to have a level
		}
		quarter := func(k int) float64 { return level(xs[k*len(xs)/4:(k+1)*len(xs)/4], which) }
		levels = append(levels, [2]float64{xs[0].at.Seconds(), level(xs[len(xs)/2:], which)})
		within = append(within, 100*(quarter(3)/quarter(1)-1))
	}
	if u.lives = len(levels); u.lives >= 2 {
		u.overRun, u.withinLife = growth(levels), median(within)
		u.verdict = verdictOf(flat() && u.withinLife <= maxInLife)
	}
	return u
}

// partsOfRun is into how many parts the run of a node is cut that is never restarted, without a tenth at its beginning.
const partsOfRun = 30

func parts(xs []sample, which int) [][2]float64 {
	xs = xs[len(xs)/10:]
	n := min(partsOfRun, len(xs))
	all := make([][2]float64, n)
	for k := range all {
		part := xs[k*len(xs)/n : (k+1)*len(xs)/n]
		all[k] = [2]float64{part[0].at.Seconds(), level(part, which)}
	}
	return all
}

func level(xs []sample, which int) float64 {
	var v []float64
	for _, x := range xs {
		v = append(v, x.values[which])
	}
	return median(v)
}

// span is an estimate with its 95 % interval.
type span struct{ mid, low, high float64 }

func (s span) String() string { return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", s.mid, s.low, s.high) }

// growth is by how many percent levels, each with its instant, rose from the first to the last, by the median of the slopes
// between all pairs of them (Theil and Sen), which outliers do not bend, with the interval that Kendall's distribution gives it.
func growth(levels [][2]float64) span {
	var at, v, slopes []float64
	for i, l := range levels {
		at, v = append(at, l[0]), append(v, l[1])
		for _, before := range levels[:i] {
			if l[0] != before[0] {
				slopes = append(slopes, (l[1]-before[1])/(l[0]-before[0]))
			}
		}
	}
	slices.Sort(slopes)
	n, pairs := float64(len(levels)), float64(len(slopes))
	off := 1.96 * math.Sqrt(n*(n-1)*(2*n+5)/18)
	at95 := func(k float64) float64 { return slopes[int(min(max(k, 0), pairs-1))] }
	percent := 100 * (slices.Max(at) - slices.Min(at)) / median(v)
	return span{percent * median(slopes), percent * at95((pairs-off)/2), percent * at95((pairs+off)/2)}
}
