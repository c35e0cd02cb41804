package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store"
)

// applySettings are the settings for the data, the private networks that webhooks may reach, and the time zones.
//
//nolint:gochecknoglobals // read only
var applySettings = []string{
	"data", "database-url", "master-key-file", "password-memory", "password-passes", "log-format", "log-level",
	"media-allow-private", "zones-file", "cell",
}

type applyCommand struct {
	File     []string     `short:"f" required:"" sep:"none" placeholder:"FILE" help:"Set-up file; repeated files form one set-up."`
	Settings kong.Plugins `embed:""`
	jsonFlag
}

// Run applies the file and reports what changed.
func (c *applyCommand) Run(ctx context.Context, env *environment) error {
	flags := givenSettings(c.Settings)
	flags["provision"] = c.File
	cfg, err := config.Load(flags, env.Lookup)
	if err != nil {
		return usageError{err}
	}
	summary, err := app.Apply(ctx, cfg, logger(cfg, raw(env.Stderr)))
	if errors.Is(err, store.ErrFolderInUse) {
		return fmt.Errorf("%w\nwhile it runs, only it can apply a set-up, and it does not respond: "+
			"it is starting or stopping, or its log says why", err)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(env.Stdout, struct {
			Changed bool          `json:"changed"`
			Kinds   store.Summary `json:"kinds"`
		}{summary.Changed(), summary})
	}
	_, err = fmt.Fprintln(env.Stdout, summary)
	return err
}
