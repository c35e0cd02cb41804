package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
)

func TestMoreCommandsAskAsTheContractSays(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.answer("/functions/v1/usage", `200 {"date":"2026-01-31","quota":0,"used":7,"reset_time":"2026-02-01T00:00:00Z",`+
		`"limits":{"sends_per_minute":6000,"templates_per_day":0}}`)
	s.try(nil, "usage").want(t, 0, "recipients         7 of no limit\n", "")
	s.answer("/functions/v1/notify/n-1", `200 {"notification_id":"n-1","scheduled_time":"2030-01-31T08:00:00Z"}`)
	s.try(nil, "notifications", "move", "n-1", "--at", "2030-01-31T09:00:00", "--tz", "Europe/Madrid").want(t, 0,
		"to be sent at 2030-01-31T08:00:00Z\n", "")
	s.answer("/functions/v1/suppressions", `200 {"data":[{"number":"34600111222","reason":"asked",`+
		`"created_at":"2026-01-31T00:00:00Z","type":"marketing"}],"next_cursor":null}`,
		`200 {"number":"34600111223","reason":"command line","created_at":"2026-01-31T00:00:00Z","type":"all"}`)
	s.try(nil, "suppressions", "list").want(t, 0, "34600111222  marketing  2026-01-31T00:00:00Z  asked\n", "")
	s.try(nil, "suppressions", "add", "34600111223").want(t, 0, "34600111223 is suppressed since", "")
	s.answer("/functions/v1/suppressions/34600111223", "204")
	s.try(nil, "suppressions", "remove", "34600111223").want(t, 0, "34600111223 is not suppressed any more\n", "")
	s.answer("/functions/v1/notify/template/components",
		`200 {"template":{"id":"7","name":"hello","status":"DRAFT","category":"UTILITY","language":"en",`+
			`"components":[{"text":"Hi {{1}}","type":"BODY"},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Go",`+
			`"url":"https://a.test/{{1}}"}]}],"parameter_format":"POSITIONAL"}}`)
	r := s.try(nil, "templates", "show", "hello")
	r.want(t, 0, "body       Hi {{1}}\n", "")
	r.want(t, 0, "button     URL Go https://a.test/{{1}}\n", "")
	s.answer("/functions/v1/notify/templates/7", "204")
	s.try(nil, "templates", "delete", "7").want(t, 0, "template 7 deleted\n", "")
	s.answer("/functions/v1/notify/voice", `200 {"success":true,"message":"Call queued successfully","notification_id":"n-2"}`)
	s.try(nil, "call", "--agent", "a-1", "--from", "line", "--to", "34600111222", "--var", "name=Ana").want(t, 0, "n-2\n", "")
	s.answer("/functions/v1/notify/voice", `200 {"success":true,"message":"Call queued successfully","notification_id":"n-3"}`)
	s.answer("/functions/v1/notify/n-3", `200 {"sender":{"id":"line","number":"1"},"timeline":[{"at":"","event":"default_sender",`+
		`"text":"default sender line sends"}]}`)
	s.try(nil, "call", "--agent", "a-1", "--from", "lime", "--to", "34600111222").want(t, 0, "n-3\n",
		"warning: default sender line sends\n")
}

func TestNumbersOfSeveralCompaniesAreSettled(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	line := func(company, name, id, declared string) string {
		return `{"company":"` + company + `","company_name":"` + name + `","id":"` + id + `","trunk":"sip:a.test","declared":` +
			declared + `}`
	}
	s.answer("/panel/v1/numbers", `200 {"data":[{"number":"15555550101","assigned":null,"disputed":true,"lines":[`+
		line("c-1", "Alpha", "main", "true")+`,`+line("c-2", "Beta", "line", "false")+`]},`+
		`{"number":"15555550102","assigned":"c-2","disputed":false,"lines":[`+line("c-2", "Beta", "two", "false")+`]}]}`)
	r := s.try(nil, "numbers", "list")
	for _, row := range []string{
		"15555550101  c-1      Alpha  main  sip:a.test  set-up file  refused: disputed\n",
		"15555550101  c-2      Beta   line  sip:a.test  a member     refused: disputed\n",
		"15555550102  c-2      Beta   two   sip:a.test  a member     assigned\n",
	} {
		r.want(t, 0, row, "")
	}
	s.answer("/panel/v1/numbers/15555550101", "204", "204")
	s.try(nil, "numbers", "assign", "15555550101", "c-2").want(t, 0, "15555550101 is c-2's\n", "")
	s.try(nil, "numbers", "release", "15555550101").want(t, 0, "15555550101 is assigned to no company\n", "")
}

func TestWhatATerminalWouldObeyIsShown(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	const hostile = `200 {"notification_id":"n-1","channel":"messaging","state":"completed","name_template":"hello",` +
		`"language_template":"en","recipient_id":"main",` +
		`"notification_type":"utility","campaign_name":"\u001b[2J\u001b]0;x\u0007\u009b31m\u202egnp\nnext\r",` +
		`"created_at":"2026-01-31T00:00:00Z","counts":{"sent":1},` +
		`"recipients":[{"message_id":"m","number":"34600111222","state":"failed","reason":"\u001b[A","attempts":1,"times":{}}]}`
	for _, args := range [][]string{
		{"notifications", "show", "n-1"}, {"notifications", "watch", "n-1"}, {"notifications", "show", "n-1", "--json"},
	} {
		s.answer("/functions/v1/notify/n-1", hostile)
		r := s.try(nil, args...)
		if strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07\u009b\u202e\r") {
			t.Errorf("%v prints %q", args, r.stdout+r.stderr)
		}
	}
	s.answer("/functions/v1/notify/n-1", `400 {"error":"validation_failed","message":"\u001b[2J","details":{"field":"\u001b[A"},`+
		`"request_id":"r"}`)
	if r := s.try(nil, "notifications", "show", "n-1"); strings.Contains(r.stderr, "\x1b") {
		t.Errorf("an error prints %q", r.stderr)
	}
}

