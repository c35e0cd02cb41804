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

` + "`" + `carillon serve` + "`" + ` runs the service; its flags are the [settings](settings.md). Most other commands ` +
	`are HTTP clients of a running
service. ` + "`" + `apply` + "`" + ` ([provisioning](guides/provisioning.md)), ` + "`" + `backup` + "`" + `, ` + "`" +
	`restore` + "`" + `, ` + "`" + `restored mark` + "`" + ` ([backup](guides/backup.md)),
` + "`" + `migrate` + "`" + ` ([scale](guides/scale.md#from-sqlite-to-postgresql)) and ` + "`" + `company` + "`" +
	` ([cells](guides/cells.md)) work on the database or its folder.

A command finds the address of the service in this order: ` + "`" + `--url` + "`" + `, ` + "`" + `CARILLON_URL` + "`" +
	`, the ready file (` + "`" + `./data/ready.json` + "`" + `, which
` + "`" + `make run` + "`" + ` writes), ` + "`" + `http://127.0.0.1:8080` + "`" +
	`. In the demo, the ready file also has the API key and the owner's sign-in, which
are used only for that service. Other users of the machine can see flags, so put keys, passwords and tokens in a variable, or in
a file named by a flag or a variable with ` + "`" + `_FILE` + "`" + `. Times are shown in the machine's time zone, and in UTC in JSON.

` + "`" + `--json` + "`" + ` prints one document, or with ` + "`" + `watch` + "`" +
	` one line for each change. Exit codes are 0 for success, 1 for failure and 2 for a
usage error. A rate-limited request is repeated after ` + "`" + `retry_after` + "`" +
	`. If the service fails and a repeat is safe, the request is
repeated up to three times, with growing pauses.

## Sending to many

    carillon send --template hello --csv people.csv --var 'body_text_0={{name}}'

The first row of the file names the columns: ` + "`" + `number` + "`" + `, ` + "`" + `name` + "`" +
	` and your own columns, which you can use as placeholders. ` + "`" + `--column` + "`" + `
sets the column for a field. Encodings, separators and numbers are read as in the panel
([a file](guides/panel.md#sending-to-one-and-to-fifty-thousand), [numbers](guides/panel.md#numbers)). Each request has up to a
hundred recipients. If the file has an unreadable character or an odd quotation mark, the command shows the line and sends
nothing. Rows without a number, and recipients that the API would refuse, are reported with their line and left out.

Every request has an ` + "`" + `Idempotency-Key` + "`" + ` made of the file and the request. After a crash or a lost ` +
	`connection, run the same command
again within 24 hours: it continues and sends nothing twice. To send the same file again on purpose, name the run with ` +
	"`" + `--run-id` + "`" + `.
After the first accepted request, the command prints the sender, if the key may read notifications. It warns if ` + "`" +
	`--from` + "`" + ` is not
one of the company's senders, because then the default sender sends.

`

// commandsDoc renders docs/cli.md from kong's model of the commands.
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
	t.Parallel()
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
