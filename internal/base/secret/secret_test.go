package secret_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
)

func TestFaultsOfSecretsNameTheirField(t *testing.T) {
	good := func(change func(s *secret.Secret)) *secret.Secret {
		s := &secret.Secret{Name: "shop_key", Hosts: []string{"Shop.example.com"}, Value: "12345678"}
		change(s)
		return s
	}
	for field, s := range map[string]*secret.Secret{
		"":         good(func(*secret.Secret) {}),
		"name":     good(func(s *secret.Secret) { s.Name = "shop-key" }),
		"hosts":    good(func(s *secret.Secret) { s.Hosts = nil }),
		"hosts.0":  good(func(s *secret.Secret) { s.Hosts = []string{"https://shop.example.com"} }),
		"hosts.1":  good(func(s *secret.Secret) { s.Hosts = []string{"a.test", "*.shop.example.com"} }),
		"hosts.2":  good(func(s *secret.Secret) { s.Hosts = []string{"10.0.0.1", "::1", "shop.example.com:443"} }),
		"value":    good(func(s *secret.Secret) { s.Value = "1234567" }),
		"name ":    good(func(s *secret.Secret) { s.Name = strings.Repeat("n", 65) }),
		"value ":   good(func(s *secret.Secret) { s.Value = strings.Repeat("n", 4001) }),
		"value  ":  good(func(s *secret.Secret) { s.Value = "1234\x005678" }),
		"hosts.0 ": good(func(s *secret.Secret) { s.Hosts = []string{""} }),
	} {
		err := s.Validate()
		if field == "" && err != nil || field != "" && (err == nil || !strings.Contains(err.Error(), "("+strings.TrimSpace(field)+")")) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if s := good(func(*secret.Secret) {}); s.Validate() != nil || !s.For("SHOP.example.com") || s.For("example.com") ||
		s.For("api.shop.example.com") || s.For("") {
		t.Error("the hosts are not those that were given")
	}
}

// A user who may change the hosts must not be able to redirect a value that somebody else has set.
func TestAValueIsKeptForTheSameHostsAlone(t *testing.T) {
	before := &secret.Secret{Name: "k", Hosts: []string{"b.test", "A.test"}, Value: "12345678"}
	if err := before.Validate(); err != nil {
		t.Fatal(err)
	}
	for hosts, kept := range map[string]bool{
		"a.test,b.test": true, "b.test,a.test,a.test": true, "a.test": false, "a.test,b.test,evil.test": false, "evil.test": false,
	} {
		s := &secret.Secret{Name: "k", Hosts: strings.Split(hosts, ",")}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		if resource.KeepSecrets(s, before); (s.Value != "") != kept {
			t.Errorf("%s: %q", hosts, s.Value)
		}
	}
}

func TestResponsesAreCleanOfSecretsInEveryForm(t *testing.T) {
	const short, long, odd = "12345678", "12345678-and-more", "p\"ä s/w+rd%\\"
	r := secret.NewRedactor(map[string]string{"a": short, "b": long, "c": odd})
	for _, text := range []string{
		short, long, odd, "Bearer " + long + ".", "?key=" + url.QueryEscape(odd), "/" + url.PathEscape(odd),
		strings.ReplaceAll(url.QueryEscape(odd), "+", "%20"),
		`{"said": "p\"ä s/w+rd%\\"}`, base64.StdEncoding.EncodeToString([]byte(odd)),
		base64.RawURLEncoding.EncodeToString([]byte(long)), short + long + short,
	} {
		got := r.Text(text)
		if strings.Contains(got, "1234") || strings.Contains(got, "-and-more") || strings.Contains(got, "w+rd") ||
			strings.Contains(got, "w%2Brd") || !strings.Contains(got, secret.Hidden) {
			t.Errorf("%s is %s", text, got)
		}
	}
	if got := r.Text("1234567 and nothing else"); got != "1234567 and nothing else" {
		t.Error(got)
	}
	if got := secret.NewRedactor(nil).Text("all of it"); got != "all of it" {
		t.Error(got)
	}
}