func TestANewPasswordIsAskedTwiceAndNotShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed []string
		code  int
		want  string
	}{
		{[]string{"correct horse battery", "correct horse battery"}, 0, "ana@a.test is owner"},
		{[]string{"correct horse battery", "correct horse batter"}, exitUsage, "the two passwords differ"},
	} {
		s := newStrict(t)
		s.answer("/panel/v1/users", `201 {"id":"u-1","email":"ana@a.test","name":"ana","role":"owner"}`)
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{
			"users", "add", "--first", "--company", "A", "--email", "ana@a.test", "--token", "the-token",
		}, environment{
			Stdin: strings.NewReader("shown\n"), Stdout: &out, Stderr: &errs, Asks: true,
			Secret: func(context.Context) (string, error) {
				line := c.typed[0]
				c.typed = c.typed[1:]
				return line, nil
			},
			Lookup: func(name string) (string, bool) {
				if name != "CARILLON_URL" {
					return "", false
				}
				return s.url, true
			},
		})
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) ||
			strings.Contains(out.String()+errs.String(), "horse") {
			t.Errorf("code %d\n%s%s", code, &out, &errs)
		}
	}
}

func TestSendReadsOtherSeparatorsColumnsAndShortRows(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	file := csvFile(t, "Teléfono;Nombre\n34600111222;Ana, María\n34600111223\n34600111225;Eva\n")
	args := []string{"send", "--template", "hello", "--from", "main", "--csv", file, "--var", "body_text_0={{name}}"}
	s.try(nil, args...).want(t, exitUsage, "",
		`no column has the name number: say which holds it, as --column number="Teléfono"; the file has Teléfono, Nombre`)
	s.try(nil, append(args, "--column", "number=Telefono")...).want(t, exitUsage, "", "no column has the name Telefono")
	r := s.try(nil, append(args, "--column", "number=Teléfono", "--column", "name=Nombre")...)
	r.want(t, exitFailed, "n-", "line 3: no value for {{name}}\n")
	r.want(t, exitFailed, "n-", "2 accepted (0 of them by an earlier run), 1 failed")
	if len(s.sent) != 1 || s.sent[0].Contacts[0]["name"] != "Ana, María" {
		t.Errorf("sent %v", s.sent)
	}
}

func TestWatchSaysWhatItWaitsForAndStopsCleanly(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	const waiting = `200 {"notification_id":"n-1","channel":"messaging","state":"scheduled","recipient_id":"main",` +
		`"notification_type":"utility","campaign_name":"c",` +
		`"created_at":"2026-01-31T00:00:00Z","scheduled_time":"2999-01-31T00:00:00Z","counts":{"scheduled":1},` +
		`"recipients":[{"message_id":"m","number":"34600111222","state":"scheduled","attempts":0,"times":{}}]}`
	s.answer("/functions/v1/notify/n-1", waiting, waiting, waiting, waiting)
	ctx, cancel := context.WithCancel(t.Context())
	said := &announced{text: "scheduled for 2999", done: make(chan struct{})}
	go func() {
		<-said.done
		cancel()
	}()
	var out bytes.Buffer
	code := run(ctx, []string{"notifications", "watch", "n-1"}, environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: said,
		Lookup: func(name string) (string, bool) {
			v, set := map[string]string{"CARILLON_URL": s.url, "CARILLON_ACCESS_KEY": testKey}[name]
			return v, set
		},
	})
	for _, want := range []string{
		"until every recipient has ended or is read", "scheduled for 2999-01-31 ", "stopped watching; the notification goes on\n",
	} {
		if !strings.Contains(said.all.String(), want) {
			t.Errorf("code %d, no %q in\n%s", code, want, &said.all)
		}
	}
	if code != exitFailed || strings.Contains(said.all.String(), "context canceled") {
		t.Errorf("code %d\n%s", code, &said.all)
	}
}

func TestShellsCompleteCommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	for words, want := range map[string]string{
		"no":                            "notifications\n",
		"notifications w":               "watch\n",
		"notifications watch --un":      "--until\n",
		"notifications watch --until d": "delivered\n",
		"completion ":                   "bash\nzsh\nfish\n",
		"notifications show n-1 --j":    "--json\n",
		"nothing":                       "",
	} {
		r := s.try(nil, append([]string{"complete", "--"}, strings.Split(words, " ")...)...)
		if r.code != 0 || r.stdout != want {
			t.Errorf("%s: %q, want %q\n%s", words, r.stdout, want, r.stderr)
		}
	}
	for shell, check := range map[string][]string{"bash": {"bash", "-n"}, "zsh": nil, "fish": nil} {
		r := s.try(nil, "completion", shell)
		r.want(t, 0, "carillon complete -- ", "")
		if check == nil {
			continue
		}
		c := exec.CommandContext(t.Context(), check[0], check[1:]...)
		c.Stdin = strings.NewReader(r.stdout)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}
