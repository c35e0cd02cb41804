// Command bench measures Carillon against bare yardsticks on the same machine, in one run: what is accepted a second
// against a handler that only decodes, what is delivered against a client that only posts. Every figure is a ratio,
// taken in turns with its yardstick, the median of several rounds. Durability is never bought off: SQLite runs with
// synchronous=FULL, PostgreSQL with fsync and synchronous_commit on.
//
//	go run ./bench            every line, written to bench/results.md
//	go run ./bench -quick     fewer rounds and rows; the table goes to standard output alone
//	go run ./bench -only accept,drain
//	go run ./bench -soak 30m  restarts a node under load again and again (45 min with its rests); bench/soak.md and soak.svg
//
// The server under test, the handler, the client and the provider run as processes of their own, so that each pays the
// same for its neighbours; the load generator is this process. It is no test: nothing fails when a figure is poor.
package main

import (
	"context"
	"errors"
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
	shapes  []shape
	// failures are of lines that could not be measured to their end.
	failures []error
	disk     *yardF
	cluster  *cluster
	nth      int
	stocks   map[string]*stock
	keep     bool

	children []*child
}

// line is a group of figures that are measured together.
type line struct {
	name    string
	seconds [2]float64 // what it takes on two quiet cores, whole (5 rounds) and quick (3 rounds)
	measure func(b *bench, ctx context.Context) error
}

// share is the seconds that the line is thought to take.
func (l line) share(b *bench) float64 {
	return pick(b, l.seconds[0]*float64(b.rounds)/5, l.seconds[1]*float64(b.rounds)/3)
}

func lines() []line {
	return []line{
		{"disk", [2]float64{1, 1}, (*bench).measureDisk},
		{"accept", [2]float64{160, 55}, (*bench).measureAccept},
		{"latency", [2]float64{115, 50}, (*bench).measureLatency},
		{"drain", [2]float64{150, 75}, (*bench).measureDrain},
		{"idle", [2]float64{60, 20}, (*bench).measureIdle},
		{"million", [2]float64{200, 90}, (*bench).measureMillion},
		{"growth", [2]float64{1600, 420}, (*bench).measureGrowth},
		{"fairness", [2]float64{240, 60}, (*bench).measureFairness},
		{"pacing", [2]float64{70, 20}, (*bench).measurePacing},
		{"sign-in", [2]float64{190, 85}, (*bench).measureSignIn},
		{"purge", [2]float64{330, 170}, (*bench).measurePurge},
		{"busy", [2]float64{65, 18}, (*bench).measureBusy},
		{"overload", [2]float64{130, 70}, (*bench).measureOverload},
		{"start", [2]float64{70, 25}, (*bench).measureStart},
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
	out := flag.String("out", "bench/results.md", "file for the table of a whole run; latency.svg goes beside it")
	plot := flag.String("plot", "", "file for the plot of latencies of a run that is not whole")
	s := &soak{bench: b}
	flag.DurationVar(&s.lasts, "soak", 0, "soak with load for so long, and rests, instead of measuring lines: a node is restarted every minute of load")
	flag.Float64Var(&s.rate, "soak-rate", 0, "requests a second of the soak; default: 60 % of what the nodes accept and deliver")
	flag.StringVar(&s.out, "soak-out", "", "name of the soak's pages, without .md and .svg; default bench/soak or bench/soak-sqlite")
	soakEngine := flag.String("soak-engine", "postgres", "postgres: two nodes; sqlite: one")
	flag.Parse()
	if b.rounds == 0 {
		b.rounds = 5
		if b.quick {
			b.rounds = 3
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	load := loadAverage()
	if s.lasts > 0 {
		err := s.choose(*soakEngine)
		if err == nil {
			err = b.inside(ctx, s.run)
		}
		stop()
		exit(err)
	}
	err := b.run(ctx, *only)
	b.table.print(os.Stdout)
	if *only == "" {
		fmt.Print("\n" + b.sizing())
	}
	if len(b.table.rows) > 0 && ctx.Err() == nil && !b.quick && *only == "" {
		err = errors.Join(err, b.results(*out, load))
	} else if *plot != "" && len(b.shapes) > 0 {
		err = errors.Join(err, draw(*plot, latencyChart(b.shapes)))
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

func names() []string {
	var all []string
	for _, l := range lines() {
		all = append(all, l.name)
	}
	return all
}

// run measures the lines that were asked for.
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
	return b.inside(ctx, func(ctx context.Context) error { return b.measure(ctx, wanted) })
}

// inside prepares what every run needs, does the work, and removes what it left behind.
func (b *bench) inside(ctx context.Context, work func(context.Context) error) error {
	var err error
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "carillon-bench-"); err != nil {
		return err
	}
	defer b.leave()
	b.disk = &yardF{dir: b.dir}
	if err := b.build(ctx); err != nil {
		return err
	}
	if b.cluster, err = startCluster(); err != nil {
		return err
	}
	defer b.cluster.stop()
	return work(ctx)
}

// measure goes through the lines and says how long the rest takes, if it goes on as it went so far.
func (b *bench) measure(ctx context.Context, wanted []string) error {
	var todo []line
	all := 0.0
	for _, l := range lines() {
		if slices.Contains(wanted, l.name) {
			todo = append(todo, l)
			all += l.share(b)
		}
	}
	begin, past := time.Now(), 0.0
	host := &row{figure: "The machine: processor time withheld by its host", how: "% of what was asked for, a line each"}
	for _, l := range todo {
		speed := 1.0
		if past > 0 {
			speed = time.Since(begin).Seconds() / past
		}
		left := time.Duration((all - past) * speed * float64(time.Second))
		b.say("%s … (about %s left)", l.name, left.Round(5*time.Second))
		from, before := time.Now(), readProcessor()
		if err := l.measure(b, ctx); err != nil {
			b.failures = append(b.failures, fmt.Errorf("%s: %w", l.name, err)) // the other lines are worth their time
			b.say("%v", b.failures[len(b.failures)-1])
			b.killAll()
		}
		if ctx.Err() != nil {
			break
		}
		past += l.share(b)
		withheld := readProcessor().withheld(before)
		host.add(withheld, 0)
		b.say("%s took %s; the host withheld %.0f %% of the processor time", l.name, time.Since(from).Round(time.Second), withheld)
	}
	b.table.add(host)
	return errors.Join(b.failures...)
}

func (b *bench) leave() {
	b.killAll()
	if b.keep {
		b.say("kept %s", b.dir)
		return
	}
	_ = os.RemoveAll(b.dir) // a temporary folder
}

// killAll ends what an error has left running.
func (b *bench) killAll() {
	for _, c := range b.children {
		c.kill()
	}
	b.children = nil
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
