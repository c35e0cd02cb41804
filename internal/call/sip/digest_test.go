package sip

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// challenged returns a dialog with the trunk at 192.0.2.1, which asks for a password.
func challenged(e *Engine, trunk *Trunk) *dialog {
	trunk.Host, trunk.Transport, trunk.Username, trunk.Password = "192.0.2.1:5060", "udp", "us", "secret"
	return &dialog{e: e, trunk: trunk, transport: "UDP", trunkAt: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
}

// asks returns a request to an address, and a challenge from another address with these headers.
func asks(d *dialog, method sip.RequestMethod, to, from string, digests ...string) (*sip.Request, *sip.Response) {
	r := sip.NewRequest(method, sip.Uri{Scheme: "sip", User: "them", Host: "192.0.2.1"})
	r.SetDestination(to)
	for _, h := range d.passwords() {
		r.AppendHeader(sip.HeaderClone(h))
	}
	res := sip.NewResponse(sip.StatusProxyAuthRequired, "Proxy Authentication Required")
	res.SetSource(from)
	for _, x := range digests {
		res.AppendHeader(sip.NewHeader("Proxy-Authenticate", x))
	}
	return r, res
}

const ours = "192.0.2.1:5060"

// A nonce may expire at any time (RFC 3261, section 22.4). stale means that the password was right.
func TestAPasswordIsGivenOnceUnlessItsNonceIsStale(t *testing.T) {
	t.Parallel()
	d := challenged(&Engine{}, &Trunk{})
	for i, c := range []struct {
		nonce, more string
		again       bool
	}{{"1", "", true}, {"2", ", stale=true", true}, {"3", ", stale=true", true}, {"4", "", false}, {"5", ", stale=false", false}} {
		r, res := asks(d, sip.INVITE, ours, ours, `Digest realm="a.example", nonce="`+c.nonce+`", algorithm=MD5`+c.more)
		if again, err := d.authorize(r, res); again != c.again || err != nil {
			t.Errorf("challenge %d: %v, %v; want %v", i+1, again, err, c.again)
		}
	}
}

func TestOnlyTheTrunkGetsThePassword(t *testing.T) {
	t.Parallel()
	const challenge = `Digest realm="a.example", nonce="1", algorithm=MD5, qop="auth"`
	for _, method := range []sip.RequestMethod{sip.INVITE, sip.BYE, sip.REFER, sip.REGISTER, sip.UPDATE} {
		for _, c := range []struct {
			name, to, from string
			want           error
		}{
			{"the trunk", ours, ours, nil},
			{"the trunk at another port", ours, "192.0.2.1:5080", nil},
			{"as IPv4 in IPv6", "[::ffff:192.0.2.1]:5060", "[::ffff:192.0.2.1]:5060", nil},
			{"whoever a route names", "198.51.100.7:5060", "198.51.100.7:5060", errElsewhere},
			{"whoever a route names, as the trunk", "198.51.100.7:5060", ours, errElsewhere},
			{"a stranger who responds", ours, "198.51.100.7:5060", errElsewhere},
			{"a name that is not the trunk's", "evil.example:5060", ours, errElsewhere},
			{"nobody known", ours, "", errElsewhere},
		} {
			d := challenged(&Engine{}, &Trunk{})
			r, res := asks(d, method, c.to, c.from, challenge)
			if again, err := d.authorize(r, res); again != (c.want == nil) || !errors.Is(err, c.want) || len(d.passwords()) > 0 != again {
				t.Errorf("%s asked by %s: %v, %v", method, c.name, again, err)
			}
		}
	}
}

// Over TLS requests go to a name, and the certificate proves who responds.
func TestATrunkOverTLSIsKnownByItsName(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]bool{"SIP.example.com:5061": true, "evil.example:5061": false} {
		d := challenged(&Engine{}, &Trunk{})
		d.trunk.Host, d.transport, d.trunkAt = "sip.example.com:5061", "TLS", nil
		r, res := asks(d, sip.INVITE, to, "192.0.2.9:5061", `Digest realm="a.example", nonce="1"`)
		if again, _ := d.authorize(r, res); again != want {
			t.Errorf("%s gets the password: %v", to, again)
		}
	}
}

