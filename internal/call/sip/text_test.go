package sip

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/call/rtp/rtptest"
)

// inviteOf returns the INVITE of a call as it is sent.
func inviteOf(t *testing.T, d Dial) string {
	t.Helper()
	e := &Engine{
		o: Options{Log: slog.New(slog.DiscardHandler)}, address: netip.MustParseAddrPort("127.0.0.1:5060"), calls: map[string]*Call{},
		ports: ports{network: &net.ListenConfig{}},
	}
	x, err := e.newDialing(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	return x.request().String()
}

// names returns the names of a message's headers, in order.
func names(t *testing.T, message string) (all []string) {
	t.Helper()
	head, _, _ := strings.Cut(message, "\r\n\r\n")
	for _, line := range strings.FieldsFunc(head, func(r rune) bool { return strings.ContainsRune("\r\n\u0085\u2028\u2029", r) }) {
		name, _, _ := strings.Cut(line, ":")
		all = append(all, name)
	}
	return all[1:]
}

var plain = Dial{
	Trunk: Trunk{Host: "sip.example.com", Transport: "udp"}, To: "15555550100", From: "15555550101", Name: "Acme", CallID: "id",
	Header: map[string]string{"X-Carillon-Call": "1"},
}

// checkInvite compares the INVITE of a call with hostile values with that of an ordinary call: the headers must be the
// same, and parsing must return the values.
func checkInvite(t *testing.T, d Dial) {
	t.Helper()
	text := inviteOf(t, d)
	if got, want := names(t, text), names(t, inviteOf(t, plain)); !slices.Equal(got, want) {
		t.Fatalf("headers %q, not %q\n%s", got, want, text)
	}
	m, err := sip.ParseMessage([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r := m.(*sip.Request)
	from, to := r.From(), r.To()
	const host = "sip.example.com"
	if from == nil || to == nil || r.Contact() == nil || from.Address.Host != host || to.Address.Host != host || r.Recipient.Host != host {
		t.Fatalf("other hosts\n%s", text)
	}
	if got := unescaped(from.DisplayName); got != cut(oneLine(d.Name), maxDisplayName) {
		t.Errorf("the name %q is read as %q", d.Name, got)
	}
	for part, got := range map[string]string{d.From: from.Address.User, d.To: r.Recipient.User} {
		if got != userPart(part) || percent(t, got) != part {
			t.Errorf("the user %q is read as %q", part, got)
		}
	}
	if to.Address.User != r.Recipient.User || r.Contact().Address.User != from.Address.User || tagOf(from.Params) == "" {
		t.Errorf("other addresses\n%s", text)
	}
	if !readable(r.Headers()) {
		t.Errorf("other addresses\n%s", text)
	}
}

func unescaped(quoted string) string {
	var b strings.Builder
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '\\' {
			i++
		}
		b.WriteByte(quoted[i])
	}
	return b.String()
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

func percent(t *testing.T, user string) string {
	t.Helper()
	plain, err := url.PathUnescape(user)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

var hostile = []string{
	"Acme", `Acme "the best" Ltd`, `back\slash`, `ends with \`, `\"`, `" <sip:19005550100@evil.example>;tag=1`, "Acme\r\nX-Evil: 1",
	"Acme\nRoute: <sip:evil.example;lr>", "a\rb",
	"tab\tand\x00nul\x7f", "Zoë & 株式会社", "\xff\xfe", "a\u0085b\u2028c", "<>;,@?%20", strings.Repeat("long ", 100), "%0d%0aX: 1",
	"sip:a@b",
}

func TestEveryValueInAHeaderIsQuoted(t *testing.T) {
	t.Parallel()
	for _, value := range hostile {
		d := plain
		d.Name, d.Header = value, map[string]string{"X-Carillon-Call": value}
		checkInvite(t, d)
		d = plain
		d.From, d.To = value, value
		checkInvite(t, d)
	}
}

func FuzzInvite(f *testing.F) {
	for _, value := range hostile {
		f.Add(value, value, value, value)
	}
	f.Fuzz(func(t *testing.T, name, from, to, header string) {
		if from == "" || to == "" || len(name+from+to+header) > 4096 {
			return
		}
		d := plain
		d.Name, d.From, d.To, d.Header = name, from, to, map[string]string{"X-Carillon-Call": header}
		checkInvite(t, d)
	})
}

func TestWhatIsRepeatedHasOneMeaning(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"From: \"Ana \\\"B\\\" \\\\\" <sip:1@a>;tag=1": true, "From: Ana <sip:1@a>;tag=1": true, "From: <sip:1@a>;tag=1": true,
		"To: Zoë <sip:1@a>":           true,
		"From: Ana\\ <sip:1@a>;tag=1": false, "To: A\\\\\\ <sip:1@a>": false, "Contact: <sip:1\nRoute@a>": false,
		"Record-Route: <sip:a;lr>,\r\n <sip:b>": true, "X: a\nb": false,
		"Call-ID: a\x00b": false, "X: a\tb": true,
	} {
		m, err := sip.ParseMessage([]byte("BYE sip:1@a SIP/2.0\r\n" + header + "\r\nContent-Length: 0\r\n\r\n"))
		if err != nil {
			t.Errorf("%q: %v", header, err)
			continue
		}
		if got := readable(m.(*sip.Request).Headers()); got != want {
			t.Errorf("%q is readable: %v", header, got)
		}
	}
}

// An answer with an ambiguous part ends the call but is not the line's fault, since the called telephone may have
// written it.
func TestAnUnreadableAnswerEndsTheCall(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		for _, with := range []string{"X: a\u0085Route: b", "Contact: <sip:a\u0085Route: b@127.0.0.1>"} {
			s := callee(t, n, nil, recv("INVITE"), reply("180 Ringing", false, with), reply("200 OK", true, with))
			d := Dial{Trunk: s.trunk(), OnRinging: func(int, string) { t.Error("it rings") }}
			var refused *Refused
			if _, err := dial(t, engine(t, Options{Network: n}), d); !errors.As(err, &refused) || refused.Code != 400 {
				t.Errorf("%q: %v", with, err)
			}
			s.done()
		}
	})
}

// The tag of an offered key is repeated in our answer.
func TestAKeysTagIsANumber(t *testing.T) {
	t.Parallel()
	key := propose(netip.MustParseAddr("127.0.0.1"), 4000, true).String()
	for tag, want := range map[string]bool{"1": true, "4294967295": true, "x": false, "1\x00a=x": false, "-1": false} {
		d, err := parse(strings.Replace(key, "a=crypto:1 ", "a=crypto:"+tag+" ", 1))
		if (err == nil) != want || want && d.keys[0].tag != tag {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
