package whatsapp

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// operator returns the application of the stand-in.
func operator(g *graphtest.Server) App {
	return App{ID: "3000001", Secret: "provider-app-secret", ConfigID: "4000001", BaseURL: g.URL()}
}

func TestACodeOfTheDialogBecomesASender(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := client(t, Options{})
	for _, number := range []string{"1000001", ""} {
		granted, err := c.SignUp(t.Context(), operator(g), provider.Grant{Code: g.Code(), AccountID: "2000001", NumberID: number})
		if err != nil {
			t.Fatal(err)
		}
		if granted.Number != "15555550100" {
			t.Errorf("the number is %s", granted.Number)
		}
		if err := CheckSettings(granted.Settings); err != nil {
			t.Fatal(err)
		}
		s.Number, s.Settings = granted.Number, granted.Settings
		if err := c.Subscribe(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Check(t.Context(), s).Findings {
			if f.State == provider.FindingBad || f.State == provider.FindingUnknown {
				t.Errorf("the check finds %+v", f)
			}
		}
	}
}

func TestARefusedSignUpNamesItsStepAndNoSecret(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	c := client(t, Options{})
	grant := func() provider.Grant {
		return provider.Grant{Code: g.Code(), AccountID: "2000001", NumberID: "1000001"}
	}
	aged := func(now *graphtest.Account) {
		for i := range now.Codes {
			now.Codes[i].At = time.Now().Add(-31 * time.Second)
		}
	}
	used := grant()
	if _, err := c.SignUp(t.Context(), operator(g), used); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name      string
		app       func(a *App)
		grant     func(x *provider.Grant)
		account   func(now *graphtest.Account)
		step, why string
	}{
		{"an expired code", nil, nil, aged, "code", "code_refused"},
		{"a used code", nil, func(x *provider.Grant) { x.Code = used.Code }, nil, "code", "code_refused"},
		{"an unknown code", nil, func(x *provider.Grant) { x.Code = "AQunknown" }, nil, "code", "code_refused"},
		{"a wrong secret", func(a *App) { a.Secret = "another-app-secret" }, nil, nil, "code", "app_refused"},
		{"a wrong application", func(a *App) { a.ID = "3000002" }, nil, nil, "code", "app_refused"},
		{"another account", nil, func(x *provider.Grant) { x.AccountID = "2000002" }, nil, "number", "account_denied"},
		{
			"no permission", nil, nil,
			func(now *graphtest.Account) { now.Lacks = "management" }, "number", "account_denied",
		},
		{"a number of another account", nil, nil, func(now *graphtest.Account) { now.Foreign = true }, "number", "number_elsewhere"},
		{
			"an account without a number", nil, func(x *provider.Grant) { x.NumberID = "" },
			func(now *graphtest.Account) { now.Foreign = true }, "number", "number_missing",
		},
		{
			"an account with several numbers", nil, func(x *provider.Grant) { x.NumberID = "" },
			func(now *graphtest.Account) { now.OtherNumbers = 101 }, "number", "number_unclear",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			app, y, before := operator(g), grant(), g.Account()
			if x.app != nil {
				x.app(&app)
			}
			if x.grant != nil {
				x.grant(&y)
			}
			if x.account != nil {
				g.ChangeAccount(x.account)
			}
			_, err := c.SignUp(t.Context(), app, y)
			var e *carillon.Error
			if !errors.As(err, &e) || e.Code != carillon.Conflict || e.Details.Find(DetailStep) != x.step ||
				e.Details.Find(DetailRefusal) != x.why {
				t.Errorf("%v", err)
			}
			if text := fmt.Sprintf("%v %+v", err, e); strings.Contains(text, y.Code) || strings.Contains(text, "app-secret") {
				t.Errorf("the error shows a secret: %s", text)
			}
			g.ChangeAccount(func(now *graphtest.Account) {
				now.Lacks, now.Foreign, now.OtherNumbers = before.Lacks, before.Foreign, before.OtherNumbers
			})
		})
	}
	for _, x := range []provider.Grant{
		{Code: "AQ", AccountID: "2000001", NumberID: "a/b"}, {Code: "AQ", AccountID: "../me"}, {Code: "AQ"},
		{Code: "a b", AccountID: "2000001"}, {AccountID: "2000001"},
	} {
		if _, err := c.SignUp(t.Context(), operator(g), x); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

func TestAnUnreachableChannelIsNoRefusedSignUp(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("code") {
		case "html":
			http.Error(w, "<html>", http.StatusBadGateway)
		case "busy":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":2,"message":"busy"}}`))
		default:
			_, _ = w.Write([]byte(`{"token_type":"bearer"}`))
		}
	}))
	t.Cleanup(broken.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, x := range []struct{ code, base string }{{"html", broken.URL}, {"busy", broken.URL}, {"none", broken.URL}, {"gone", gone.URL}} {
		_, err := client(t, Options{}).SignUp(t.Context(), App{ID: "3000001", Secret: "a-secret-word", BaseURL: x.base},
			provider.Grant{Code: x.code, AccountID: "2000001"})
		var e *carillon.Error
		if !errors.As(err, &e) || e.Code != carillon.UpstreamUnavailable {
			t.Errorf("%s: %v", x.code, err)
		}
		text := fmt.Sprintf("%v %v", err, errors.Unwrap(err))
		if strings.Contains(text, "a-secret-word") || strings.Contains(text, "code=") {
			t.Errorf("the error shows a secret: %s", text)
		}
	}
}

func TestCallbacksAreDirectedToAnAddressThatTheChannelVerifies(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := client(t, Options{})
	known := s.Settings
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		challenge, ok := Handshake(known, r.URL.Query())
		if !ok {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(challenge))
	}))
	t.Cleanup(here.Close)
	address := here.URL + "/callbacks/whatsapp/main"
	if err := c.Redirect(t.Context(), s, address); err != nil || g.Account().Override != address {
		t.Errorf("%v, %q", err, g.Account().Override)
	}
	if found := c.Check(t.Context(), s); found.Callback != address {
		t.Errorf("the check finds callbacks at %q", found.Callback)
	}
	known = []byte(strings.Replace(string(s.Settings), "provider-verify-token", "another", 1))
	refused := func(address, why string) {
		t.Helper()
		var e *carillon.Error
		err := c.Redirect(t.Context(), s, address)
		if !errors.As(err, &e) || e.Details.Find(DetailStep) != "callbacks" || e.Details.Find(DetailRefusal) != why {
			t.Errorf("%s: %v", address, err)
		}
	}
	refused(address, "callbacks_refused")
	refused("https://example.com/"+strings.Repeat("x", 200), "address_long")
}
