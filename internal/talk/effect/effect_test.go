package effect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/secret"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// ask performs an HTTP effect and returns the resulting status and detail.
func ask(t *testing.T, x Effects, url string) (status, detail string) {
	t.Helper()
	e := flow.RequestEffect(&flow.HTTP{Method: http.MethodGet, URL: url, Status: "status", Save: map[string]string{"body": "text"}}, nil)
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
	client := NewClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	t.Cleanup(client.Close)
	x := Effects{Client: client}
	shop := httptest.NewServer(http.RedirectHandler("http://10.0.0.1/secret", http.StatusFound))
	t.Cleanup(shop.Close)
	if status, detail := ask(t, x, shop.URL+"/elsewhere"); status != "302" {
		t.Errorf("a redirect is %s: %s", status, detail)
	}
	var all sync.WaitGroup
	for _, host := range []string{
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "167772161", "0x0a000001", "0x0a.0.0.1",
		"012.0.0.1", "10.1", "[::ffff:10.0.0.1]", "[::ffff:0a00:1]", "[64:ff9b::10.0.0.1]", "[2002:a00:1::]", "[fc00::1]",
		"[fe80::1]", "[::]",
		"[::1]:1", "user:word@10.0.0.1", "user.test@[::1]:1", "1.1.1.1@10.0.0.1", "10.0.0.1:443", "１０.0.0.1",
	} {
		for _, scheme := range []string{"https", "http"} {
			all.Go(func() {
				status, detail := ask(t, x, scheme+"://"+host+"/secret")
				if status != flow.OutcomeFailed || strings.Contains(detail, "user:word") {
					t.Errorf("%s://%s is %s: %s", scheme, host, status, detail)
				}
			})
		}
	}
	all.Wait()
}

// echoes starts a server that responds with everything in the request, in several encodings.
func echoes(t *testing.T) (url string, sent *[]string) {
	t.Helper()
	sent = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all := strings.Join([]string{
			r.Header.Get("Authorization"), r.URL.RawQuery, string(body), base64.StdEncoding.EncodeToString([]byte("x")),
		}, " ")
		*sent = append(*sent, all)
		_ = json.NewEncoder(w).Encode(map[string]any{"echo": all, "key": strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")})
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

func TestASecretIsSentToItsHostAloneAndKeptNowhere(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, id := range []string{"acme", "other"} {
		if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: id, Name: id}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
	}
	const value = `s3cr"t & more`
	for company, x := range map[string]*secret.Secret{
		"acme":  {Name: "shop_key", Hosts: []string{"127.0.0.1"}, Value: value},
		"other": {Name: "their_key", Hosts: []string{"127.0.0.1"}, Value: value},
	} {
		if _, err := s.Resources.PutResource(t.Context(), company, secret.Kind(), x); err != nil {
			t.Fatal(err)
		}
	}
	client := NewClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	t.Cleanup(client.Close)
	url, sent := echoes(t)
	do := func(url, name string) (flow.Values, string, bool) {
		t.Helper()
		e := flow.RequestEffect(&flow.HTTP{
			Method: http.MethodPost, URL: url + "/?key={{secret." + name + "}}&said={{said}}",
			Headers: map[string]string{"Authorization": "Bearer {{secret." + name + "}}"},
			Body:    `{"key": "{{secret.` + name + `}}"}`, Save: map[string]string{"echo": "echo", "key": "key"}, Status: "status",
		}, flow.Values{"said": "{{secret.shop_key}}"})
		values, detail, refused, err := Effects{Store: s, Client: client}.Do(t.Context(),
			conversation.EffectFor{CompanyID: "acme", Key: "key"}, e)
		if err != nil {
			t.Fatal(err)
		}
		return values, detail, refused
	}
	values, detail, refused := do(url, "shop_key")
	if want := `Bearer ` + value +
		` key=s3cr%22t%20%26%20more&said=%7B%7Bsecret.shop_key%7D%7D {"key": "s3cr\"t \u0026 more"} eA==`; refused ||
		values["status"] != "200" || len(*sent) != 1 || (*sent)[0] != want {
		t.Errorf("%t %v %s: %q", refused, values, detail, *sent)
	}
	if values["key"] != secret.Hidden || strings.Contains(values["echo"]+detail, "s3cr") ||
		strings.Count(values["echo"], secret.Hidden) != 3 {
		t.Errorf("it is kept: %q %s", values, detail)
	}
	if uses, err := s.Resources.SecretUses(t.Context(), "acme"); uses["shop_key"].IsZero() || err != nil {
		t.Error("it is not known when it was used:", uses, err)
	}
	for _, name := range []string{"none", "their_key"} {
		if values, detail, refused := do(url, name); !refused || detail != "The company has no secret "+name || len(*sent) != 1 {
			t.Errorf("%s: %t %v %s", name, refused, values, detail)
		}
	}
	if values, detail, refused := do("http://localhost:1", "shop_key"); !refused ||
		!strings.Contains(detail, "may not be sent to localhost") || strings.Contains(detail, "s3cr") {
		t.Errorf("another host: %t %v %s", refused, values, detail)
	}
	// The detail of a request without a response contains no query.
	if values, detail, refused := do("http://127.0.0.1:1", "shop_key"); refused || values["status"] != flow.OutcomeFailed ||
		strings.Contains(detail, "s3cr") || strings.Contains(detail, "key=") {
		t.Errorf("no response: %t %v %s", refused, values, detail)
	}
}
