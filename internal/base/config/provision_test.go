package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource/resourcetest"
)

// closed keeps a set-up from reading the environment and files of the test machine.
func closed() ProvisionOptions {
	return ProvisionOptions{
		Kinds: resourcetest.Kinds(),
		Env: func(name string) (string, bool) {
			if name == "TOKEN" {
				return "from-the-environment", true
			}
			return "", false
		},
		File: func(path string) (string, error) {
			if path == "setup/secret.txt" {
				return "from-the-file", nil
			}
			return "", errors.New("there is no such file")
		},
	}
}

func TestExampleIsReadInFull(t *testing.T) {
	text, err := os.ReadFile("testdata/provision.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseProvision("example.yaml", text, closed())
	if err != nil {
		t.Fatal(err)
	}
	c := p.Companies[0]
	sizes := []int{len(p.Companies), len(c.Users), len(c.Keys), len(c.Senders), len(c.Templates), len(c.Resources), len(c.Suppressions)}
	if diff := cmp.Diff([]int{1, 2, 4, 2, 1, 7, 1}, sizes); diff != "" {
		t.Error(diff)
	}
	wantCompany := carillon.Company{
		Name: "Acme Travel",
		CallingHours: &carillon.CallingHours{
			Timezone: "Europe/Madrid", From: "09:00", To: "21:00", Days: []string{"mon", "tue", "wed", "thu", "fri"},
		},
		Redial: carillon.Redial{
			Outcomes: []carillon.State{carillon.StateBusy, carillon.StateNoAnswer}, Attempts: 2, After: 10 * time.Minute,
		},
		Limits: carillon.Limits{
			ListsPerMinute: 600, DailyCalls: 10_000, DailyBytes: 10_000_000_000, TemplatesPerDay: 10, EngineTurnsPerDay: 2000,
		},
		RetentionDays: 90,
	}
	suspended := carillon.NewCompany("Old")
	suspended.Suspended = true
	if diff := cmp.Diff(wantCompany, c.Over(suspended)); diff != "" {
		t.Error(diff)
	}
	wantSender := carillon.Sender{
		ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "whatsapp", Default: true, PerSecond: 80,
		PerRecipient: 6 * time.Second, MediaCheck: "full", Unknown: carillon.DefaultUnknownPolicy(),
		Settings: json.RawMessage(
			`{"access_token":"provider-token","app_secret":"provider-app-secret","base_url":"http://127.0.0.1:9701",` +
				`"phone_number_id":"1000001","verify_token":"provider-verify-token","version":"v23.0","waba_id":"2000001"}`),
	}
	if diff := cmp.Diff(wantSender, c.Senders[0].Sender); diff != "" {
		t.Error(diff)
	}
	if line := c.Senders[1]; line.RingTimeout != 45*time.Second || line.MaxConcurrent != 200 {
		t.Errorf("the line: %+v", line)
	}
	wantKey := Key{
		At: Position{"example.yaml", 22, 9}, Key: "ck_test_expired", Label: "old", Scopes: []string{"*"},
		ExpiresAt: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(wantKey, c.Keys[2]); diff != "" {
		t.Error(diff)
	}
	components, _ := json.Marshal(c.Templates[0].Components)
	wantComponents := `[{"type":"HEADER","format":"TEXT","text":"Pedido {{1}}","example":{"header_text":["A-1"]}},` +
		`{"type":"BODY","text":"Hola {{1}}, tu pedido {{2}} llega el {{3}}.","example":{"body_text":[["Ana","A-1","lunes"]]}},` +
		`{"type":"FOOTER","text":"Acme Travel"},` +
		`{"type":"BUTTONS","buttons":[{"type":"URL","text":"Ver","url":"https://acme.test/p/{{1}}"},{"type":"QUICK_REPLY",` +
		`"text":"Gracias"}]}]`
	if diff := cmp.Diff(wantComponents, string(components)); diff != "" {
		t.Error(diff)
	}
	flow, _ := json.Marshal(c.Resources[2].Resource.(*resourcetest.Thing).Steps)
	wantFlow := `[{"say":"Hola {{name}}, ¿recibió su pedido?"},{"ask":"received","choices":["sí","no"]},` +
		`{"if":"received == 'no'","then":[{"handoff":"support"}],"else":[{"say":"¡Gracias!"}]}]`
	if diff := cmp.Diff(wantFlow, string(flow)); diff != "" {
		t.Error(diff)
	}
}

// in wraps the parts of a company, indented by four, in a set-up. The parts begin at line 3.
func in(parts string) string {
	return "companies:\n  - name: Acme\n    " + strings.ReplaceAll(strings.TrimSpace(parts), "\n", "\n    ") + "\n"
}

func TestProblemsAreToldWithTheirPlace(t *testing.T) {
	sender := `senders: [{id: main, number: "15555550100", channel: messaging, provider: sandbox}]` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown field at the top", "company: []\n", `setup/a.yaml:1:1: unknown field "company"`},
		{"unknown field, mistyped", in("user: []"), `setup/a.yaml:3:5: unknown field "user": did you mean users?`},
		{
			"unknown field in a flow mapping", in(`users: [{email: a@b.test, pasword: x}]`),
			`setup/a.yaml:3:31: unknown field "pasword": did you mean password?`,
		},
		{"duplicate field", in("status: active\nstatus: active"), `setup/a.yaml:4:5: mapping key "status" already defined at [3:5]`},
		{"no name", "companies:\n  - status: active\n", "setup/a.yaml:2:5: name is required"},
		{"blank name", "companies:\n  - name: \" \"\n", "setup/a.yaml:2:11: name must not be empty"},
		{"companies is a mapping", "companies: {name: a}\n", "setup/a.yaml:1:12: companies must be a list, not a mapping"},
		{"a list at the top", "- a\n", "setup/a.yaml:1:1: a set-up must be a mapping of fields, not a list"},
		{
			"two documents", "companies: []\n---\ncompanies: []\n",
			"setup/a.yaml:3:1: a set-up is one document: put the second one into a file of its own",
		},
		{
			"an alias", "companies:\n  - &a {name: Acme}\n  - *a\n", "setup/a.yaml:2:5: a company must be a mapping of fields, not " +
				"an anchor, alias or tag, which are not read here\nsetup/a.yaml:3:5: a company must be a mapping of fields, not an " +
				"anchor, alias or tag, which are not read here",
		},
		{"a merge key", in("<<: {status: active}"), "setup/a.yaml:3:5: a field's name must be a plain text"},
		{"no YAML", "companies: [", "setup/a.yaml:1:12: sequence end token ']' not found"},
		{"number without quotes", in(`suppressions: [15555550100]`), "setup/a.yaml:3:20: suppressions must be a text: put it in quotes"},
		{"bad id", in(`id: acme`), "setup/a.yaml:3:9: id must be a UUID"},
		{"bad status", in(`status: closed`), "setup/a.yaml:3:13: status must be one of active, suspended"},
		{"text for a truth", in(`strict_recipient_id: "yes"`), "setup/a.yaml:3:26: strict_recipient_id must be true or false, not a text"},
		{
			"negative limit", in(`limits: {daily_recipients: -1}`),
			"setup/a.yaml:3:32: daily_recipients must be a whole number from 0 to 1000000000",
		},
		{
			"limit of bytes", in(`limits: {daily_bytes: 1000000000000001}`),
			"setup/a.yaml:3:27: daily_bytes must be a whole number from 0 to 1000000000000000",
		},
		{
			"octal limit", in(`limits: {daily_recipients: 010}`),
			"setup/a.yaml:3:32: daily_recipients must be a whole number from 0 to 1000000000",
		},
		{
			"unknown zone", in(`calling_hours: {timezone: Europe/Atlantis}`),
			"setup/a.yaml:3:31: timezone must be an IANA time zone such as Europe/Madrid",
		},
		{
			"hours that begin at the end of the day", in(`calling_hours: {from: "24:00"}`),
			"setup/a.yaml:3:27: from must be a time of day such as 09:00",
		},
		{
			"unknown outcome", in(`redial: {outcomes: [busy, completed]}`),
			"setup/a.yaml:3:31: outcomes must be one of busy, no_answer, rejected, voicemail",
		},
		{"too many redials", in(`redial: {attempts: 11}`), "setup/a.yaml:3:24: attempts must be a whole number from 0 to 10"},
		{
			"redialed too soon", in(`redial: {after: 59s}`),
			"setup/a.yaml:3:21: after must be a duration such as 6s or 10m, in whole milliseconds, from 1m0s to 24h0m0s",
		},
		{
			"redialed too late", in(`redial: {after: 25h}`),
			"setup/a.yaml:3:21: after must be a duration such as 6s or 10m, in whole milliseconds, from 1m0s to 24h0m0s",
		},
		{"user without e-mail", in(`users: [{role: owner}]`), "setup/a.yaml:3:13: email is required"},
		{
			"user twice", in(`users: [{email: a@b.test}, {email: A@b.test}]`),
			"setup/a.yaml:3:32: a user of this e-mail is declared before, at setup/a.yaml:3:13",
		},
		{
			"unknown role", in(`users: [{email: a@b.test, role: king}]`),
			"setup/a.yaml:3:37: role must be one of viewer, teammate, marketer, developer, admin, owner",
		},
		{"short password", in(`users: [{email: a@b.test, password: hunter2}]`), "setup/a.yaml:3:31: password must have 8 to 1,024 bytes"},
		{
			"unknown scope", in(`keys: [{key: ck_abcdef, scopes: [send]}]`), "setup/a.yaml:3:38: scopes must be one of *, " +
				"notify:send, notify:read, voice:send, messages:write, templates:read, templates:write, widget:use, " +
				"suppressions:write, usage:read",
		},
		{
			"key twice", in(`keys: [{key: ck_abcdef}, {key: ck_abcdef}]`),
			"setup/a.yaml:3:30: this key is declared before, at setup/a.yaml:3:12",
		},
		{
			"bad instant", in(`keys: [{key: ck_abcdef, expires_at: 2020-01-01}]`),
			"setup/a.yaml:3:41: expires_at must be an instant such as 2030-01-31T09:00:00Z",
		},
		{
			"env that is not set", in(`keys: [{key: {env: NOPE}}]`),
			"setup/a.yaml:3:18: key names the environment variable NOPE, which is not set\nsetup/a.yaml:3:13: key must be 8",
		},
		{
			"file that is not there", in(`users: [{email: a@b.test, password: {file: nope}}]`),
			"setup/a.yaml:3:41: password cannot be read from its file: there is no such file",
		},
		{
			"secret in the wrong place", in(`users: [{email: a@b.test, password: {hunter2: }}]`),
			"setup/a.yaml:3:41: password must be a text, {env: NAME} or {file: PATH}",
		},
		{
			"sender without anything", in(`senders: [{}]`), "setup/a.yaml:3:15: number is required\nsetup/a.yaml:3:15: channel is " +
				"required: one of messaging, voice\nsetup/a.yaml:3:15: provider is required: one of whatsapp, sandbox",
		},
		{
			"number with a plus", in(`senders: [{number: "+15555550100", channel: messaging, provider: sandbox}]`),
			"setup/a.yaml:3:24: number must be 7 to 15 digits, no + or spaces",
		},
		{
			"provider of the other channel", in(`senders: [{number: "15555550100", channel: voice, provider: whatsapp}]`),
			"setup/a.yaml:3:65: provider must be one of sip, sandbox, twilio, elevenlabs",
		},
		{
			"two defaults", in(`
senders:
  - {id: a, number: "15555550100", channel: messaging, provider: sandbox, default: true}
  - {id: b, number: "15555550101", channel: messaging, provider: sandbox, default: true}`),
			"setup/a.yaml:5:79: a default messaging sender is declared before, at setup/a.yaml:4:79",
		},
		{
			"duration without a unit", in(`senders: [{number: "15555550100", channel: messaging, provider: sandbox, ` +
				`per_recipient_interval: 6}]`), "setup/a.yaml:3:102: per_recipient_interval must be a duration such as 6s or 10m",
		},
		{
			"ring time-out of a messaging sender",
			in(`senders: [{number: "15555550100", channel: messaging, provider: sandbox, ring_timeout: 45s}]`),
			"setup/a.yaml:3:78: ring_timeout is for voice lines",
		},
		{
			"short ring time-out", in(`senders: [{number: "15555550100", channel: voice, provider: sandbox, ring_timeout: 4s}]`),
			"setup/a.yaml:3:88: ring_timeout must be a duration such as 6s or 10m, in whole milliseconds, from 5s to 2m0s",
		},
		{
			"long ring time-out", in(`senders: [{number: "15555550100", channel: voice, provider: sandbox, ring_timeout: 121s}]`),
			"setup/a.yaml:3:88: ring_timeout must be a duration such as 6s or 10m, in whole milliseconds, from 5s to 2m0s",
		},
		{
			"nested settings", in(`senders: [{number: "15555550100", channel: voice, provider: sip, settings: {trunk: [a]}}]`),
			"setup/a.yaml:3:88: trunk must be a text, not a list",
		},
		{
			"template without anything", in(sender + `templates: [{}]`), "setup/a.yaml:4:17: sender is required\nsetup/a.yaml:4:17: " +
				"name is required\nsetup/a.yaml:4:17: language is required\nsetup/a.yaml:4:17: category is required: one of " +
				"MARKETING, UTILITY, AUTHENTICATION\nsetup/a.yaml:4:17: body is required",
		},
		{
			"template name", in(sender + `templates: [{sender: main, name: Order, language: es, category: UTILITY, body: a}]`),
			"setup/a.yaml:4:38: name must be 1 to 512 characters of a-z, 0-9 and _",
		},
		{
			"body too long", in(sender + `templates: [{sender: main, name: a, language: es, category: UTILITY, body: "` +
				strings.Repeat("x", 1025) + `"}]`), "setup/a.yaml:4:74: body: ",
		},
		{
			"examples that do not match", in(sender +
				`templates: [{sender: main, name: a, language: es, category: UTILITY, body: "{{1}} {{2}}", examples: {body: [a]}}]`),
			"setup/a.yaml:4:106: body needs 2 examples, one for each variable, not 1",
		},
		{
			"text of a media header", in(sender +
				`templates: [{sender: main, name: a, language: es, category: UTILITY, body: a, header: {format: IMAGE, text: b}}]`),
			"setup/a.yaml:4:107: text is for headers of format TEXT",
		},
		{
			"button without an address", in(sender +
				`templates: [{sender: main, name: a, language: es, category: UTILITY, body: a, buttons: [{type: URL, text: b}]}]`),
			"setup/a.yaml:4:93: url is required of a button of type URL",
		},
		{"text for a list", in(`agents: [{name: a, tools: sing}]`), "setup/a.yaml:3:31: tools must be a list, not a text"},
		{"text for a part", in(`agents: [{name: a, trigger: sing}]`), "setup/a.yaml:3:33: trigger must be a mapping of fields, not a text"},
		{"number in a map", in(`widgets: [{name: a, translations: {es: 3}}]`), "setup/a.yaml:3:44: es must be a text: put it in quotes"},
		{
			"secret of a resource in the wrong place", in(`webhooks: [{url: a, secret: {hunter2: }}]`),
			"setup/a.yaml:3:33: secret must be a text, {env: NAME} or {file: PATH}",
		},
		{
			"resource twice", in(`agents: [{name: a}, {name: a}]`),
			"setup/a.yaml:3:25: an agent of this name is declared before, at setup/a.yaml:3:14",
		},
		{
			"a fault that the type finds", in(`flows: [{name: a, steps: [{say: a}, {choices: [b]}]}]`),
			"setup/a.yaml:3:41: steps must say or ask something",
		},
		{"a missing field that the type finds", in(`webhooks: [{events: ["*"]}]`), "setup/a.yaml:3:16: name is required"},
		{"a blank field that the type finds", in(`agents: [{name: " "}]`), "setup/a.yaml:3:21: name must not be empty"},
		{
			"unknown field of a step", in(`flows: [{name: a, steps: [{if: x, then: [{say: a, choice: [b]}]}]}]`),
			`setup/a.yaml:3:55: unknown field "choice": did you mean choices?`,
		},
		{"company twice", "companies: [{name: a}, {name: a}]\n", "setup/a.yaml:1:24: the company is declared before, at setup/a.yaml:1:13"},
		{"nested too deeply", "companies: " + strings.Repeat("[", 100) + "\n", "setup/a.yaml:1:76: nested too deeply"},
		{"not UTF-8", "companies: \xff\n", "setup/a.yaml:1:1: the file is not UTF-8 text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseProvision("setup/a.yaml", []byte(c.text), closed())
			if err == nil {
				t.Fatalf("no problem, want %s", c.want)
			}
			for line := range strings.SplitSeq(c.want, "\n") {
				if !strings.Contains(err.Error(), line) {
					t.Errorf("got\n%v\nwant\n%s", err, c.want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the problem shows a secret: %v", err)
			}
			if _, ok := errors.AsType[Problems](err); !ok {
				t.Errorf("%T is no Problems", err)
			}
		})
	}
}

func TestProblemsAreSortedAndBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("companies:\n")
	for i := range 30 {
		fmt.Fprintf(&text, "  - {name: c%d, status: x, id: y}\n", i)
	}
	_, err := ParseProvision("a.yaml", []byte(text.String()), closed())
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 21 || lines[20] != "and 40 more" {
		t.Fatalf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if !strings.HasPrefix(lines[0], "a.yaml:2:24: status") || !strings.HasPrefix(lines[1], "a.yaml:2:31: id") ||
		!strings.HasPrefix(lines[2], "a.yaml:3:24: status") {
		t.Errorf("not by place:\n%s", strings.Join(lines[:3], "\n"))
	}
}

func TestSecretsComeFromEnvironmentAndFile(t *testing.T) {
	p, err := ParseProvision("setup/a.yaml", []byte(in(`
users: [{email: a@b.test, password: {env: TOKEN}}]
senders: [{number: "15555550100", channel: voice, provider: sip, settings: {password: {file: secret.txt}, port: 5060,
  tls: true}}]`)), closed())
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Companies[0].Users[0].Password; got != "from-the-environment" {
		t.Errorf("password %q", got)
	}
	if got := string(p.Companies[0].Senders[0].Settings); got != `{"password":"from-the-file","port":5060,"tls":true}` {
		t.Errorf("settings %s", got)
	}
}

func TestColonsInsideListsAreText(t *testing.T) {
	for _, keys := range []string{
		`[{scopes: [notify:send, templates:read ], label: a}]`, `[{scopes: [ "notify:send", templates:read]}]`,
		"[{label: a, scopes: [notify:send,templates:read]}]", "\n- scopes: [notify:send, templates:read]",
	} {
		p, err := ParseProvision("a.yaml", []byte(in("keys: "+keys)), closed())
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if diff := cmp.Diff([]string{"notify:send", "templates:read"}, p.Companies[0].Keys[0].Scopes); diff != "" {
			t.Errorf("%s: %s", keys, diff)
		}
	}
	if _, err := ParseProvision("a.yaml", []byte(in(`flows: [{name: a, steps: [say: b]}]`)), closed()); err != nil {
		t.Errorf("a mapping of one pair in a list: %v", err)
	}
}

func TestDefaultsOfWhatIsLeftOut(t *testing.T) {
	p, err := ParseProvision("a.yaml", []byte(in(`
users: [{email: a@b.test}]
keys: [{}]
senders: [{number: "15555550100", channel: messaging, provider: sandbox}, {number: "15555550100", channel: voice, provider: sandbox}]
templates: [{sender: "15555550100", name: a, language: es, category: UTILITY, body: "Hola {{name}}"}]
agents: [{name: a}]
widgets: [{name: w}]
webhooks: [{url: "https://a.test"}]`)), closed())
	if err != nil {
		t.Fatal(err)
	}
	c := p.Companies[0]
	now := carillon.Company{Name: "Acme", Suspended: true, StrictRecipientID: true, Limits: carillon.Limits{DailyRecipients: 7}}
	if diff := cmp.Diff(now, c.Over(now)); diff != "" {
		t.Error(diff)
	}
	got := []any{
		c.Users[0].Role, c.Keys[0].Label, c.Keys[0].Scopes[0], c.Senders[0].ID, c.Senders[1].ID, c.Senders[0].MediaCheck,
		c.Senders[0].PerSecond, c.Senders[0].RingTimeout, c.Senders[1].RingTimeout, c.Templates[0].Status, c.Templates[0].ParameterFormat,
	}
	want := []any{
		"", "default", "*", "15555550100", "voice-15555550100", "syntax", 0, time.Duration(0), 45 * time.Second,
		carillon.TemplateApproved, "NAMED",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompanySaysHowCallsAreRepeated(t *testing.T) {
	busy, noAnswer, voicemail := carillon.StateBusy, carillon.StateNoAnswer, carillon.StateVoicemail
	for text, want := range map[string]carillon.Redial{
		`status: active`:                       {},
		`redial: {}`:                           {Outcomes: []carillon.State{busy, noAnswer}, Attempts: 2, After: 10 * time.Minute},
		`redial: {attempts: 0}`:                {Outcomes: []carillon.State{busy, noAnswer}, Attempts: 0, After: 10 * time.Minute},
		`redial: {outcomes: [], after: 24h}`:   {Outcomes: []carillon.State{}, Attempts: 2, After: 24 * time.Hour},
		`redial: {outcomes: [voicemail,busy]}`: {Outcomes: []carillon.State{busy, voicemail}, Attempts: 2, After: 10 * time.Minute},
	} {
		p, err := ParseProvision("a.yaml", []byte(in(text)), closed())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, p.Companies[0].Over(carillon.Company{}).Redial); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestCallingHoursMayExtendIntoTheNextDay(t *testing.T) {
	p, err := ParseProvision("a.yaml", []byte(in(`calling_hours: {from: "21:00", to: "09:00", days: [sun, mon]}`)), closed())
	if err != nil {
		t.Fatal(err)
	}
	want := &carillon.CallingHours{Timezone: "UTC", From: "21:00", To: "09:00", Days: []string{"mon", "sun"}}
	if diff := cmp.Diff(want, p.Companies[0].Over(carillon.Company{}).CallingHours); diff != "" {
		t.Error(diff)
	}
}

func TestProviderChecksItsSettings(t *testing.T) {
	o := closed()
	o.CheckSettings = map[string]func(json.RawMessage) error{"sip": func(raw json.RawMessage) error {
		if strings.Contains(string(raw), "trunk") {
			return carillon.Invalid("settings.trunk", "This must be a SIP address")
		}
		return carillon.Missing("settings.trunk")
	}}
	for settings, want := range map[string]string{
		`, settings: {trunk: x}`: "a.yaml:3:81: settings.trunk: This must be a SIP address",
		`, settings: {}`:         "a.yaml:3:70: settings.trunk: This field is required",
		``:                       "a.yaml:3:15: settings.trunk: This field is required",
	} {
		_, err := ParseProvision("a.yaml", []byte(in(`senders: [{number: "15555550100", channel: voice, provider: sip`+settings+`}]`)), o)
		if fmt.Sprint(err) != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestFilesTogetherAreOneSetUp(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := write("a.yaml", in(`users: [{email: a@b.test}]`))
	second := write("b.yaml", in(`users: [{email: b@b.test}]`))
	third := write("c.yaml", in(`users: [{email: a@b.test}]`))
	p, err := ReadProvision([]string{first, second}, closed())
	if err != nil || len(p.Companies) != 1 || len(p.Companies[0].Users) != 2 {
		t.Fatalf("%v, %+v", err, p)
	}
	_, err = ReadProvision([]string{first, second, third}, closed())
	if want := third + ":3:13: a user of this e-mail is declared before, at " + first + ":3:13"; fmt.Sprint(err) != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func FuzzProvision(f *testing.F) {
	example, err := os.ReadFile("testdata/provision.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	for _, seed := range []string{
		"", "# nothing", "companies:", "companies: [{name: a}]", "companies: [{name: &a b}, *a]", "? a\n: b", "<<: {a: b}", "a: !!binary x",
		"companies: [{name: a, users: [{email: a@b.c, password: {env: TOKEN}}]}]", "a: |\n x\n---\nb: >-\n y", "\ta", "a: \"\\uD800\"",
		in("flows: [{name: a, steps: [{if: x, then: [{say: a}], else: [{ask: b, choices: [c]}]}]}]"), "- - - - a", "{{1}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProvision("a.yaml", []byte(text), closed())
		var problems Problems
		if err != nil && (!errors.As(err, &problems) || len(problems) == 0 || p != nil) {
			t.Fatalf("%#v", err)
		}
		for _, x := range problems {
			if x.At.Line < 1 || x.At.Column < 1 || x.At.Line > strings.Count(text, "\n")+2+strings.Count(text, "\r") {
				t.Errorf("a problem at %v", x.At)
			}
		}
	})
}
