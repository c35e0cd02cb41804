package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

// holdFolder creates a data folder and opens it like a running program.
func holdFolder(t *testing.T, dir string) string {
	t.Helper()
	key, err := (&config.Config{Data: dir}).MasterKey()
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), store.Options{Dir: dir, MasterKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func csvFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "r.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSendPutsEveryFlagIntoTheRequest(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	r := s.try(nil, "send", "--template", "hello", "--lang", "es_ES", "--from", "main", "--to", "34600111222", "--to", "34600111223",
		"--var", "body_text_0=Ana, a=b", "--at", "2030-01-31T09:00:00", "--tz", "Europe/Madrid", "--type", "marketing",
		"--campaign", "c", "--event", "e")
	r.want(t, 0, "n-", "2 accepted")
	got, _ := json.Marshal(s.sent[0].Body)
	want := `{"campaign_name":"c","components_push":{"body_text_0":"Ana, a=b"},"contacts":[{"number":"34600111222"},` +
		`{"number":"34600111223"}],` +
		`"datetime_sending":"2030-01-31T09:00:00","language_template":"es_ES","name_event":"e","name_template":"hello",` +
		`"notification_type":"marketing",` +
		`"recipient_id":"main","timezone":"Europe/Madrid"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestSendReadsAFileInBatches(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	var text strings.Builder
	text.WriteString("\xef\xbb\xbfnumber, name ,city\r\n")
	for i := range 250 {
		fmt.Fprintf(&text, "346000%05d,\"Ana, %d\",\r\n", i, i)
	}
	file := csvFile(t, text.String())
	args := []string{"send", "--template", "hello", "--from", "main", "--csv", file, "--var", "body_text_0={{ name }}"}
	s.try(nil, args...).want(t, 0, "n-", "250 accepted (0 of them by an earlier run), 0 failed")
	var sizes []int
	for _, x := range s.sent {
		sizes = append(sizes, len(x.Contacts))
	}
	if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"number": "34600000101", "name": "Ana, 101"}, s.sent[1].Contacts[1]); diff != "" {
		t.Error(diff)
	}
	// A second run sends nothing twice. A changed text makes it a different run.
	r := s.try(nil, args...)
	r.want(t, 0, "", "250 accepted (250 of them by an earlier run), 0 failed")
	r.want(t, 0, "", "nothing new was sent")
	if len(s.sent) != 3 {
		t.Errorf("the second run sent %d batches more", len(s.sent)-3)
	}
	args[len(args)-1] = "body_text_0=Bob"
	s.try(nil, args...).want(t, 0, "", "250 accepted (0 of them by an earlier run)")
}

func TestSendReadsAFileAsTheLibraryOfThePanelDoes(t *testing.T) {
	t.Parallel()
	wide := func(text string) string {
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	const text = "Teléfono;name\r\n+49 (0)30 1234567;Núñez\r\n" +
		"\u202d0034 600-111\u00a0222\u202c;\"José; Ana\"\r\n\u0663\u0664600111223;Íñigo\r\n"
	plain := strings.NewReplacer("\u202d", "", "\u202c", "", "\u0663\u0664", "34").Replace(text)
	latin := strings.NewReplacer("é", "\xe9", "ú", "\xfa", "ñ", "\xf1", "Í", "\xcd", "\u00a0", "\xa0").Replace(plain)
	for name, file := range map[string]string{
		"UTF-8": text, "a mark": "\ufeff" + text, "UTF-16": wide(text), "Windows-1252": latin, "Excel's separator": "sep=;\r\n" + text,
		"ends of a Mac": strings.ReplaceAll(text, "\r\n", "\r"),
		"tabs":          strings.ReplaceAll(strings.ReplaceAll(text, ";", "\t"), "José\t", "José;"),
		"bars":          "sep=|\n" + strings.ReplaceAll(strings.ReplaceAll(text, ";", "|"), "José|", "José;"),
	} {
		s := newStrict(t)
		args := []string{"send", "--template", "hello", "--from", "main", "--csv", csvFile(t, file), "--column", "number=Teléfono"}
		s.try(nil, args...).want(t, 0, "n-", "3 accepted")
		want := []map[string]any{
			{"number": "49301234567", "name": "Núñez"},
			{"number": "34600111222", "name": "José; Ana"},
			{"number": "34600111223", "name": "Íñigo"},
		}
		if diff := cmp.Diff(want, s.sent[0].Contacts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestNumbersOfTheCommandLineAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	args := []string{"send", "--template", "hello", "--from", "main"}
	s.try(nil, append(args, "--to", "+34 600-111-222", "--to", "0049 (0)30 1234567", "--to", "0600111222")...).want(t, 0, "n-",
		"3 accepted")
	want := []map[string]any{{"number": "34600111222"}, {"number": "49301234567"}, {"number": "0600111222"}}
	if diff := cmp.Diff(want, s.sent[0].Contacts); diff != "" {
		t.Error(diff)
	}
	s.try(nil, append(args, "--to", "+39 (0)6 1234567")...).want(t, exitUsage, "", "not a phone number")
	s.try(nil, "suppressions", "add", "six hundred").want(t, exitUsage, "", "not a phone number")
	if len(s.sent) != 1 {
		t.Errorf("%d requests", len(s.sent))
	}
}

func TestSendTellsALineForEachFailureAndSendsTheRest(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	file := csvFile(t, "number,name\n34600111222,Ana\n+34600,Bob\n34600111224,\n34600111225,Refuse\n34600111226,Eva\n")
	args := []string{"send", "--template", "hello", "--from", "main", "--csv", file, "--var", "body_text_0={{name}}"}
	r := s.try(nil, args...)
	r.want(t, exitFailed, "n-", "line 3: number: +34600: not a phone number: 7 to 15 digits that begin with the country code\n")
	r.want(t, exitFailed, "", "line 4: no value for {{name}}\n")
	r.want(t, exitFailed, "", "line 5: validation_failed: Invalid value; field: contacts.1.name; reason: No (request_id req_3)\n")
	r.want(t, exitFailed, "", "2 accepted (0 of them by an earlier run), 3 failed")
	if len(s.sent) != 1 || len(s.sent[0].Contacts) != 2 {
		t.Fatalf("sent %v", s.sent)
	}
	var o outcome
	r = s.try(nil, append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || o.Accepted != 2 || o.Failed != 3 ||
		!o.Notifications[0].Replayed || len(s.sent) != 1 {
		t.Errorf("%v, %+v", err, o)
	}
	if r.stderr != "" {
		t.Errorf("with --json standard error has %s", r.stderr)
	}
}

func TestSendTriesAgainByTheContractsRules(t *testing.T) {
	t.Parallel()
	const notify = "/functions/v1/notify"
	const limited = `429 {"error":"rate_limit_exceeded","message":"Too many requests","retry_after":1,"request_id":"r"}`
	const broken = `500 {"error":"internal_error","message":"An unexpected error occurred","request_id":"r"}`
	for _, c := range []struct {
		name    string
		answers []string
		asked   int
		code    int
	}{
		{"rate limit", []string{limited}, 2, 0},
		{"internal error", []string{broken, broken}, 3, 0},
		{"internal error that stays", []string{broken, broken, broken, broken}, 3, exitFailed},
		{
			"quota until midnight",
			[]string{`429 {"error":"quota_exceeded","message":"Used up","retry_after":40000,"request_id":"r"}`},
			1, exitFailed,
		},
		{"not found", []string{`404 {"error":"template_not_found","message":"Template not found","request_id":"r"}`}, 1, exitFailed},
		{"bad gateway without our form", []string{"502 <html>"}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStrict(t)
			s.answer(notify, c.answers...)
			r := s.try(nil, "send", "--template", "hello", "--from", "main", "--to", "34600111222")
			if r.code != c.code || s.posts() != c.asked {
				t.Errorf("code %d after %d requests, want %d after %d\n%s", r.code, s.posts(), c.code, c.asked, r.stderr)
			}
		})
	}
}

func TestUnsafeRequestsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.answer("/panel/v1/keys", `500 {"error":"internal_error","message":"x","request_id":"r"}`)
	s.try(nil, "keys", "create", "--label", "ci").want(t, exitFailed, "", "internal_error")
	if n := len(s.asked); n != 2 { // the sign-in and a single attempt
		t.Errorf("%d requests: %v", n, s.asked)
	}
}

func TestSendSaysWhichSenderSends(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	args := []string{"send", "--template", "hello", "--to", "34600111222", "--from"}
	r := s.try(nil, append(args, "main")...)
	r.want(t, 0, "n-", "sender: main (15555550100)\n")
	if strings.Contains(r.stderr, "warning") {
		t.Error(r.stderr)
	}
	s.try(nil, append(args, "mian")...).want(t, 0, "n-",
		`warning: default sender main sends; "mian" is none of the senders (15555550100)`+"\n")
	for from, stoodIn := range map[string]bool{"main": false, "mian": true} {
		var o outcome
		r := s.try(nil, append(args, from, "--json")...)
		if err := json.Unmarshal([]byte(r.stdout), &o); err != nil || o.Sender == nil || o.Sender.ID != "main" ||
			o.DefaultSender != stoodIn || r.stderr != "" {
			t.Errorf("%v: %s%s", err, r.stdout, r.stderr)
		}
	}
}

func TestSendReadsTheSenderOnceAndGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	var text strings.Builder
	text.WriteString("number\n")
	for i := range 150 {
		fmt.Fprintf(&text, "346000%05d\n", i)
	}
	s.try(nil, "send", "--template", "hello", "--from", "main", "--csv", csvFile(t, text.String())).want(t, 0, "n-", "150 accepted")
	if len(s.asked) != 3 {
		t.Errorf("%v", s.asked)
	}
	s.denied = true
	r := s.try(nil, "send", "--template", "hello", "--from", "main", "--to", "34600111222")
	if r.want(t, 0, "n-", "1 accepted"); strings.Contains(r.stderr, "forbidden") || strings.Contains(r.stderr, "sender") {
		t.Errorf("with a key that may only send: %s", r.stderr)
	}
}

func TestShowPrintsTheSenderAndTheTimeline(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.try(nil, "send", "--template", "hello", "--from", "mian", "--to", "34600111222")
	r := s.try(nil, "notifications", "show", "n-1")
	for _, line := range []string{
		"recipient_id  mian\n", "sender        main (15555550100)\n", `default sender main sends; "mian" is none of the senders` + "\n",
	} {
		r.want(t, 0, line, "")
	}
	var n notification
	r = s.try(nil, "notifications", "show", "n-1", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &n); err != nil || n.Sender == nil || len(n.Timeline) != 2 || n.defaultSenderNote() == "" {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

func TestHopelessRunStopsAtItsFirstBatch(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	var text strings.Builder
	text.WriteString("number\n")
	for i := range 300 {
		fmt.Fprintf(&text, "346000%05d\n", i)
	}
	s.answer("/functions/v1/notify", `404 {"error":"template_not_found","message":"Template not found","request_id":"r"}`)
	r := s.try(nil, "send", "--template", "nope", "--from", "main", "--csv", csvFile(t, text.String()))
	r.want(t, exitFailed, "", "lines 2 to 101: template_not_found")
	r.want(t, exitFailed, "", "200 not tried")
	if len(s.asked) != 1 {
		t.Errorf("%d requests", len(s.asked))
	}
}

func TestBadFilesAreUsage(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	for text, want := range map[string]string{
		"":                                      "The file is empty",
		"name\nAna\n":                           "no column has the name number",
		"number,number\n1,2\n":                  "two columns have the name number",
		"number,\n1,2\n":                        "Line 2: The row has 2 cells, and the file 1 columns",
		"number,name\n34600111222,Nu\ufffdez\n": `Line 2: Column "name" has a character that cannot be read`,
		"number,name\n1,é\n34600111222,Nu\xf1ez\n":    `Line 3: Column "name" has a character that cannot be read`,
		"number,name\n34600111222,\"Ana\n34600,Bob\n": "Line 2: Quotation marks do not match",
		"number\n": "no rows below its head",
	} {
		s.try(nil, "send", "--template", "hello", "--from", "main", "--csv", csvFile(t, text)).want(t, exitUsage, "", want)
	}
}

func TestProgressIsABarOnATerminalAndLinesElsewhere(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := progress{out: &out, terminal: true, total: 4}
	p.at(2, 0)
	p.at(4, 1)
	want := "\r[###############               ] 2/4, 0 failed\r[##############################] 4/4, 1 failed\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	p = progress{out: &out, total: 1000}
	for i := range 1001 {
		p.at(i, 0)
	}
	if n := strings.Count(out.String(), "\n"); n != 10 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestWatchFollowsUntilEveryRecipientEnded(t *testing.T) {
	t.Parallel()
	const path = "/functions/v1/notify/n-1"
	at := func(state, counts, recipients string) string {
		return `200 {"notification_id":"n-1","channel":"messaging","state":"` + state + `","counts":{` + counts +
			`},"recipients":[` + recipients + `]}`
	}
	one := func(number, state, times string) string {
		return `{"message_id":"n-1.` + number + `","number":"` + number + `","state":"` + state + `","attempts":1,"times":{` + times + `}}`
	}
	answers := []string{
		at("in_progress", `"queued":2`, one("1", "queued", `"queued_at":"T1"`)+","+one("2", "queued", `"queued_at":"T1"`)),
		at("completed", `"sent":1,"failed":1`,
			one("1", "delivered", `"queued_at":"T1","sending_at":"T2","sent_at":"T3","delivered_at":"T5"`)+","+
				one("2", "failed", `"queued_at":"T1","failed_at":"T4"`)),
		at("completed", `"read":1,"failed":1`,
			one("1", "read", `"queued_at":"T1","sending_at":"T2","sent_at":"T3","delivered_at":"T5","read_at":"T6"`)+","+
				one("2", "failed", `"queued_at":"T1","failed_at":"T4"`)),
	}
	s := newStrict(t)
	s.answer(path, answers...)
	r := s.try(nil, "notifications", "watch", "n-1")
	want := "T1  1  queued\nT1  2  queued\nT2  1  sending\nT3  1  sent\nT4  2  failed\nT5  1  delivered\nT6  1  read\ncompleted: 1 " +
		"read, 1 failed\n"
	if diff := cmp.Diff(want, r.stdout); diff != "" || r.code != exitFailed {
		t.Errorf("code %d, %s", r.code, diff)
	}
	s.answer(path, answers...)
	r = s.try(nil, "notifications", "watch", "n-1", "--until", "delivered", "--json")
	if n := strings.Count(r.stdout, "\n"); n != 6 || !strings.Contains(r.stdout, `"state":"delivered"`) {
		t.Errorf("%d lines:\n%s", n, r.stdout)
	}
	s.answer(path, answers[0], answers[0], answers[0], answers[0], answers[0])
	s.try(nil, "notifications", "watch", "n-1", "--timeout", "300ms").want(t, exitFailed, "", "not every recipient has ended within 300ms")
}
