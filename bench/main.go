// Command bench measures Carillon against yardsticks on the same machine, in the same run; method.md explains the
// figures. The program under test, yardstick H and the provider are separate processes; the load generator and
// yardsticks C, F and K run in this one. A figure below its floor is no failure: the table marks it.
//
//	cd bench && go run .                     the message engine, written to results.md
//	cd bench && go run . -quick              one round on a tenth of the rows; nothing is written
//	cd bench && go run . -only accept,drain  some groups of rows; nothing is written
//	cd bench && go run . -against v1,a4d31ea accepting and delivering, in turns with other commits
//	cd bench && go run . -only full          a full installation under load, written to full.md
//	cd bench && go run . -only profile       the processor time of a message, by part of the program
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is one run.
type bench struct {
	rounds    int
	quick     bool
	scheduled int    // number of scheduled messages in the large dataset; the small one has a tenth
	trees     []tree // the versions under test, first the working copy
	profiles  string // folder for processor profiles; empty means none
	probed    bool   // the programs serve profiles, also those of commits that cannot
	on        string // the only full installation that is measured; empty means all
	dir       string // folder of the run; removed at the end
	postgres  *cluster
	table     table
	datasets  map[string]*dataset
	processes []*process
	ears      string // address of the transcriber; empty means none
	exchange  string // address of the telephone exchange; empty means none
	seq       int    // number for folders, files and databases
}

// group is a set of rows that are measured together.
type group struct {
	name    string
	measure func(b *bench, ctx context.Context)
	apart   bool // measured only if it is named
}

// wanted reports whether the group is among those that were asked for, or nothing was.
func (g group) wanted(names []string) bool {
	return slices.Contains(names, g.name) || len(names) == 0 && !g.apart
}

func groups() []group {
	return []group{
		{name: "accept", measure: (*bench).measureAccept},
		{name: "committer", measure: (*bench).measureCommitter},
		{name: "drain", measure: (*bench).measureDrain},
		{name: "late", measure: (*bench).measureLateness},
		{name: "idle", measure: onEngines((*bench).measureIdle)},
		{name: "million", measure: onEngines((*bench).measureMillion)},
		{name: "fairness", measure: onEngines((*bench).measureFairness)},
		{name: "pacing", measure: (*bench).measurePacing},
		{name: "start", measure: (*bench).measureStart},
		{name: "overload", measure: onEngines((*bench).measureOverload)},
		{name: "growth", measure: onEngines((*bench).measureGrowth), apart: true},
		{name: "sign-in", measure: onEngines((*bench).measureSignIn), apart: true},
		{name: "search", measure: onEngines((*bench).measureSearch), apart: true},
		{name: "webhooks", measure: (*bench).measureWebhooks, apart: true},
		{name: "chat", measure: onEngines((*bench).measureChat), apart: true},
		{name: "talk", measure: onEngines((*bench).measureTalks), apart: true},
		{name: "reply", measure: (*bench).measureReplies, apart: true},
		{name: "flows", measure: onEngines((*bench).measureFlows), apart: true},
		{name: "calls", measure: (*bench).measureCalls, apart: true},
		{name: "full", measure: (*bench).measureFull, apart: true},
		{name: "profile", measure: (*bench).measureProfiles, apart: true},
	}
}

// onEngines runs a measurement on each engine, with a provider.
func onEngines(measure func(b *bench, ctx context.Context, p *provider, e engine)) func(*bench, context.Context) {
	return func(b *bench, ctx context.Context) {
		p := b.startProvider()
		defer p.stop()
		for _, e := range engines() {
			measure(b, ctx, p, e)
		}
	}
}

// compared are the groups that measure all versions of -against in turns.
var compared = []string{"accept", "drain", "late", "full", "profile"}

func names() []string {
	var all []string
	for _, g := range groups() {
		all = append(all, g.name)
	}
	return all
}

func main() {
	if len(os.Args) == 2 {
		if helper, ok := helpers()[os.Args[1]]; ok {
			exit(helper())
		}
	}
	b := &bench{scheduled: 1_000_000, datasets: map[string]*dataset{}}
	flag.BoolVar(&b.quick, "quick", false, "one round, and a tenth of the rows")
	flag.IntVar(&b.rounds, "rounds", 5, "rounds of each figure")
	server := flag.String("server", "", "the program under test; built from ../cmd/carillon by default")
	flag.StringVar(&b.on, "on", "", "the only installation that -only full measures, as \"SQLite before\"; nothing is written")
	flag.StringVar(&b.profiles, "profiles", "", "a folder for the processor profiles of -only full or profile")
	only := flag.String("only", "", "comma-separated groups of rows: "+strings.Join(names(), ", "))
	against := flag.String("against", "", "comma-separated commits whose programs are measured in turns with this one")
	flag.Parse()
	if *against != "" && *only == "" {
		*only = "accept,drain,late"
	}
	if b.quick {
		b.rounds, b.scheduled = 1, b.scheduled/10
	}
	b.probed = slices.Contains(list(*only), "profile")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.prepare(ctx, *server, list(*against))
	if err == nil {
		err = b.run(ctx, list(*only))
		b.cleanUp()
	}
	if err == nil && ctx.Err() == nil && !b.quick && *only == "" {
		err = b.writeResults("results.md")
	}
	stop()
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// list splits a comma-separated flag.
func list(flag string) []string {
	if flag == "" {
		return nil
	}
	return strings.Split(flag, ",")
}

// run measures the wanted groups and prints the rows of each. If one fails, the others are still measured.
func (b *bench) run(ctx context.Context, wanted []string) error {
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("there is no group %q; there are %s", name, strings.Join(names(), ", "))
		}
		if len(b.trees) > 1 && !slices.Contains(compared, name) {
			return fmt.Errorf("group %q measures one program; -against is for %s", name, strings.Join(compared, ", "))
		}
	}
	var errs []error
	for _, g := range groups() {
		if !g.wanted(wanted) || ctx.Err() != nil {
			continue
		}
		b.logf("%s …", g.name)
		begin := time.Now()
		if err := b.attempt(ctx, g); err != nil {
			errs = append(errs, err)
			b.logf("%v", err)
		}
		b.killAll()
		b.table.print(os.Stdout)
		b.logf("%s took %s", g.name, time.Since(begin).Round(time.Second))
	}
	return errors.Join(errs...)
}

// failure is the panic value of check, which ends a group like t.Fatal ends a test.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// attempt measures a group and returns the error that ended it early.
func (b *bench) attempt(ctx context.Context, g group) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s: %w", g.name, r.error)
		default:
			panic(r)
		}
	}()
	g.measure(b, ctx)
	return nil
}

// prepare creates the folder of the run, builds the programs under test and starts PostgreSQL.
func (b *bench) prepare(ctx context.Context, server string, against []string) (err error) {
	if b.dir, err = os.MkdirTemp("", "carillon-bench-"); err != nil {
		return err
	}
	t, err := b.workingCopy(ctx, server)
	b.trees = append(b.trees, t)
	for _, rev := range against {
		if err == nil {
			t, err = b.commitTree(ctx, rev)
			b.trees = append(b.trees, t)
		}
	}
	if err == nil {
		b.postgres, err = startCluster()
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(b.dir))
	}
	return nil
}

func (b *bench) cleanUp() {
	b.killAll()
	if err := errors.Join(b.postgres.stop(), os.RemoveAll(b.dir)); err != nil {
		b.logf("%v", err)
	}
}

// logf reports progress.
func (b *bench) logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
