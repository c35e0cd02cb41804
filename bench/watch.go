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
	at, age    time.Duration
	node, life int
	values     [3]float64 // in the order of watched
}

// watched are what a sample holds.
func watched() [3]string { return [3]string{"Memory, MB", "Goroutines", "File descriptors"} }

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
				x.node, x.at, x.age = i, time.Since(s.begin), time.Since(n.since)
				s.samples = append(s.samples, x)
			}
			s.mu.Unlock()
		}
	}
}

// restOf is how long a node is left alone until it is looked at at rest: what nobody uses is closed meanwhile, and outcomes
// that are unknown are decided.
const restOf = 58 * time.Second

// lookAtRest looks at the node that stays once it has rested; when is 0 before the load and 1 after it.
func (s *soak) lookAtRest(ctx context.Context, when int) error {
	if err := rest(ctx, restOf); err != nil {
		return err
	}
	if s.restarting() == 0 {
		return nil // none stays
	}
	var err error
	s.atRest[when], err = s.nodes[0].look(ctx)
	return err
}

func (n *soaked) look(ctx context.Context) (sample, error) {
	x := sample{life: n.life}
	memory, err := n.megabytes()
	if err != nil {
		return x, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.cmd.Process.Pid))
	if err != nil {
		return x, err
	}
	goroutines, err := n.metric(ctx, "go_goroutines")
	x.values = [3]float64{memory, goroutines, float64(len(open))}
	return x, err
}

// flatness tells whether a value of a node stays what it is: over the run, and from life to life and within each where
// the node was restarted.
type flatness struct {
	name           string
	median         float64
	overRun        span    // growth over the run, in %
	withinLife     float64 // growth from the second to the last quarter of a life, in %, median of all lives
	lives          int
	flat           bool
	least, highest float64
}

// What counts as flat, in %. A life begins with empty caches and pools, so that it may grow more than the run may.
const (
	maxOverRun = 10
	maxInLife  = 25
)

// judge looks at one of the values of a node; which is the value's index in watched.
func (s *soak) judge(node, which int, name string) flatness {
	f := flatness{name: name}
	lives := map[int][]sample{}
	var all []float64
	for _, x := range s.samples {
		if x.node == node {
			lives[x.life] = append(lives[x.life], x)
			all = append(all, x.values[which])
		}
	}
	if len(all) == 0 {
		return f
	}
	f.median, f.least, f.highest = median(all), slices.Min(all), slices.Max(all)
	if node < s.restarting() {
		f.lives, f.overRun = 1, growth(parts(lives[0], which))
		f.flat = f.overRun.mid <= maxOverRun
		return f
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
	if f.lives = len(levels); f.lives >= 2 {
		f.overRun, f.withinLife = growth(levels), median(within)
		f.flat = f.overRun.mid <= maxOverRun && f.withinLife <= maxInLife
	}
	return f
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
