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
	added, err := filepath.Abs(filepath.Join(dir, "cmd", "carillon", "probe.go"))
	if err != nil {
		return "", err
	}
	source, list := filepath.Join(b.dir, "probe.go"), filepath.Join(b.dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{added: source}})
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
	probe             string // address of its profiles
	name              string
	rounds, messages  int
	program, database int                // processor time, in ticks of 10 ms
	parts             map[string]float64 // seconds of the profile, by part of the program
	commits, took     float64            // of all rounds; seconds
}

// newProfile starts a version on an empty database.
func (b *bench) newProfile(ctx context.Context, s subject, providerURL, figure string) *profile {
	o := b.emptyOptions(ctx, s.engine, providerURL)
	o.tree, o.plain, o.ops = s.tree, true, freeAddress()
	x := &profile{b: b, probe: freeAddress(), name: figure + ", " + s.String(), parts: map[string]float64{}}
	o.env = []string{"CARILLON_PROBE=" + x.probe, "CARILLON_OPS_ADDR=" + o.ops}
	x.n = b.serve(ctx, o)
	return x
}

// run profiles a load for at most d. work makes the load and returns its number of messages.
func (x *profile) run(d time.Duration, work func() int) {
	program, database, page := x.n.cpuTicks(), postgresTicks(), x.n.metrics()
	var text []byte
	var err error
	var profiling sync.WaitGroup
	profiling.Go(func() {
		var resp *http.Response
		if resp, err = http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", x.probe, d.Seconds())); err == nil {
			text, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
	})
	x.messages += work()
	x.program += x.n.cpuTicks() - program
	x.database += postgresTicks() - database
	profiling.Wait()
	check(err)
	since := func(series string) float64 { return read(x.n.metrics(), series) - read(page, series) }
	x.commits += since("carillon_commit_seconds_count")
	x.took += since("carillon_commit_seconds_sum")
	x.rounds++
	name := fmt.Sprintf("%s-%d.pprof", strings.NewReplacer(", ", "-", " ", "-").Replace(x.name), x.rounds)
	file := filepath.Join(cmp.Or(x.b.profiles, x.b.dir), name)
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
	fmt.Printf("\n%s: %.1f µs a message in the program, %.1f in PostgreSQL; %.0f messages a commit, which takes %.1f ms\n\n",
		x.name, program, each(float64(x.database)), float64(x.messages)/max(1, x.commits), 1000*x.took/max(1, x.commits))
	byTime := func(a, b string) int { return cmp.Compare(x.parts[b], x.parts[a]) }
	for _, part := range slices.SortedFunc(maps.Keys(x.parts), byTime) {
		if share := x.parts[part] / all; share >= 0.01 {
			fmt.Printf("| %s | %.1f | %.0f %% |\n", part, share*program, 100*share)
		}
	}
}

// partsOf adds up the samples of a profile, printed as traces, by the innermost function that names a part.
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
