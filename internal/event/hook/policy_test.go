package hook

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestRetryAfterIsReadWithSense(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 7 ": 7 * time.Second, "0": 0, "": 0, "-5": 0, "1.5": 0, "soon": 0,
		"999999999999999999999999":      maxRetry,
		"4294967296":                    maxRetry,
		"Mon, 01 Mar 2027 12:10:00 GMT": 10 * time.Minute,
		"Mon, 01 Mar 2027 11:00:00 GMT": 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": maxRetry,
	} {
		o := judge(503, map[string][]string{"Retry-After": {text}}, now)
		if !o.throttled || o.retryAfter != want {
			t.Errorf("%q: %+v, want %v", text, o, want)
		}
	}
}

// A resolver's own address is nobody else's business.
func TestAHostWithoutAnAddressIsNamed(t *testing.T) {
	unknown := &net.DNSError{Err: "no such host", Name: "events.test", Server: "10.255.255.53:53", IsNotFound: true}
	silent := &net.DNSError{Err: "i/o timeout", Name: "events.test", Server: "10.255.255.53:53", IsTimeout: true}
	for err, want := range map[error]string{
		unknown: "Its host events.test does not exist: check the address",
		silent:  "Its host events.test can't be looked up: the name servers do not respond",
	} {
		if got := reason(fmt.Errorf("look up host: %w", err)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A database refuses NUL and invalid UTF-8 in a text. An attempt that cannot be stored would be repeated forever.
func TestReasonsCanBeStored(t *testing.T) {
	for _, text := range []string{
		"", "send request: ", "x509: certificate is valid for a\x00b\xff, not example.com", strings.Repeat("ü", 10_000),
	} {
		got := reason(errors.New(text))
		if got == "" || len(got) > 3*keptReason || strings.Contains(got, "\x00") || !utf8.ValidString(got) {
			t.Errorf("%.40q: %.40q, %d bytes", text, got, len(got))
		}
	}
}
