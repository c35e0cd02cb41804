package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon/bench/load"
)

// probe is a file that is added to the main package of each version: it serves the profiles of net/http/pprof.
//
//go:embed probe.txt
var probe []byte

// overlay writes the file with which go build adds the probe to a version, and returns the flag.
func (b *bench) overlay(dir string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(dir, "cmd", "carillon", "probe.go"))
	if err != nil {
		return "", err
	}
	source, list := filepath.Join(b.dir, "probe.go"), filepath.Join(b.dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{dir: source}})
	if err == nil {
		err = os.WriteFile(source, probe, 0o600)
	}
	if err == nil {
		err = os.WriteFile(list, text, 0o600)
	}
	return "-overlay=" + list, err
}

const (
	profiled      = 4 * time.Second // of accepting in a round
	profiledDrain = 40_000          // messages
)

// measureProfiles prints how much processor time a message takes, and of which parts of the program, for each version
// and engine. Profiling itself costs a few percent.
func (b *bench) measureProfiles(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	for _, s := range b.subjects() {
		for _, recipients := range []int{1, 100} {
			req := sendRequest(bulkKey, recipients, 600_000_000, never())
			x := b.newProfile(ctx, s, p.url, fmt.Sprintf("accept %d", recipients))
			must(closedLoop(ctx, x.n.addr, req, time.Second))
			for range b.rounds {
				x.run(profiled, func() int {
					return int(must(closedLoop(ctx, x.n.addr, req, profiled))*profiled.Seconds()) * recipients
				})
			}
			x.end()
		}
		x := b.newProfile(ctx, s, p.url, "deliver")
		for range b.rounds {
			dueAt := b.acceptDue(ctx, p, x.n, profiledDrain)
			check(load.Pause(ctx, time.Until(dueAt)-100*time.Millisecond))
			x.run(profiled, func() int {
				b.awaitDelivered(ctx, p, x.n, dueAt, profiledDrain)
				return profiledDrain
			})
		}
		x.end()
	}
}

// profile collects the profiles of one figure.
type profile struct {
	b                 *bench
	n                 *node
	name              string
	messages          int
	program, database int                // processor time, in ticks of 10 ms
	parts             map[string]float64 // seconds of the profile, by part of the program
}

// newProfile starts a version on an empty database.
func (b *bench) newProfile(ctx context.Context, s subject, providerURL, figure string) *profile {
	o := b.emptyOptions(ctx, s.engine, providerURL)
	o.tree, o.plain, o.ops = s.tree, true, freeAddress()
	o.env = []string{"CARILLON_PROBE=" + o.ops}
	return &profile{b: b, n: b.serve(ctx, o), name: figure + ", " + s.String(), parts: map[string]float64{}}
}

// run profiles a load, which returns its number of messages.
func (x *profile) run(d time.Duration, load func() int) {
	program, database := x.n.cpuTicks(), postgresTicks()
	var text []byte
	var beside sync.WaitGroup
	beside.Go(func() {
		url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", x.n.ops, d.Seconds())
		if resp, err := http.Get(url); err == nil {
			text, _ = io.ReadAll(resp.Body) // a missing profile is reported below
			_ = resp.Body.Close()
		}
	})
	x.messages += load()
	x.program += x.n.cpuTicks() - program
	x.database += postgresTicks() - database
	beside.Wait()
	file := filepath.Join(cmp.Or(x.b.profiles, x.b.dir), strings.NewReplacer(", ", "-", " ", "-").Replace(x.name)+".pprof")
	check(os.WriteFile(file, text, 0o600))
	cmd := exec.Command("go", "tool", "pprof", "-traces", x.n.tree.server, file)
	cmd.Stderr = os.Stderr
	for part, seconds := range partsOf(must(cmd.Output())) {
		x.parts[part] += seconds
	}
}

// end prints the time of a message, and of it that of each part with at least one percent, and stops the program.
func (x *profile) end() {
	defer x.b.discard(x.n)
	all, each := 0.0, func(ticks float64) float64 { return ticks * 1e4 / float64(x.messages) }
	for _, seconds := range x.parts {
		all += seconds
	}
	program := each(float64(x.program))
	fmt.Printf("\n%s: %.1f µs a message in the program, %.1f in PostgreSQL\n\n", x.name, program, each(float64(x.database)))
	byTime := func(a, b string) int { return cmp.Compare(x.parts[b], x.parts[a]) }
	for _, part := range slices.SortedFunc(maps.Keys(x.parts), byTime) {
		if share := x.parts[part] / all; share >= 0.01 {
			fmt.Printf("| %s | %.1f | %.0f %% |\n", part, share*program, 100*share)
		}
	}
}

// partsOf adds up the samples of a profile, printed as traces, by the innermost function that tells the part.
func partsOf(traces []byte) map[string]float64 {
	parts := map[string]float64{}
	for trace := range bytes.SplitSeq(traces, []byte("-----------+")) {
		var took time.Duration
		part := "runtime: scheduler, timers, polling"
		for i, line := range strings.Split(string(trace), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) > 1 && i == 0 {
				took, _ = time.ParseDuration(f[0]) // a heading has none
				f = f[1:]
			}
			if len(f) == 0 {
				continue
			}
			if name := partOf(f[0]); name != "" {
				part = name
				break
			}
		}
		if took > 0 {
			parts[part] += took.Seconds()
		}
	}
	return parts
}

// partOf returns the part of the program to which a function belongs, or "" for those that serve all parts.
func partOf(function string) string {
	for _, p := range []struct{ prefix, part string }{
		{"runtime.gcBgMarkWorker", "runtime: garbage collection"},
		{"runtime.bgsweep", "runtime: garbage collection"},
		{"runtime.gcAssistAlloc", "runtime: garbage collection"},
		{"net/http.", "net/http"}, {"net/textproto.", "net/http"}, {"net/http/", "net/http"},
		{"net.", "sockets"}, {"internal/poll.", "sockets"},
		{"database/sql.", "database/sql"}, {"modernc.org/", "SQLite"}, {"github.com/jackc/", "pgx"},
	} {
		if strings.HasPrefix(function, p.prefix) {
			return p.part
		}
	}
	path, own := strings.CutPrefix(function, "carillon/internal/")
	if !own {
		return ""
	}
	room, _, _ := strings.Cut(path, ".")
	return "carillon: " + room
}

// postgresTicks returns the processor time of all PostgreSQL sessions, in ticks of 10 ms.
func postgresTicks() (ticks int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte("(postgres)")) {
			continue // it has ended, or is another program
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
		user, _ := strconv.Atoi(f[12])
		system, _ := strconv.Atoi(f[13])
		ticks += user + system
	}
	return ticks
}
