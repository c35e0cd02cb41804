package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"time"
)

// processor is what the machine's processors have done since it started, in ticks: a virtual machine's host withholds some
// of the time that is asked for, and a figure taken meanwhile says as much about its other guests.
type processor struct{ ran, stolen int64 }

// readProcessor gives zeros where the kernel does not tell.
func readProcessor() (p processor) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return processor{}
	}
	defer f.Close()
	var user, nice, system, idle, wait, irq, soft int64
	if _, err := fmt.Fscanf(bufio.NewReader(f), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &p.stolen); err != nil {
		return processor{}
	}
	p.ran = user + nice + system + irq + soft
	return p
}

// withheld is the part of the time asked for since before, in percent, that the host gave to others.
func (p processor) withheld(before processor) float64 {
	ran, stolen := p.ran-before.ran, p.stolen-before.stolen
	if ran+stolen == 0 {
		return 0
	}
	return 100 * float64(stolen) / float64(ran+stolen)
}

// speed is how many megabytes a second one of the processors puts through SHA-256 while it is let: the best of a few short
// looks, of which none need be interrupted. A virtual machine's falls when its neighbours share the core, and no counter of
// the kernel tells.
func speed() float64 {
	block := make([]byte, 1<<18)
	best := time.Duration(math.MaxInt64)
	for range 12 {
		from := time.Now()
		sha256.Sum256(block)
		best = min(best, max(time.Since(from), 1))
	}
	return float64(len(block)) / 1e6 / best.Seconds()
}
