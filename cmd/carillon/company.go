package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store"
	"carillon/internal/store/company"
)

// companySettings are the settings for the data and the master key.
//
//nolint:gochecknoglobals // read only
var companySettings = []string{"data", "database-url", "master-key-file", "log-format", "log-level"}

type companyCommand struct {
	List   companyList   `cmd:"" help:"List the companies of the installation and their states."`
	Export companyExport `cmd:"" help:"Stop a company and write it to a file, for another installation."`
	Import companyImport `cmd:"" help:"Import a company from a file; it is in use after resume only."`
	Moved  companyMoved  `cmd:"" help:"Give a company up here for good; prints the code for its new installation."`
	Resume companyResume `cmd:"" help:"Take a stopped or imported company into use."`
	Remove companyRemove `cmd:"" help:"Delete a company that was moved."`
}

// placed are the flags of every command about companies.
type placed struct {
	Settings kong.Plugins `embed:""`
	jsonFlag
}

// do runs a command in the program that uses the data folder, or on the database.
func (p *placed) do(ctx context.Context, env *environment, asked company.Request) (company.Reply, error) {
	cfg, err := config.Load(givenSettings(p.Settings), env.Lookup)
	if err != nil {
		return company.Reply{}, usageError{err}
	}
	show := &companyProgress{out: raw(env.Stderr), terminal: env.Terminal}
	reply, err := app.Company(ctx, cfg, logger(cfg, raw(env.Stderr)), asked, show.at)
	show.clear()
	if errors.Is(err, store.ErrFolderInUse) {
		err = fmt.Errorf("%w\nwhile it runs, only it can run the command, and it does not respond: "+
			"it is starting or stopping, or its log says why", err)
	}
	return reply, err
}

type companyList struct{ placed }

// Run lists the companies.
func (c *companyList) Run(ctx context.Context, env *environment) error {
	reply, err := c.do(ctx, env, company.Request{Do: company.DoList})
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATE", "SINCE"}}
	for _, s := range reply.Companies {
		since := "-"
		if s.Since != nil {
			since = s.Since.Local().Format(time.RFC3339)
		}
		rows = append(rows, []string{s.ID, s.Name, string(s.State), since})
	}
	return c.show(env, reply.Companies, rows)
}

type companyExport struct {
	ID   string        `arg:"" help:"Id of the company."`
	To   string        `required:"" placeholder:"FILE" help:"${company_to_help}"`
	Wait time.Duration `default:"2m" help:"Longest wait for calls and other work in progress."`
	placed
}

// Run exports the company.
func (c *companyExport) Run(ctx context.Context, env *environment) error {
	to, err := filepath.Abs(c.To)
	if err != nil {
		return err
	}
	reply, err := c.do(ctx, env, company.Request{Do: company.DoExport, ID: c.ID, File: to, Wait: c.Wait})
	if err != nil {
		return err
	}
	key := to + company.KeySuffix
	return c.done(env, reply.Done, fmt.Sprintf(`%s: %s of %s, stopped here since %s
%s: its key. Both files together have all secrets of the company: delete them after the move
import them at the other installation with:
  carillon company import %s --key %s
or take the company back with:
  carillon company resume %s`, to, content(reply.Done), reply.Done.Header.Name, reply.Done.Header.At.Format(time.RFC3339), key,
		filepath.Base(to), filepath.Base(key), c.ID))
}

// content returns the numbers of an export or import.
func content(d *company.Done) string {
	return fmt.Sprintf("%d rows in %d tables, %d members", d.Rows, len(d.Manifest.Tables), d.Manifest.Accounts)
}

type companyImport struct {
	File string `arg:"" help:"File of carillon company export."`
	Key  string `required:"" placeholder:"FILE" help:"File with the key of the file."`
	placed
}

// Run imports the file.
func (c *companyImport) Run(ctx context.Context, env *environment) error {
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	key, err := filepath.Abs(c.Key)
	if err != nil {
		return err
	}
	reply, err := c.do(ctx, env, company.Request{Do: company.DoImport, File: file, Key: key})
	if err != nil {
		return err
	}
	h := reply.Done.Header
	return c.done(env, reply.Done, fmt.Sprintf(`imported %s: %s, with equal counts and hashes. It is NOT in use yet
give it up at the former installation, which prints a code:
  carillon company moved %s
then take it into use here:
  carillon company resume %s --code CODE`, h.Name, content(reply.Done), h.CompanyID, h.CompanyID))
}

type companyMoved struct {
	ID string `arg:"" help:"Id of the company."`
	placed
}

// Run gives the company up.
func (c *companyMoved) Run(ctx context.Context, env *environment) error {
	reply, err := c.do(ctx, env, company.Request{Do: company.DoMoved, ID: c.ID})
	if err != nil {
		return err
	}
	return c.done(env, map[string]string{"code": reply.Code}, fmt.Sprintf(`the company is not used here any more
take it into use at the new installation with:
  carillon company resume %s --code %s
delete what is left here with:
  carillon company remove %s --confirm NAME`, c.ID, reply.Code, c.ID))
}

type companyResume struct {
	ID         string `arg:"" help:"Id of the company."`
	Code       string `placeholder:"CODE" help:"Code of carillon company moved; an imported company needs it."`
	SourceGone bool   `help:"${company_gone_help}"`
	placed
}

// Run takes the company into use.
func (c *companyResume) Run(ctx context.Context, env *environment) error {
	_, err := c.do(ctx, env, company.Request{Do: company.DoResume, ID: c.ID, Code: c.Code, SourceGone: c.SourceGone})
	if err != nil {
		return err
	}
	return c.done(env, map[string]string{"state": "active"}, "the company is in use here")
}

type companyRemove struct {
	ID      string `arg:"" help:"Id of the company."`
	Confirm string `required:"" placeholder:"NAME" help:"Name of the company."`
	placed
}

// Run deletes the company.
func (c *companyRemove) Run(ctx context.Context, env *environment) error {
	if _, err := c.do(ctx, env, company.Request{Do: company.DoRemove, ID: c.ID, Name: c.Confirm}); err != nil {
		return err
	}
	return c.done(env, map[string]bool{"removed": true},
		"the company was removed, with the accounts of members who belong to no other company")
}

// companyProgress shows the progress of a command: a line that is redrawn, or one line for each phase.
type companyProgress struct {
	out      io.Writer
	terminal bool

	mu     sync.Mutex
	phase  company.Phase
	detail string
}

func (p *companyProgress) at(x company.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waits := x.Phase == company.Waiting && x.Detail != p.detail
	if !p.terminal && x.Phase == p.phase && !waits {
		return
	}
	p.phase, p.detail = x.Phase, x.Detail
	var line strings.Builder
	line.WriteString(string(x.Phase))
	if x.Rows > 0 {
		fmt.Fprintf(&line, ": %d rows", x.Rows)
	}
	if x.Detail != "" && (p.terminal || waits) {
		line.WriteString(", " + x.Detail)
	}
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", line.String())
		return
	}
	_, _ = fmt.Fprintln(p.out, line.String())
}

// clear removes the line before other output.
func (p *companyProgress) clear() {
	if p.terminal {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
