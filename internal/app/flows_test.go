package app

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"carillon/internal/conversation"
	"carillon/internal/flow"
)

// request has the effects of flows ask a server, and returns the status that the flow gets and what its run shows.
func request(t *testing.T, x flowEffects, url string) (status, detail string) {
	t.Helper()
	e := &flow.Effect{HTTP: &flow.HTTP{Method: http.MethodGet, URL: url, Status: "status", Save: map[string]string{"body": "text"}}}
	values, detail, refused, err := x.Do(t.Context(), conversation.EffectFor{CompanyID: "acme", Key: "key"}, e)
	if err != nil || refused {
		t.Errorf("%s: refused %t, %v", url, refused, err)
	}
	if values["body"] != "" {
		t.Errorf("%s: the flow gets %q", url, values["body"])
	}
	return values["status"], detail
}

func TestAFlowReachesNoPrivateAddressAndFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	client := newFlowServers([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	t.Cleanup(client.Close)
	x := flowEffects{client: client}
	shop := httptest.NewServer(http.RedirectHandler("http://10.0.0.1/secret", http.StatusFound))
	t.Cleanup(shop.Close)
	if status, detail := request(t, x, shop.URL+"/elsewhere"); status != "302" {
		t.Errorf("a redirect is %s: %s", status, detail)
	}
	var all sync.WaitGroup
	for _, host := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "167772161", "0x0a000001", "0x0a.0.0.1",
		"012.0.0.1", "10.1", "[::ffff:10.0.0.1]", "[::ffff:0a00:1]", "[64:ff9b::10.0.0.1]", "[2002:a00:1::]", "[fc00::1]", "[fe80::1]", "[::]",
		"[::1]:1", "user:word@10.0.0.1", "user.test@[::1]:1", "1.1.1.1@10.0.0.1", "10.0.0.1:443", "１０.0.0.1",
	} {
		for _, scheme := range []string{"https", "http"} {
			all.Go(func() {
				status, detail := request(t, x, scheme+"://"+host+"/secret")
				if status != flow.OutcomeFailed || strings.Contains(detail, "user:word") {
					t.Errorf("%s://%s is %s: %s", scheme, host, status, detail)
				}
			})
		}
	}
	all.Wait()
}
