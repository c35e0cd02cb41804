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

` + "`" + `carillon serve` + "`" +
	` runs the service; its flags are the [settings](settings.md). The other commands are clients of a running
service over HTTP, except ` + "`" + `apply` + "`" + ` ([provisioning](guides/provisioning.md)), ` + "`" + `backup` + "`" + `, ` +
	"`" + `restore` + "`" + ` and ` + "`" + `restored mark` + "`" + `
([backup](guides/backup.md)), which work on the database or its folder.

The address of the service is ` + "`" + `--url` + "`" + `, else ` + "`" + `CARILLON_URL` + "`" + `, else that of the ready file (` +
	"`" + `./data/ready.json` + "`" + `, which ` + "`" + `make run` + "`" + `
writes), else ` + "`" + `http://127.0.0.1:8080` + "`" +
	`. In the demo the ready file also has the access key and the owner's sign-in, which are used
for that service only. Keys, passwords and tokens may be in a variable, or in a file that a flag or a variable with ` + "`" +
	`_FILE` + "`" + ` names,
because other users of the machine see flags. Times are shown in the zone of the machine, in JSON in UTC.

` + "`" + `--json` + "`" + ` prints one document, and with ` + "`" + `watch` + "`" +
	` a line for each change. Exit codes: 0 success, 1 failure, 2 usage. Requests are
repeated after ` + "`" + `retry_after` + "`" +
	` when they are limited, and up to three times with growing pauses when the service failed and
repeating is safe.

## Sending to many

    carillon send --template hello --csv people.csv --var 'body_text_0={{name}}'

The first row of the file names the columns: ` + "`" + `number` + "`" + `, ` + "`" + `name` + "`" +
	`, and your own, each of which is a placeholder; ` + "`" + `--column` + "`" + ` says which
column of the file holds a field. Encodings, separators and numbers are read as in the panel
([a file](guides/panel.md#sending-to-one-and-to-fifty-thousand), [numbers](guides/panel.md#numbers)). A request has up to a hundred
recipients. A file with a character that cannot be read, or an odd quotation mark, is refused with the line before anything is sent.
Rows without a number, and recipients that the interface would refuse, are reported with their line and left out. Every request has
an ` + "`" + `Idempotency-Key` + "`" +
	` made of the file and the request, so that after a crash or a lost connection the same command continues where
it stopped and sends nothing twice, for 24 hours. To send the same file again, name the run with ` + "`" + `--run-id` + "`" + `.
Once the first request is accepted, the command names the sender, if the key may read notifications, and warns when
` + "`" + `--from` + "`" + ` is none of the company's senders, so that the default sender sends.

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
