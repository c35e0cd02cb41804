package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"carillon/internal/app"
	"carillon/internal/config"
	"carillon/internal/store"
)

// benchSettings are the settings that say where the data is.
//
//nolint:gochecknoglobals // read only
var benchSettings = []string{"data", "database-url"}

type benchCommand struct {
	For      time.Duration `default:"30s" placeholder:"30s" help:"How long to measure, about; between 10s and 10m."`
	Settings kong.Plugins  `embed:""`
	jsonFlag
}

// Help is shown with the command.
func (c *benchCommand) Help() string {
	return `It measures a program of its own, on a database of its own that lies where the installation's lies: on PostgreSQL in
a schema that it makes in the database of --database-url and drops at its end, on SQLite in a folder that it makes in the
data folder. It touches nothing of what is there and sends nothing to anybody, but it takes the machine and the database
for as long as it runs: run it when nobody waits for them.`
}

// benchFigure is one line of the result.
type benchFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Doc   string  `json:"doc"`
}

// benchResult is what the command tells.
type benchResult struct {
	Engine   string        `json:"engine"`
	Cores    int           `json:"cores"`
	Version  string        `json:"version"`
	Warnings []string      `json:"warnings"`
	Figures  []benchFigure `json:"figures"`
}

// Run measures, and removes what it made.
func (c *benchCommand) Run(ctx context.Context, env *environment) (err error) {
	if c.For < 10*time.Second || c.For > 10*time.Minute {
		return usage("--for must be between 10s and 10m")
	}
	cfg, err := config.Load(givenSettings(c.Settings), env.Lookup)
	if err != nil {
		return usageError{err}
	}
	p, err := newBenchPlace(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.remove(context.WithoutCancel(ctx))) }()
	say := func(text string) { _, _ = fmt.Fprintln(env.Stderr, text) }
	r := &benchRun{place: p, lasts: c.For, say: say, result: benchResult{Cores: runtime.GOMAXPROCS(0), Version: app.Version(), Warnings: []string{}}}
	if err := r.measure(ctx); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(env.Stdout, r.result)
	}
	return r.result.print(env.Stdout)
}

func (r *benchResult) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	_, _ = fmt.Fprintf(tw, "%s, %d cores, carillon %s\n", r.Engine, r.Cores, r.Version)
	for _, f := range r.Figures {
		_, _ = fmt.Fprintf(tw, "%s\t%s %s\t%s\n", f.Name, shortNumber(f.Value), f.Unit, f.Doc)
	}
	for _, text := range r.Warnings {
		_, _ = fmt.Fprintln(tw, "warning: "+text)
	}
	return tw.Flush()
}

func shortNumber(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// benchPlace is where the measured program keeps its data.
type benchPlace struct {
	dir     string         // all its files
	scratch *store.Scratch // PostgreSQL: its schema
}

func newBenchPlace(ctx context.Context, cfg config.Config) (*benchPlace, error) {
	within := ""
	url := cfg.DatabaseURL.Reveal()
	if url == "" {
		info, err := os.Stat(cfg.Data)
		if err != nil || !info.IsDir() {
			return nil, usage("the data folder %s is not there: name an installation's by --data, or its --database-url", cfg.Data)
		}
		within = cfg.Data
	}
	dir, err := os.MkdirTemp(within, "bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to measure in: %w", err)
	}
	p := &benchPlace{dir: dir}
	if url != "" {
		if p.scratch, err = store.MakeScratch(ctx, url); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return p, nil
}

func (p *benchPlace) remove(ctx context.Context) error {
	err := os.RemoveAll(p.dir)
	if p.scratch != nil {
		err = errors.Join(err, p.scratch.Drop(ctx))
	}
	return err
}

// commit waits for the smallest durable write.
func (p *benchPlace) commit(ctx context.Context) (func() error, func() error, error) {
	if p.scratch != nil {
		return func() error { return p.scratch.Commit(ctx) }, func() error { return nil }, nil
	}
	f, err := os.Create(filepath.Join(p.dir, "sync"))
	if err != nil {
		return nil, nil, err
	}
	const pages, size = 256, 4096
	if _, err = f.Write(make([]byte, pages*size)); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	page, n := make([]byte, size), int64(0)
	return func() error { // over what is there, as the log of SQLite is written
		n++
		_, err := f.WriteAt(page, n%pages*size)
		return errors.Join(err, f.Sync())
	}, f.Close, nil
}

// config is how the measured program runs: as an installation does, on loopback alone.
func (p *benchPlace) config(provider string) (config.Config, error) {
	setUp := filepath.Join(p.dir, "set-up.yaml")
	if err := os.WriteFile(setUp, []byte(benchSetUp(provider)), 0o600); err != nil {
		return config.Config{}, err
	}
	flags := map[string][]string{"addr": {"127.0.0.1:0"}, "data": {p.dir}, "provision": {setUp}}
	if p.scratch != nil {
		key := filepath.Join(p.dir, "master.key")
		if err := os.WriteFile(key, []byte(p.scratch.Name + "0123456789")[:32], 0o600); err != nil { // 27 letters and five more
			return config.Config{}, err
		}
		flags["database-url"], flags["master-key-file"] = []string{p.scratch.Address}, []string{key}
	}
	return config.Load(flags, func(string) (string, bool) { return "", false })
}
