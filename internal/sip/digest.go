package sip

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

var errNoChallenge = errors.New("the telephone company wants a password and does not say how")

// authorize computes the password that a 401 or 407 to a request wants. again: the request may be sent once more. A password that was
// wrong is not given again: accounts are locked for less.
func (d *dialog) authorize(r *sip.Request, res *sip.Response) (again bool, err error) {
	if d.trunk == nil || d.trunk.Password == "" {
		return false, nil
	}
	challenge, header := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		challenge, header = "Proxy-Authenticate", "Proxy-Authorization"
	}
	h, err := choose(res.GetHeaders(challenge))
	if err != nil {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	given := header + " " + h.Realm
	if slices.Contains(d.asked, given) && !h.Stale && r.GetHeader(header) != nil || len(d.asked) > mostAsked {
		return false, nil
	}
	cred, err := digest.Digest(h, digest.Options{
		Method: r.Method.String(), URI: r.Recipient.Addr(), Username: d.trunk.Username, Password: d.trunk.Password, Count: 1,
	})
	if err != nil {
		return false, fmt.Errorf("compute the response to the password: %w", err)
	}
	d.asked = append(d.asked, given)
	d.password = slices.DeleteFunc(slices.Clone(d.password), func(have sip.Header) bool { return have.Name() == header })
	d.password = append(d.password, sip.NewHeader(header, cred.String()))
	return true, nil
}

const mostAsked = 16

// passwords are the headers that gave the password last.
func (d *dialog) passwords() []sip.Header {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.password
}

// choose is the first challenge that can be answered here.
func choose(all []sip.Header) (*digest.Challenge, error) {
	err := errNoChallenge
	for _, h := range all {
		c, bad := digest.ParseChallenge(h.Value())
		if bad != nil {
			err = fmt.Errorf("read how the telephone company wants the password: %w", bad)
			continue
		}
		c.Algorithm = strings.ToUpper(c.Algorithm)
		if digest.CanDigest(c) {
			return c, nil
		}
	}
	return nil, err
}
