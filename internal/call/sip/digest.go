package sip

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// Reasons for which a challenge gets no password.
var (
	errNoChallenge  = errors.New("the telephone company wants a password and does not say how")
	errElsewhere    = errors.New("something else than the trunk asks for the password")
	errDowngraded   = errors.New("the trunk asks for the password in a weaker way than before")
	errForeignRealm = errors.New("the trunk asks for the password of another realm")
)

// authorize computes the credentials that a 401 or 407 to a request demands. again: the request may be sent once more. A wrong
// password is not given again: trunks lock accounts for that. Whoever makes up a challenge can search for the password in the
// response, so only the trunk gets one, for the password's realm, in the strongest way that it has offered.
func (d *dialog) authorize(r *sip.Request, res *sip.Response) (again bool, err error) {
	if d.trunk == nil || d.trunk.Password == "" {
		return false, nil
	}
	if !d.isTrunk(r.Destination()) || d.transport != "TLS" && !d.isTrunk(res.Source()) { // over TLS the certificate has proved the source
		return false, errElsewhere
	}
	challenge, header := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		challenge, header = "Proxy-Authenticate", "Proxy-Authorization"
	}
	h, err := choose(res.GetHeaders(challenge))
	if err != nil {
		return false, err
	}
	if err := d.e.realms.check(d.trunk, h); err != nil {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.asked, header) && !h.Stale && r.GetHeader(header) != nil || len(d.asked) > mostAsked {
		return false, nil
	}
	cred, err := digest.Digest(h, digest.Options{
		Method: r.Method.String(), URI: r.Recipient.Addr(), Username: d.trunk.Username, Password: d.trunk.Password, Count: 1,
	})
	if err != nil {
		return false, fmt.Errorf("compute the response to the password: %w", err)
	}
	d.asked = append(d.asked, header)
	d.password = slices.DeleteFunc(slices.Clone(d.password), func(have sip.Header) bool { return have.Name() == header })
	d.password = append(d.password, sip.NewHeader(header, cred.String()))
	return true, nil
}

const mostAsked = 16

// isTrunk reports whether an address, host:port, is the trunk's.
func (d *dialog) isTrunk(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil { // over TLS requests go to a name
		return strings.EqualFold(host, d.trunk.hostName())
	}
	return slices.Contains(d.trunkAt, a.Unmap())
}

// hostName is the trunk's host without its port.
func (t *Trunk) hostName() string {
	if h, _, err := net.SplitHostPort(t.Host); err == nil {
		return h
	}
	return t.Host
}

// passwords are the headers that gave the password last.
func (d *dialog) passwords() []sip.Header {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.password
}

// choose is the strongest challenge that can be answered here: of equals the first.
func choose(all []sip.Header) (best *digest.Challenge, err error) {
	err = errNoChallenge
	for _, h := range all {
		c, bad := digest.ParseChallenge(h.Value())
		if bad != nil {
			err = fmt.Errorf("read how the telephone company wants the password: %w", bad)
			continue
		}
		c.Algorithm = strings.ToUpper(c.Algorithm)
		for i, q := range c.QOP {
			c.QOP[i] = strings.TrimSpace(q)
		}
		if strength(c) > 0 && (best == nil || strength(c) > strength(best)) {
			best = c
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, err
}

// strength orders challenges; 0: not answered. auth-int is not: it protects a body that proxies change.
func strength(c *digest.Challenge) int {
	n := algorithm(c)
	switch {
	case n == 0, len(c.QOP) > 0 && !c.SupportsQOP("auth"):
		return 0
	case len(c.QOP) > 0: // with a number of ours in it, no table that was computed before helps
		return 2*n + 1
	}
	return 2 * n
}

// algorithm orders the algorithms; 0: not answered. Session variants such as MD5-sess are not: the far side would get a key
// that stays valid.
func algorithm(c *digest.Challenge) int {
	switch c.Algorithm {
	case "", "MD5":
		return 1
	case "SHA-256":
		return 2
	case "SHA-512-256":
		return 3
	}
	return 0
}

// realms are the realms that trunks named first, by trunk and user. The zero value is ready.
type realms struct {
	mu    sync.Mutex
	known map[string]realm
}

type realm struct {
	name      string
	algorithm int
}

// check holds a challenge to the trunk's realm, and to how the trunk asked before.
func (x *realms) check(t *Trunk, c *digest.Challenge) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := t.key() + " " + t.Username + " " + t.Realm
	known, before := x.known[key]
	name := t.Realm
	if name == "" && before {
		name = known.name
	}
	switch {
	case name != "" && c.Realm != name:
		return fmt.Errorf("%w, %q instead of %q: where that is right, set it as the line's realm", errForeignRealm, short(c.Realm), name)
	case before && algorithm(c) < known.algorithm:
		return fmt.Errorf("%w: where that is right, set %q as the line's realm", errDowngraded, short(c.Realm))
	}
	if x.known == nil || len(x.known) >= mostKept {
		x.known = map[string]realm{}
	}
	x.known[key] = realm{c.Realm, algorithm(c)}
	return nil
}
