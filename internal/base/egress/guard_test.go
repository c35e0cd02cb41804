package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"carillon/internal/base/egress"
)

func TestAnAddressIsAdmittedAsItWillBeReached(t *testing.T) {
	resolver := names{"public.test": {"1.1.1.1"}, "mixed.test": {"1.1.1.1", "10.0.0.1"}, "lab.test": {"10.0.0.1"}}
	strict := egress.New(egress.Options{Resolver: resolver})
	lab := egress.New(egress.Options{Resolver: resolver, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	for _, c := range []struct {
		client  *egress.Client
		address string
		denied  bool
		absent  bool
	}{
		{strict, "https://public.test", false, false},
		{strict, "https://public.test:8443", true, false},
		{strict, "http://public.test", true, false},
		{strict, "https://mixed.test", true, false},
		{strict, "https://127.0.0.1", true, false},
		{strict, "https://[::1]", true, false},
		{strict, "https://nobody.test", false, true},
		{lab, "https://lab.test:8443", false, false},
		{lab, "http://lab.test", false, false},
		{lab, "http://public.test", true, false},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		err = c.client.Admit(t.Context(), u)
		_, denied := errors.AsType[*egress.DeniedError](err)
		if denied != c.denied || (err != nil && !denied) != c.absent {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

func TestAnAddressIsDeniedWithoutALookUpWhereNothingCouldAdmitIt(t *testing.T) {
	allowing := func(networks ...string) *egress.Client {
		o := egress.Options{Resolver: names{}, AnyPort: true} // a name that is looked up is not found
		for _, n := range networks {
			o.AllowPrivate = append(o.AllowPrivate, netip.MustParsePrefix(n))
		}
		return egress.New(o)
	}
	strict, lab, v6 := allowing(), allowing("127.0.0.0/8", "10.0.0.0/8"), allowing("::1/128")
	for _, c := range []struct {
		client  *egress.Client
		address string
		denied  bool
	}{
		{strict, "https://1.1.1.1:8443/hook", false},
		{strict, "https://nobody.test", false},
		{strict, "https://localhost.test", false},
		{strict, "http://nobody.test", true},
		{strict, "http://1.1.1.1", true},
		{strict, "https://10.0.0.1", true},
		{strict, "https://127.0.0.1:3000", true},
		{strict, "https://169.254.169.254", true},
		{strict, "https://[::1]", true},
		{strict, "https://[::ffff:10.0.0.1]", true},
		{strict, "https://[64:ff9b::a00:1]", true},
		{strict, "https://[fe80::1%25eth0]", true},
		{strict, "https://localhost", true},
		{strict, "https://LOCALHOST.:3000", true},
		{strict, "https://app.localhost", true},
		{lab, "http://127.0.0.1:3000", false},
		{lab, "http://localhost:3000", false},
		{lab, "https://10.0.0.1", false},
		{lab, "http://nobody.test", false}, // may resolve to an allowed network
		{lab, "http://1.1.1.1", true},
		{lab, "https://192.168.0.1", true},
		{lab, "https://[::1]", true},
		{v6, "http://localhost:3000", false},
		{v6, "https://127.0.0.1", true},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		err = c.client.AdmitUnresolved(u)
		if _, denied := errors.AsType[*egress.DeniedError](err); denied != c.denied || err != nil && !denied {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

func TestAGuardedTransportReachesOnlyWhatItsClientDoes(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	get := func(c *egress.Client) error {
		resp, err := (&http.Client{Transport: c.Guard(&http.Transport{})}).Get(srv.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if _, denied := errors.AsType[*egress.DeniedError](get(egress.New(egress.Options{}))); !denied {
		t.Error("a private address is reached")
	}
	if err := get(egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})); err != nil {
		t.Error(err)
	}
}
