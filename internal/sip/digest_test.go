package sip

import (
	"testing"

	"github.com/emiago/sipgo/sip"
)

// A nonce may expire at any time (RFC 3261, section 22.4): stale says that the password was right.
func TestAPasswordIsGivenOnceUnlessItsNonceIsStale(t *testing.T) {
	t.Parallel()
	d := &dialog{trunk: &Trunk{Username: "us", Password: "secret"}}
	challenge := func(realm, nonce, more string) *sip.Response {
		res := sip.NewResponse(sip.StatusProxyAuthRequired, "Proxy Authentication Required")
		res.AppendHeader(sip.NewHeader("Proxy-Authenticate", `Digest realm="`+realm+`", nonce="`+nonce+`", algorithm=MD5`+more))
		return res
	}
	for i, c := range []struct {
		response *sip.Response
		again    bool
	}{
		{challenge("a.example", "1", ""), true},
		{challenge("a.example", "2", ", stale=true"), true},
		{challenge("a.example", "3", ", stale=true"), true},
		{challenge("b.example", "4", ""), true}, // a second proxy wants one of its own
		{challenge("a.example", "5", ""), false},
		{challenge("a.example", "6", ", stale=false"), false},
	} {
		r := sip.NewRequest(sip.INVITE, sip.Uri{Scheme: "sip", User: "them", Host: "127.0.0.1"})
		for _, h := range d.passwords() {
			r.AppendHeader(sip.HeaderClone(h))
		}
		if again, err := d.authorize(r, c.response); again != c.again || err != nil {
			t.Errorf("challenge %d: %v, %v; want %v", i+1, again, err, c.again)
		}
	}
}
