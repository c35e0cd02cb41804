package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"carillon/internal/egress"
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