func TestThePasswordIsForOneRealm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, set string
		asked     []string
		want      error
	}{
		{"the first, again and again", "", []string{"a.example", "a.example"}, nil},
		{"another than the first", "", []string{"a.example", "b.example"}, errForeignRealm},
		{"the one that is set", "b.example", []string{"b.example"}, nil},
		{"another than is set", "b.example", []string{"a.example"}, errForeignRealm},
		{"one in another case", "", []string{"a.example", "A.example"}, errForeignRealm},
	} {
		e := &Engine{}
		var err error
		for _, realm := range c.asked { // each in a separate call
			d := challenged(e, &Trunk{Realm: c.set})
			r, res := asks(d, sip.INVITE, ours, ours, `Digest realm="`+realm+`", nonce="1"`)
			_, err = d.authorize(r, res)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want != nil && !strings.Contains(err.Error(), `set it as the line's realm`) {
			t.Errorf("%s does not say what to do: %v", c.name, err)
		}
	}
	e := &Engine{}
	// A carrier that changed its realm, and a line that was changed accordingly.
	for i, trunk := range []*Trunk{{}, {Realm: "b.example"}} {
		d := challenged(e, trunk)
		r, res := asks(d, sip.INVITE, ours, ours, `Digest realm="`+[]string{"a.example", "b.example"}[i]+`", nonce="1"`)
		if again, err := d.authorize(r, res); !again || err != nil {
			t.Errorf("line %d: %v", i, err)
		}
	}
}

func TestTheStrongestChallengeIsAnswered(t *testing.T) {
	t.Parallel()
	const md5 = `Digest realm="a", nonce="1", algorithm=MD5, qop="auth"`
	const sha = `Digest realm="a", nonce="1", algorithm=SHA-256, qop="auth-int, auth"`
	for _, c := range []struct {
		name   string
		calls  [][]string // challenges of each call
		answer string     // part of the last response
		want   error
	}{
		{"of two", [][]string{{md5, sha}}, "algorithm=SHA-256", nil},
		{"with a number of ours", [][]string{{`Digest realm="a", nonce="1", algorithm=MD5`, md5}}, "cnonce=", nil},
		{"as offered before", [][]string{{sha, md5}, {md5}}, "", errDowngraded},
		{"better than before", [][]string{{md5}, {sha}}, "algorithm=SHA-256", nil},
		{"without sessions", [][]string{{`Digest realm="a", nonce="1", algorithm=MD5-sess, qop="auth"`}}, "", errNoChallenge},
		{"without sessions of SHA", [][]string{{`Digest realm="a", nonce="1", algorithm="SHA-256-sess", qop="auth"`}}, "", errNoChallenge},
		{"not of bodies", [][]string{{`Digest realm="a", nonce="1", qop="auth-int"`}}, "", errNoChallenge},
		{"not in plain text", [][]string{{`Basic realm="a"`}}, "", nil},
	} {
		e := &Engine{}
		var d *dialog
		var again bool
		var err error
		for _, digests := range c.calls {
			d = challenged(e, &Trunk{})
			r, res := asks(d, sip.INVITE, ours, ours, digests...)
			again, err = d.authorize(r, res)
		}
		if again != (c.answer != "") || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, again, err)
		}
		if again && !strings.Contains(d.passwords()[0].Value(), c.answer) {
			t.Errorf("%s: %s", c.name, d.passwords()[0].Value())
		}
	}
}

// The user name comes from a member; realm, nonce and opaque come from the far side.
func TestEveryValueOfAPasswordsHeaderIsQuoted(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`a\", response=\"x`, `a\\`, "a, uri=b", "a\u2028b", "Zoë"} {
		d := challenged(&Engine{}, &Trunk{})
		d.trunk.Username = `us\", x=1`
		r, res := asks(d, sip.INVITE, ours, ours, `Digest realm="`+value+`", nonce="`+value+`", opaque="`+value+`", qop="auth"`)
		if again, err := d.authorize(r, res); !again || err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		keys := ""
		for _, part := range listed(strings.TrimPrefix(d.passwords()[0].Value(), "Digest ")) {
			key, _, _ := strings.Cut(strings.TrimSpace(part), "=")
			keys += key + " "
		}
		if want := "username realm nonce uri cnonce opaque qop nc response "; keys != want {
			t.Errorf("%s: %q, not %q", value, keys, want)
		}
	}
}
