package messaging_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"carillon/internal/store/chats"
)

// hostile are texts meant to be interpreted as something else.
var hostile = []string{
	`<script>alert(1)</script><img src=x onerror=alert(1)>`, "\u202etxt.exe\u2066", "a\x00b\x07\x1b[31m\u009bc",
	"{{number}} {{name}} {{ x", "x\r\nX-Admin: 1\r\n\r\nbody", `"}],"x":[{"`,
	"'; DROP TABLE turn; --", `\0 \\ %s %d %n`, "../../etc/passwd", strings.Repeat("w\u0300", 100_000),
	strings.Repeat("👩‍👩‍👧‍👦", 8_000), "\ufeff\u200b\u2028\u2029", "STOP\x00", "=cmd|' /C calc'!A0", "\xff\xfe\xc3\x28", "\xed\xa0\x80",
}

// hostileKinds are the messages with fields that a person controls; H is the text.
var hostileKinds = []string{
	`{"type":"text","text":{"body":H}}`,
	`{"type":"text","text":{"body":"x"},"context":{"id":H}}`,
	`{"type":"button","button":{"payload":H,"text":H}}`,
	`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":H,"title":H,"description":H}}}`,
	`{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":H,"title":"ok"}}}`,
	`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":H,"body":H,"response_json":H}}}`,
	`{"type":"interactive","interactive":{"type":H}}`,
	`{"type":"image","image":{"id":"png","mime_type":H,"caption":H,"filename":H}}`,
	`{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":H}}`,
	`{"type":"document","document":{"id":"nothing-of-the-kind","mime_type":"application/pdf","filename":H}}`,
	`{"type":"document","document":{"id":H,"mime_type":"application/pdf","filename":"a.pdf"}}`,
	`{"type":"location","location":{"latitude":1,"longitude":2,"name":H,"address":H,"url":H}}`,
	`{"type":"contacts","contacts":[{"name":{"formatted_name":H},"phones":[{"phone":H}]}]}`,
	`{"type":"reaction","reaction":{"message_id":H,"emoji":H}}`,
	`{"type":"system","system":{"type":"user_changed_number","wa_id":H,"body":H}}`,
	`{"type":H}`,
}

// raw returns a text as JSON, with invalid UTF-8 bytes unchanged.
func raw(s string) string {
	if utf8.ValidString(s) {
		b, _ := json.Marshal(s) // a string cannot fail
		return string(b)
	}
	return `"` + s + `"`
}

// bad returns the first character that stored text must not contain, or "".
func bad(s string, oneLine bool) string {
	for _, r := range s {
		switch {
		case unicode.IsControl(r) && (oneLine || r != '\n' && r != '\t'):
			return fmt.Sprintf("%U", r)
		case oneLine && (0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069):
			return fmt.Sprintf("%U", r)
		}
	}
	if n := utf8.RuneCountInString(s); n > 4200 || oneLine && len(s) > 1000 {
		return fmt.Sprint(n, " characters")
	}
	return ""
}

// checkClean checks the stored data of a person who has written something.
func checkClean(t *testing.T, p *person) {
	t.Helper()
	c := p.conversation()
	if c == nil {
		t.Fatalf("%s has no conversation", p.number)
	}
	contact, err := p.db.Contacts.ContactOf(t.Context(), p.company.ID, c.ContactID)
	if err != nil {
		t.Fatal(err)
	}
	if what := bad(contact.Name, true); what != "" {
		t.Errorf("a name holds %s: %.100q", what, contact.Name)
	}
	said := false
	for _, x := range p.turns() {
		said = said || x.Author != chats.Agent
		for _, text := range []string{x.Extra.About, x.Extra.Name, x.Extra.Event, x.Extra.Why} {
			if what := bad(text, true); what != "" {
				t.Errorf("a turn holds %s: %.100q", what, text)
			}
		}
		if what := bad(x.Text, x.Kind == chats.KindEvent); what != "" {
			t.Errorf("the text of a turn holds %s: %.100q", what, x.Text)
		}
		if f := x.Extra.File; f != nil && (bad(f.Name, true) != "" || strings.ContainsAny(f.Name, `/\`)) {
			t.Errorf("a file is called %.100q", f.Name)
		}
	}
	if !said {
		t.Errorf("%s said nothing", p.number)
	}
}

func TestHostileTextsOfEveryFieldAreKeptClean(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.putFiles()
		r.run()
		var people []*person
		for n, text := range hostile {
			for kind, form := range hostileKinds {
				p := r.person(fmt.Sprintf("3460%03d%03d1", n, kind))
				people = append(people, p)
				message := strings.ReplaceAll(strings.TrimPrefix(form, "{"), "H", raw(text))
				p.take(p.sender,
					[]byte(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"messages","value":{
					"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100","phone_number_id":"`+phoneID+`"},
					"contacts":[{"wa_id":"`+p.number+`","profile":{"name":`+raw(text)+`}}],
					"messages":[{"from":"`+p.number+`","id":"wamid.h`+p.number+`","timestamp":"`+fmt.Sprint(r.now().Unix())+`",`+
						message+`]}}]}]}`))
			}
		}
		// A message of hostile bytes must not block the next one.
		next := r.person("34600111222")
		next.text("echo")
		next.got("What?")
		r.until("all are taken in", func() bool {
			waiting, err := r.db.Replies.Waiting(t.Context(), r.now(), 1, nil)
			return err == nil && len(waiting) == 0
		})
		for _, p := range people {
			p.until("it is a turn", func() bool { return len(p.turns()) > 0 })
			checkClean(t, p)
		}
		for line := range strings.SplitSeq(r.log.String(), "\n") {
			if strings.Contains(line, "alert(1)") || strings.Contains(line, "level=ERROR") || strings.Contains(line, "take in") {
				t.Errorf("%.500s", line)
			}
		}
	})
}

// Input of a person is only text: it is not expanded again and not interpreted.
func TestHostileTextsStayTexts(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		texts := []string{
			"{{number}}", `<script>alert(1)</script>`, `"}],"x":[{"`, "'; DROP TABLE turn; --", `\\0 \\ %s %d`, "= 1 or 1 == 1",
			"\u202etxt.exe",
			strings.Repeat("x", 4000),
		}
		for i, text := range texts {
			p := r.person(fmt.Sprintf("346005%05d", i))
			p.text("echo")
			p.got("What?")
			p.text(text)
			p.got("What?", text)
		}
	})
}
