// Command bench measures Carillon against yardsticks on the same machine, in the same run:
//
//	H  a bare net/http handler that decodes the same JSON into a map and responds
//	F  an fdatasync of 4 KiB appended to a file, on the disk of the data folder
//	C  a bare HTTP client that posts the same message with as many workers to the same provider
//	K  the bare password hash on every core
//
// A figure is the median of its rounds; a ratio is the median of the rounds' ratios to the yardstick of the same round.
// SQLite runs with synchronous=FULL, PostgreSQL with fsync, full_page_writes and synchronous_commit on. The program under
// test, yardstick H and the provider are processes of their own; the load generator and yardsticks C, F and K run in this
// one. Nothing fails when a figure is below its floor: the table marks it.
//
//	cd bench && go run .                     every row, written to results.md
//	cd bench && go run . -quick              one round on a tenth of the rows; nothing is written
//	cd bench && go run . -only accept,drain  some groups of rows; nothing is written
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
	rounds    int
	quick     bool
	scheduled int    // how many messages are scheduled in the large dataset; the small one has a tenth
	server    string // the program under test
	dir       string // everything that the run writes; removed at the end
	exe       string // this program, to start its helpers
	postgres  *cluster
	table     table
	datasets  map[string]*dataset
	processes []*process
	seq       int // numbers folders, files and databases
	errs      []error
}

// group is some rows that are measured together.
type group struct {
	name    string
	measure func(b *bench, ctx context.Context) error
}

func groups() []group {
	return []group{
		{"disk", (*bench).measureDisk},
		{"accept", (*bench).measureAccept},
		{"drain", (*bench).measureDrain},
		{"idle", (*bench).measureIdle},
		{"million", (*bench).measureMillion},
		{"fairness", (*bench).measureFairness},
		{"pacing", (*bench).measurePacing},
		{"sign-in", (*bench).measureSignIn},
		{"start", (*bench).measureStart},
		{"growth", (*bench).measureGrowth},
	}
}

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
	flag.StringVar(&b.server, "server", "", "the program under test; built from ../cmd/carillon by default")
	only := flag.String("only", "", "comma-separated groups of rows: "+strings.Join(names(), ", "))
	flag.Parse()
	if b.quick {
		b.rounds, b.scheduled = 1, b.scheduled/10
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.run(ctx, *only)
	b.table.print(os.Stdout)
	if ctx.Err() == nil && !b.quick && *only == "" {
		err = errors.Join(err, b.writeResults("results.md"))
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

// run measures the groups that were asked for. When one fails the others are still measured.
func (b *bench) run(ctx context.Context, only string) error {
	wanted := names()
	if only != "" {
		wanted = strings.Split(only, ",")
	}
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("there is no group %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer b.cleanUp()
	for _, g := range groups() {
		if !slices.Contains(wanted, g.name) || ctx.Err() != nil {
			continue
		}
		b.logf("%s …", g.name)
		begin := time.Now()
		if err := g.measure(b, ctx); err != nil {
			b.errs = append(b.errs, fmt.Errorf("%s: %w", g.name, err))
			b.logf("%v", b.errs[len(b.errs)-1])
		}
		b.killAll()
		b.logf("%s took %s", g.name, time.Since(begin).Round(time.Second))
	}
	return errors.Join(b.errs...)
}

// prepare makes the folder of the run, builds the program under test and starts PostgreSQL.
func (b *bench) prepare(ctx context.Context) (err error) {
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "carillon-bench-"); err != nil {
		return err
	}
	if b.server == "" {
		b.server = filepath.Join(b.dir, "carillon")
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.server, "./cmd/carillon")
		cmd.Dir, cmd.Stderr = "..", os.Stderr
		if err := cmd.Run(); err != nil {
			return errors.Join(fmt.Errorf("build the program: %w", err), os.RemoveAll(b.dir))
		}
	}
	if b.postgres, err = startCluster(); err != nil {
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
