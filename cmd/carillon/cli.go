package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"carillon/client"
)

// Exit codes: success, failure, invalid command line or setting.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// environment is a command's access to its process.
type environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Lookup         func(name string) (string, bool)
	Terminal       bool // standard error is a terminal: progress may redraw its line
	Asks           bool // standard input is a terminal
	// Secret reads a line from the terminal without echoing it.
	Secret func(ctx context.Context) (string, error)
}

func (e *environment) lookup(name string) string {
	value, _ := e.Lookup(name)
	return value
}

// commands is the complete command line.
type commands struct {
	Serve         serveCommand         `cmd:"" help:"Run the service."`
	Apply         applyCommand         `cmd:"" help:"Apply set-up files, whole or not at all, also while the program runs."`
	Send          sendCommand          `cmd:"" help:"Send a template to one or many recipients."`
	Call          callCommand          `cmd:"" help:"Have an agent call a number."`
	Calls         callsCommand         `cmd:"" help:"Show calls, and keep their recordings."`
	Notifications notificationsCommand `cmd:"" help:"List, show, move, cancel and watch notifications."`
	Templates     templatesCommand     `cmd:"" help:"List, show, create, submit and delete templates."`
	Senders       sendersCommand       `cmd:"" help:"List, show, add and remove senders."`
	Numbers       numbersCommand       `cmd:"" help:"Settle whose a telephone number is that several companies have."`
	Agents        agentsCommand        `cmd:"" help:"List, show, set, test and remove agents."`
	Suppressions  suppressionsCommand  `cmd:"" help:"List, add and remove suppressed numbers."`
	People        peopleCommand        `cmd:"" help:"Export and erase everything that is stored about one person."`
	Events        eventsCommand        `cmd:"" help:"Pass events on to a local program, list, trigger and replay them."`
	Webhooks      webhooksCommand      `cmd:"" help:"List and test webhooks."`
	MCP           mcpCommand           `cmd:"" name:"mcp" help:"Serve assistants over MCP with the rights of an API key."`
	Usage         usageCommand         `cmd:"" help:"Show the day's use and the limits."`
	Keys          keysCommand          `cmd:"" help:"Create, list and revoke API keys."`
	Users         usersCommand         `cmd:"" help:"List, add and remove users, change passwords, end sessions."`
	Maintenance   maintenanceCommand   `cmd:"" help:"Switch maintenance on and off."`
	Backup        backupCommand        `cmd:"" help:"Back up the SQLite database, also while the program runs on it."`
	Restore       restoreCommand       `cmd:"" help:"Restore a backup into a new data folder; due messages are held."`
	Restored      restoredCommand      `cmd:"" help:"Send or fail the messages that are held after a restore."`
	Migrate       migrateCommand       `cmd:"" help:"Move the installation from SQLite to PostgreSQL, or back."`
	Company       companyCommand       `cmd:"" help:"Move a company to another installation: export, import, resume, remove."`
	Health        healthCommand        `cmd:"" help:"Check whether a running program responds, or is ready."`
	Version       versionCommand       `cmd:"" help:"Print the version."`
	Completion    completionCommand    `cmd:"" help:"Print a script that completes commands in a shell."`
	Complete      completeCommand      `cmd:"" hidden:"" help:"List what may stand for a word; called by the scripts."`
}

const about = `Carillon: notifications, calls and widgets, self-hosted.

"carillon serve --demo" starts one to try. The other commands talk to it; they find its address and the demo's key in
the ready file, or take --url and --key.

Exit codes: 0 ok, 1 failed, 2 usage.`

// usageError is a mistake in the command line or the settings.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is main without process globals, so that tests can call it.
func run(ctx context.Context, args []string, env environment) int {
	env.Stdout, env.Stderr = cleaner{out: env.Stdout}, cleaner{out: env.Stderr}
	cli := newCommands()
	left := -1 // exit code requested by kong, for example after --help
	parser, err := newParser(cli, &env, func(code int) {
		if left < 0 {
			left = code
		}
	})
	if err != nil {
		return report(&env, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if left >= 0 {
		return left
	}
	if err != nil {
		return report(&env, usageError{err})
	}
	k.BindTo(ctx, (*context.Context)(nil))
	return report(&env, k.Run(&env))
}

func newCommands() *commands {
	cli := &commands{}
	cli.Serve.Settings = newSettingFlags()
	cli.Apply.Settings = newSettingFlags(applySettings...)
	cli.Backup.Settings = newSettingFlags(backupSettings...)
	cli.Restore.Settings = newSettingFlags(restoreSettings...)
	cli.Migrate.Settings = newSettingFlags(migrateSettings...)
	for _, p := range []*placed{
		&cli.Company.List.placed, &cli.Company.Export.placed, &cli.Company.Import.placed, &cli.Company.Moved.placed,
		&cli.Company.Resume.placed, &cli.Company.Remove.placed,
	} {
		p.Settings = newSettingFlags(companySettings...)
	}
	cli.Restored.Mark.Settings = newSettingFlags(restoreSettings...)
	cli.Restored.Accept.Settings = newSettingFlags(restoreSettings...)
	return cli
}

func newParser(cli *commands, env *environment, exit func(int)) (*kong.Kong, error) {
	return kong.New(cli, kong.Name("carillon"), kong.Description(about), kong.Exit(exit),
		kong.Writers(env.Stdout, env.Stderr), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"triggered": triggered}, helpTexts)
}

// errFailed means that a command failed and has already printed the reason.
var errFailed = errors.New("failed")

// report prints an error to standard error and returns the exit code.
func report(env *environment, err error) int {
	var wrong usageError
	var refused *client.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintf(env.Stderr, "carillon: %v\n", err)
		return exitUsage
	case errors.As(err, &refused):
		_, _ = fmt.Fprintf(env.Stderr, "carillon: %s: %s\n", refused.Code, refused.Message)
		for _, d := range refused.Each() {
			_, _ = fmt.Fprintf(env.Stderr, "  %s: %s\n", d.Name, d.Text)
		}
		if refused.RequestID != "" {
			_, _ = fmt.Fprintf(env.Stderr, "  request_id: %s\n", refused.RequestID)
		}
		return exitFailed
	}
	_, _ = fmt.Fprintf(env.Stderr, "carillon: %v\n", err)
	return exitFailed
}

// jsonFlag is part of every command that prints a result.
type jsonFlag struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// show prints a document as JSON or as a table.
func (j jsonFlag) show(env *environment, document any, rows [][]string) error {
	if j.JSON {
		return writeJSON(env.Stdout, document)
	}
	return writeTable(env.Stdout, rows)
}

// done prints a document as JSON, or a one-line summary.
func (j jsonFlag) done(env *environment, document any, line string) error {
	if j.JSON {
		return writeJSON(env.Stdout, document)
	}
	_, err := fmt.Fprintln(env.Stdout, line)
	return err
}

// writeJSON writes one indented document.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(cleaner{raw(w), true})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeLine writes one document on one line.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(cleaner{raw(w), true})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
