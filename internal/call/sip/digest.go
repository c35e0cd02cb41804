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

// Reasons for not answering a challenge.
var (
	errNoChallenge  = errors.New("the telephone company wants a password and does not say how")
	errElsewhere    = errors.New("something else than the trunk asks for the password")
	errDowngraded   = errors.New("the trunk asks for the password in a weaker way than before")
	errForeignRealm = errors.New("the trunk asks for the password of another realm")
)

// authorize computes the credentials for a 401 or 407. again reports that the request may be repeated. A wrong
// password is not sent again, since trunks may lock accounts for that. The author of a challenge can search for the
// password in the response; so only the trunk gets one, for the password's realm, and in the strongest way that it has
// offered.
func (d *dialog) authorize(r *sip.Request, res *sip.Response) (again bool, err error) {
	if d.trunk == nil || d.trunk.Password == "" {
		return false, nil
	}
	// Over TLS the certificate has proved the source.
	if !d.isTrunk(r.Destination()) || d.transport != "TLS" && !d.isTrunk(res.Source()) {
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
	if slices.Contains(d.asked, header) && !h.Stale && r.GetHeader(header) != nil || len(d.asked) > maxAsked {
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

const maxAsked = 16

// isTrunk reports whether an address, host:port, belongs to the trunk.
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

// hostName returns the trunk's host without its port.
func (t *Trunk) hostName() string {
	if h, _, err := net.SplitHostPort(t.Host); err == nil {
		return h
	}
	return t.Host
}

// passwords returns the headers with the last credentials.
func (d *dialog) passwords() []sip.Header {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.password
}

// choose returns the strongest supported challenge, and the first among equals.
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

// strength ranks challenges; 0 means not supported. auth-int is not, since it protects a body that proxies change.
func strength(c *digest.Challenge) int {
	n := algorithm(c)
	switch {
	case n == 0, len(c.QOP) > 0 && !c.SupportsQOP("auth"):
		return 0
	case len(c.QOP) > 0: // with our own nonce, precomputed tables do not help
		return 2*n + 1
	}
	return 2 * n
}

// algorithm ranks the algorithms; 0 means not supported. Session variants such as MD5-sess are not: the far side would get
// a key that stays valid.
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

// realms holds the first realm that each trunk named, by trunk and user. The zero value is ready for use.
type realms struct {
	mu    sync.Mutex
	known map[string]realm
}

type realm struct {
	name      string
	algorithm int
}

// check compares a challenge with the trunk's realm and with its earlier challenges.
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
	if x.known == nil || len(x.known) >= maxKept {
		x.known = map[string]realm{}
	}
	x.known[key] = realm{c.Realm, algorithm(c)}
	return nil
}
