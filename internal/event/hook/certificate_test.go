package hook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/base/egress"
	"carillon/internal/event/hook"
	"carillon/internal/store/events"
)

// local resolves every host to this machine.
type local struct{}

func (local) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// authority issues certificates.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	root *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	c, root := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.key, a.root = c.PrivateKey.(*ecdsa.PrivateKey), root //nolint:forcetypeassert // sign created it
	return a
}

// sign returns a certificate signed by a, or a self-signed one if a has no key yet.
func (a *authority) sign(x *x509.Certificate) (*tls.Certificate, *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	x.SerialNumber = big.NewInt(1)
	if x.NotBefore.IsZero() {
		x.NotBefore, x.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, by := a.root, a.key
	if by == nil {
		parent, by = x, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, x, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, c
}

// door is a listener that passes its connections through the function in open.
type door struct {
	net.Listener
	open atomic.Pointer[func(net.Conn) net.Conn]
}

func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return (*d.open.Load())(conn), nil
}

func encrypted(c *tls.Certificate) func(net.Conn) net.Conn {
	return func(conn net.Conn) net.Conn {
		return tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*c}, MinVersion: tls.VersionTLS12})
	}
}

// broken returns faulty endpoints for https://events.test, with the recorded reasons.
func broken(t *testing.T, a *authority) map[string]struct {
	open func(net.Conn) net.Conn
	want string
} {
	t.Helper()
	host := []string{"events.test"}
	old := time.Date(2020, 5, 1, 12, 0, 0, 0, time.UTC)
	expired, _ := a.sign(&x509.Certificate{DNSNames: host, NotBefore: old.AddDate(0, -1, 0), NotAfter: old})
	early, _ := a.sign(&x509.Certificate{
		DNSNames: host, NotBefore: time.Date(2190, 5, 1, 12, 0, 0, 0, time.UTC), NotAfter: time.Date(2191, 5, 1, 12, 0, 0, 0, time.UTC),
	})
	other, _ := a.sign(&x509.Certificate{DNSNames: []string{"one.test", "two.test", "three.test", "four.test"}})
	unnamed, _ := a.sign(&x509.Certificate{})
	self, _ := (&authority{t: t}).sign(&x509.Certificate{Subject: pkix.Name{CommonName: "events.test"}, DNSNames: host})
	foreign, _ := newAuthority(t).sign(&x509.Certificate{DNSNames: host})
	return map[string]struct {
		open func(net.Conn) net.Conn
		want string
	}{
		"expired": {encrypted(expired), "Its certificate expired at 2020-05-01T12:00:00Z: renew it"},
		"not yet": {
			encrypted(early), "Its certificate is valid only from 2190-05-01T12:00:00Z on: correct the clock, or use another certificate",
		},
		"another host": {
			encrypted(other),
			"Its certificate is not for events.test, but for one.test, two.test, three.test: use one that names this host",
		},
		"no host":     {encrypted(unnamed), "Its certificate is not for events.test: use one that names this host"},
		"self-signed": {encrypted(self), "Its certificate is self-signed: use one of an authority that this machine trusts"},
		"an authority of its own": {
			encrypted(foreign), "Its certificate is not of an authority that this machine trusts: use one of such an authority, and " +
				"send the whole chain",
		},
		"plain HTTP": {
			func(c net.Conn) net.Conn { return c },
			"It speaks HTTP on this port, not HTTPS: give another port, or turn encryption on there",
		},
		"cut": {func(c net.Conn) net.Conn {
			_, _ = c.Read(make([]byte, 64<<10)) // the first TLS message
			_ = c.Close()
			return c
		}, "It closed the connection without a response"},
	}
}

func TestABrokenCertificateIsNamedAndItsEventsComeOnceItIsMended(t *testing.T) {
	a := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(a.root)
	good, _ := a.sign(&x509.Certificate{DNSNames: []string{"events.test"}})
	r := newRigOf(t, egress.Options{RootCAs: roots, Resolver: local{}, PerHost: 8, Timeout: hook.Timeout})
	type one struct {
		e    *endpoint
		door *door
		k    events.EndpointKey
		want string
	}
	all := map[string]one{}
	for name, c := range broken(t, a) {
		x := one{e: serve(t), door: &door{}, want: c.want}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		x.door.Listener = l
		x.door.open.Store(&c.open)
		server := &http.Server{Handler: x.e.Config.Handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(x.door) }()
		t.Cleanup(func() { _ = server.Close() })
		_, port, _ := net.SplitHostPort(l.Addr().String())
		x.k = r.endpoint(hook.Webhook{
			URL: "https://events.test:" + port + "/hidden?token=hidden", Headers: []hook.Header{{Name: "X-Token", Value: "hidden"}},
		})
		all[name] = x
	}
	r.happen("m1", "message.sent")
	r.pass()
	for i, next := range []time.Duration{5 * time.Second, 5 * time.Minute} {
		for name, x := range all {
			attempts, err := r.store.Hooks.Attempts(t.Context(), x.k, true, "", 10)
			if err != nil || len(attempts) != i+1 || attempts[0].Error != x.want || strings.Contains(attempts[0].Error, "hidden") {
				t.Errorf("%s: %+v, %v; want %d, the last %q", name, attempts, err, i+1, x.want)
			}
			if in := r.state(x.k).WakeAt.Sub(r.clock()); in < next*9/10-time.Millisecond || in > next*11/10 {
				t.Errorf("%s is tried again in %v, not %v", name, in, next)
			}
		}
		if i > 0 {
			mended := encrypted(good)
			for _, x := range all {
				x.door.open.Store(&mended)
			}
		}
		r.after(next * 11 / 10)
	}
	for name, x := range all {
		if got := x.e.sequences(); len(got) != 1 {
			t.Errorf("%s, once mended: received %v", name, got)
		}
		r.want(x.k, 0, 0, 0)
	}
}
