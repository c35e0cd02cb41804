package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"carillon/internal/base/config"
	"carillon/internal/edge/control"
	"carillon/internal/store/move"
)

// migrateSettings are the settings for the data folder and the master key.
//
//nolint:gochecknoglobals // read only
var migrateSettings = []string{"data", "master-key-file"}

type migrateCommand struct {
	To       string       `xor:"database" required:"" placeholder:"URL" help:"${migrate_to_help}"`
	ToFile   string       `xor:"database" required:"" placeholder:"FILE" help:"File to read --to from."`
	From     string       `xor:"database" required:"" placeholder:"URL" help:"${migrate_from_help}"`
	FromFile string       `xor:"database" required:"" placeholder:"FILE" help:"File to read --from from."`
	Settings kong.Plugins `embed:""`
	jsonFlag
}

// migrated is the result of a move.
type migrated struct {
	move.Result
	Seconds      float64 `json:"seconds"`
	PauseSeconds float64 `json:"pause_seconds"`
}

// Run moves the installation.
func (c *migrateCommand) Run(ctx context.Context, env *environment) error {
	url, err := secret(env, c.To+c.From, c.ToFile+c.FromFile, "")
	if err != nil {
		return err
	}
	cfg, err := config.Load(givenSettings(c.Settings), func(name string) (string, bool) {
		if strings.HasPrefix(name, "CARILLON_DATABASE_URL") { // of the program that starts afterwards
			return "", false
		}
		return env.Lookup(name)
	})
	if err != nil {
		return usageError{err}
	}
	key, err := restoreKey(&cfg)
	if err != nil {
		return err
	}
	show := &moveProgress{out: raw(env.Stderr), terminal: env.Terminal, begin: time.Now()}
	o := move.Options{
		Dir: cfg.Data, URL: url, MasterKey: key, Report: show.at,
		Stop: func(ctx context.Context) (func(moved bool), error) { return control.Stop(ctx, cfg.Data) },
	}
	run := move.ToPostgres
	if c.From+c.FromFile != "" {
		run = move.ToSQLite
	}
	r, err := run(ctx, o)
	show.clear()
	if err != nil {
		return err
	}
	return c.done(env, migrated{r, r.Took.Seconds(), r.Pause.Seconds()}, c.moved(&cfg, r))
}

// moved returns the summary with the next commands. It has no URL, which may hold a password.
func (c *migrateCommand) moved(cfg *config.Config, r move.Result) string {
	var b strings.Builder
	if r.Already {
		fmt.Fprintf(&b, "the installation was moved at %s\n", r.MovedAt.Format(time.RFC3339))
	} else {
		fmt.Fprintf(&b, "moved %d rows of %d tables (%s) in %s, with equal counts and hashes; the pause lasted %s\n",
			r.Rows, r.Tables, megabytes(r.Bytes), inSeconds(r.Took), inSeconds(r.Pause))
	}
	if r.Former != "" {
		fmt.Fprintf(&b, "the former database is kept as %s\n", r.Former)
	}
	key := cfg.MasterKeyFile
	if key == "" {
		key = filepath.Join(cfg.Data, "master.key")
	}
	file := orElse(orElse(c.ToFile, c.FromFile), "FILE-WITH-THE-URL")
	onSQLite := "carillon serve --data " + cfg.Data
	if cfg.MasterKeyFile != "" {
		onSQLite += " --master-key-file " + key
	}
	if c.From+c.FromFile != "" {
		fmt.Fprintf(&b, "start it with:\n  %s", onSQLite)
		return b.String()
	}
	fmt.Fprintf(&b, "start every node with:\n  carillon serve --database-url-file %s --master-key-file %s\n"+
		"go back, while no node runs, with:\n  carillon migrate --from-file %s --master-key-file %s --data %s",
		file, key, file, key, cfg.Data)
	return b.String()
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// moveProgress shows the progress of a move: a line that is redrawn, or one line for every tenth of a phase.
type moveProgress struct {
	out      io.Writer
	terminal bool
	begin    time.Time

	mu     sync.Mutex
	phase  move.Phase
	tenths int64
	drawn  time.Time
}

const redrawEvery = 200 * time.Millisecond

func (p *moveProgress) at(x move.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	percent := int64(0)
	if x.Total > 0 {
		percent = min(100, 100*x.Rows/x.Total)
	}
	switch {
	case x.Phase != p.phase:
		p.phase, p.tenths = x.Phase, 0
		if p.terminal {
			_, _ = fmt.Fprint(p.out, "\r\x1b[K")
		}
		if x.Total == 0 {
			_, _ = fmt.Fprintf(p.out, "%s, %s\n", x.Phase, inSeconds(time.Since(p.begin)))
			return
		}
	case p.terminal && time.Since(p.drawn) < redrawEvery, !p.terminal && percent/10 <= p.tenths:
		return
	}
	p.tenths, p.drawn = percent/10, time.Now()
	line := fmt.Sprintf("%s: %d rows, %s, %d %%, %s", x.Phase, x.Rows, megabytes(x.Bytes), percent, inSeconds(time.Since(p.begin)))
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", line)
		return
	}
	_, _ = fmt.Fprintln(p.out, line)
}

// clear removes the line before other output.
func (p *moveProgress) clear() {
	if p.terminal {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
