// Command bench measures Carillon against bare yardsticks on the same machine, in one run: what is accepted a second
// against a handler that only decodes, what is delivered against a client that only posts. Every figure is a ratio,
// taken in turns with its yardstick, the median of several rounds. Durability is never bought off: SQLite runs with
// synchronous=FULL, PostgreSQL with fsync and synchronous_commit on.
//
//	go run ./bench            every line, written to bench/results.md
//	go run ./bench -quick     fewer rounds and rows; the table goes to standard output alone
//	go run ./bench -only accept,drain
//
// The server under test, the handler, the client and the provider run as processes of their own, so that each pays the
// same for its neighbours; the load generator is this process. It is no test: nothing fails when a figure is poor.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is one run.
type bench struct {
	quick   bool
	rounds  int
	profile string // folder for profiles of the server under test; empty: none
	dir     string // everything the run writes, gone afterwards
	exe     string // this program, for the other roles
	server  string // the program under test
	table   table
	disk    *yardF
	cluster *cluster
	nth     int
	keep    bool

	children []*child
}

// line is a group of figures that are measured together.
type line struct {
	name    string
	measure func(b *bench, ctx context.Context) error
}

func lines() []line {
	return []line{
		{"disk", (*bench).measureDisk},
		{"accept", (*bench).measureAccept},
		{"latency", (*bench).measureLatency},
		{"drain", (*bench).measureDrain},
		{"idle", (*bench).measureIdle},
		{"million", (*bench).measureMillion},
		{"fairness", (*bench).measureFairness},
		{"pacing", (*bench).measurePacing},
		{"sign-in", (*bench).measureSignIn},
		{"start", (*bench).measureStart},
	}
}

func main() {
	if len(os.Args) > 1 {
		if role, ok := roles()[os.Args[1]]; ok {
			exit(role(os.Args[2:]))
		}
	}
	b := &bench{}
	flag.BoolVar(&b.quick, "quick", false, "fewer rounds and rows; results.md is left as it is")
	flag.IntVar(&b.rounds, "rounds", 0, "rounds of each figure; default 5, quick 3")
	flag.StringVar(&b.profile, "profile", "", "folder for CPU profiles of the server under accept and delivery")
	flag.StringVar(&b.server, "server", "", "the program under test; default: built from ./cmd/carillon")
	flag.BoolVar(&b.keep, "keep", false, "leave the run's folder, with the logs, where it is")
	only := flag.String("only", "", "lines to measure, separated by commas: "+strings.Join(names(), ", "))
	out := flag.String("out", "bench/results.md", "file for the table of a whole run")
	flag.Parse()
	if b.rounds == 0 {
		b.rounds = 5
		if b.quick {
			b.rounds = 3
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	load := loadAverage()
	err := b.run(ctx, *only)
	stop()
	b.table.print(os.Stdout)
	if err == nil && !b.quick && *only == "" {
		err = b.table.write(*out, b.rounds, load)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func names() []string {
	var all []string
	for _, l := range lines() {
		all = append(all, l.name)
	}
	return all
}

// run measures the lines that were asked for. What it leaves behind is removed.
func (b *bench) run(ctx context.Context, only string) error {
	wanted := names()
	if only != "" {
		wanted = strings.Split(only, ",")
	}
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("no line is called %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	var err error
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "carillon-bench-"); err != nil {
		return err
	}
	defer b.leave()
	if err := b.build(ctx); err != nil {
		return err
	}
	if b.cluster, err = startCluster(); err != nil {
		return err
	}
	defer b.cluster.stop()
	b.disk = &yardF{dir: b.dir}
	for _, l := range lines() {
		if !slices.Contains(wanted, l.name) {
			continue
		}
		begin := time.Now()
		b.say("%s …", l.name)
		if err := l.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		b.say("%s took %s", l.name, time.Since(begin).Round(time.Second))
	}
	return nil
}

func (b *bench) leave() {
	for _, c := range b.children {
		c.kill() // where an error left it running
	}
	if b.keep {
		b.say("kept %s", b.dir)
		return
	}
	_ = os.RemoveAll(b.dir) // a temporary folder
}

// build makes the program under test unless one was named.
func (b *bench) build(ctx context.Context) error {
	if b.server != "" {
		return nil
	}
	b.server = filepath.Join(b.dir, "carillon")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", b.server, "./cmd/carillon")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program: %w", err)
	}
	return nil
}

// say tells the person who waits how far it is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// pick chooses by the size of the run.
func pick[T any](b *bench, full, quick T) T {
	if b.quick {
		return quick
	}
	return full
}
