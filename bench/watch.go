package main

import (
	"context"
	"fmt"
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

func (n *soaked) look(ctx context.Context) (sample, error) {
	x := sample{life: n.life}
	bytes, err := n.rss()
	if err != nil {
		return x, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.cmd.Process.Pid))
	if err != nil {
		return x, err
	}
	goroutines, err := n.metric(ctx, "go_goroutines")
	x.values = [3]float64{bytes / 1e6, goroutines, float64(len(open))}
	return x, err
}

// flatness tells whether a value stays what it is: over the run, from life to life of the nodes, and within a life.
type flatness struct {
	name           string
	median         float64
	overRun        float64 // growth from the first to the last life, in %, by the median slope between lives
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

// judge looks at one of the values, whose index in watched is which.
func (s *soak) judge(which int, name string) flatness {
	f := flatness{name: name}
	type life struct{ node, life int }
	byLife := map[life][]sample{}
	var all []float64
	for _, x := range s.samples {
		byLife[life{x.node, x.life}] = append(byLife[life{x.node, x.life}], x)
		all = append(all, x.values[which])
	}
	if len(all) == 0 {
		return f
	}
	f.median, f.least, f.highest = median(all), slices.Min(all), slices.Max(all)
	var ats, levels, within []float64
	for _, xs := range byLife {
		if len(xs) < 12 {
			continue // too short a life to have a level
		}
		quarter := func(k int) float64 {
			var v []float64
			for _, x := range xs[k*len(xs)/4 : (k+1)*len(xs)/4] {
				v = append(v, x.values[which])
			}
			return median(v)
		}
		ats, levels = append(ats, xs[0].at.Seconds()), append(levels, quarter(3))
		within = append(within, 100*(quarter(3)/quarter(1)-1))
	}
	f.lives = len(ats)
	if f.lives >= 2 {
		f.overRun = 100 * medianSlope(ats, levels) * (slices.Max(ats) - slices.Min(ats)) / median(levels)
		f.withinLife = median(within)
	}
	f.flat = f.lives >= 2 && f.overRun <= maxOverRun && f.withinLife <= maxInLife
	return f
}

// medianSlope is the median of the slopes between all pairs of points (Theil and Sen), which outliers do not bend.
func medianSlope(x, y []float64) float64 {
	var slopes []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	return median(slopes)
}
