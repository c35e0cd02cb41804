package sip

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// The far side may name another address while we hang up. The race detector verifies this.
func TestADialogGoesToTheAddressThatWasNamedLast(t *testing.T) {
	t.Parallel()
	e := engine(t, Options{})
	from := &sip.FromHeader{Address: sip.Uri{Scheme: "sip", User: "us", Host: "127.0.0.1"}, Params: sip.NewParams()}
	to := &sip.ToHeader{Address: sip.Uri{Scheme: "sip", User: "them", Host: "127.0.0.1"}, Params: sip.NewParams()}
	d := &dialog{
		e: e, callID: "call", local: from, remote: to, target: to.Address, transport: "UDP",
		contact: sip.ContactHeader{Address: sip.Uri{Scheme: "sip", Host: "127.0.0.1", Port: 5060}},
	}
	var both sync.WaitGroup
	both.Go(func() {
		for range 100 {
			d.retarget(&sip.Uri{Scheme: "sip", User: "moved", Host: "127.0.0.2", UriParams: sip.NewParams()})
		}
	})
	both.Go(func() {
		for range 100 {
			_ = d.request(sip.BYE, nil, "")
		}
	})
	both.Wait()
	if to := d.request(sip.BYE, nil, "").Recipient.String(); !strings.Contains(to, "moved@127.0.0.2") {
		t.Errorf("it goes to %s", to)
	}
}

func TestRoutesMayHaveCommas(t *testing.T) {
	t.Parallel()
	r := sip.NewResponse(200, "OK")
	for _, route := range []string{`"A, \", B" <sip:a,b@127.0.0.1;lr>, <sip:c@127.0.0.1>`, `sip:d@127.0.0.1`} {
		r.AppendHeader(sip.NewHeader("Record-Route", route))
	}
	want := []string{`"A, \", B" <sip:a,b@127.0.0.1;lr>`, "<sip:c@127.0.0.1>", "sip:d@127.0.0.1"}
	if got := routesOf(r, false); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	slices.Reverse(want)
	if got := routesOf(r, true); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
