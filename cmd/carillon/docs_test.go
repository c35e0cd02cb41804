package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

const docHead = `# Command line

<!-- Made from the commands by: go test ./cmd/carillon -run TestCommandsDoc -update -->

` + "`carillon serve` runs the service, and its flags are the [settings](settings.md). The other commands talk to a running one\n" +
	"over HTTP, but for `apply` ([provisioning](guides/provisioning.md)), `backup`, `restore` and `restored mark`\n" +
	"([backup](guides/backup.md)), which work on the database itself.\n" + `
They find the program by ` + "`--url`" + `, else ` + "`CARILLON_URL`" + `, else by the ready file that it wrote (` + "`./data/ready.json`" + `, as ` + "`make run`" + `
makes it), else at ` + "`http://127.0.0.1:8080`" + `. In the demo the ready file gives the access key and the owner's sign-in too, for
that very program and no other. Keys, passwords and tokens may stand in a variable, or in a file that a flag or a
variable with ` + "`_FILE`" + ` names; other users of the machine see flags. No command shows a key, but for the one that makes it.

` + "`--json`" + ` gives one document, and of ` + "`watch`" + ` a line for each change. Exit codes: 0 ok, 1 failed, 2 usage. Requests are tried
again by the contract's rules: after ` + "`retry_after`" + ` when limited, up to three times with growing pauses when the program
failed and repeating is safe.

## Sending to many

    carillon send --template hello --csv people.csv --var 'body_text_0={{name}}'

The first row of the file names the columns: ` + "`number`" + `, ` + "`name`" + `, and any of your own, each of which a placeholder may name.
Recipients go out a hundred a request. What the interface would refuse is reported line by line and left out; the rest is
sent. Every request carries an ` + "`Idempotency-Key`" + ` made from the file and what is sent, so that after a crash or a lost
connection the same command goes on where it stopped and sends nothing twice, for 24 hours. ` + "`--run-id`" + ` names the run
yourself: give each campaign day its own to send the same file again.

`

// commandsDoc is docs/cli.md: the commands as kong knows them.
func commandsDoc(t *testing.T) string {
	t.Helper()
	parser, err := newParser(newCommands(), &environment{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(docHead)
	for _, n := range parser.Model.Leaves(true) {
		fmt.Fprintf(&b, "## carillon %s\n\n%s\n\n", strings.TrimPrefix(n.Path(), "carillon "), n.Help)
		if n.Name == "serve" {
			b.WriteString("Its flags are the [settings](settings.md).\n\n")
			continue
		}
		for _, p := range n.Positional {
			fmt.Fprintf(&b, "- `<%s>`: %s\n", p.Name, p.Help)
		}
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				if f.Name != "help" {
					fmt.Fprintf(&b, "- %s: %s\n", flagOf(f), f.Help)
				}
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func flagOf(f *kong.Flag) string {
	text := "`--" + f.Name
	if !f.IsBool() {
		text += "=" + f.FormatPlaceHolder()
	}
	text += "`"
	if f.Short != 0 {
		text = "`-" + string(f.Short) + "`, " + text
	}
	if f.Required {
		text += " (required)"
	}
	return text
}

func TestCommandsDocIsFresh(t *testing.T) {
	const name = "../../docs/cli.md"
	want := commandsDoc(t)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("docs/cli.md is stale; run: go test ./cmd/carillon -run TestCommandsDoc -update\n%s", diff)
	}
}
