package hook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"carillon/internal/base/egress"
)

// names is a resolver that knows one host.
type names struct{}

func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	switch host {
	case "known.test":
		return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
	case "later.test":
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	case "broken.test":
		return nil, errors.New("no network")
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestAWebhookAtAnUnknownHostIsWarnedOf(t *testing.T) {
	d := NewDeliverer(nil, Options{Client: egress.New(egress.Options{Resolver: names{}})})
	for address, want := range map[string]string{
		"https://known.test/hook":     "",
		"https://later.test/hook":     "",
		"https://broken.test/hook":    "",
		"https://1.1.1.1:8443/hook":   "",
		"https://unknown.test/a?k=ey": "Its host unknown.test does not exist: check the address",
	} {
		if got := d.Warning(t.Context(), &Webhook{URL: address}); got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
}
