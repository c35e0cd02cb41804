package whatsapp

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// checked changes the settings and account of a healthy sender, and returns the result of a check.
func checked(t *testing.T, settings map[string]string, change func(*graphtest.Account)) provider.Inspection {
	t.Helper()
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	g.ChangeAccount(func(a *graphtest.Account) { a.Subscribed = []string{a.AppID} })
	if change != nil {
		g.ChangeAccount(change)
	}
	c := New(Options{RequestTimeout: 5 * time.Second})
	t.Cleanup(c.CloseIdleConnections)
	return c.Check(t.Context(), senderBehind(t, g, settings))
}

func senderBehind(t *testing.T, g *graphtest.Server, settings map[string]string) *carillon.Sender {
	t.Helper()
	all := map[string]string{}
	if err := json.Unmarshal(g.Settings(), &all); err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, settings)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return &carillon.Sender{Number: "15555550100", Settings: raw}
}

// codesOf returns the codes of the findings with a problem, in order.
func codesOf(x provider.Inspection) (all []string) {
	for _, f := range x.Findings {
		if f.State == provider.FindingWarn || f.State == provider.FindingBad {
			all = append(all, string(f.State)+" "+f.Code)
		}
	}
	return all
}

func TestACheckFindsNothingWrongWithASoundSender(t *testing.T) {
	x := checked(t, nil, func(a *graphtest.Account) { a.Callback = "https://carillon.example.com/callbacks/whatsapp/main" })
	var got []string
	for _, f := range x.Findings {
		got = append(got, f.Item+" "+string(f.State)+" "+f.Code)
	}
	want := []string{
		"connection ok connected", "version ok version_served", "token ok token_permanent", "phone_number_id ok phone_ok",
		"number ok number_same",
		"waba_id ok account_ok", "registration ok registered", "name ok name_approved", "quality ok quality_green", "limit ok limit_known",
		"app_secret ok secret_ok", "subscription ok subscribed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if x.Quality != "GREEN" || x.Limit != "TIER_2K" || x.Callback != "https://carillon.example.com/callbacks/whatsapp/main" {
		t.Errorf("%+v", x)
	}
}

func TestACheckNamesEachFault(t *testing.T) {
	soon := func(d time.Duration) func(*graphtest.Account) {
		return func(a *graphtest.Account) { a.Expires = time.Now().Add(d) }
	}
	for name, c := range map[string]struct {
		settings map[string]string
		change   func(*graphtest.Account)
		want     []string
	}{
		"a wrong token":                {map[string]string{"access_token": "wrong"}, nil, []string{"bad token_invalid"}},
		"a token that was refused":     {nil, func(a *graphtest.Account) { a.Expired = true }, []string{"bad token_expired"}},
		"a token past its end":         {nil, soon(-time.Hour), []string{"bad token_expired"}},
		"a token of a day":             {nil, soon(20 * time.Hour), []string{"warn token_temporary"}},
		"a token of a week":            {nil, soon(7 * 24 * time.Hour), []string{"warn token_expires"}},
		"a token of two months":        {nil, soon(60 * 24 * time.Hour), nil},
		"a scope too few":              {nil, func(a *graphtest.Account) { a.Scopes = a.Scopes[:1] }, []string{"bad token_scopes"}},
		"a token nobody may ask about": {nil, func(a *graphtest.Account) { a.NoDebug = true }, nil},
		"no permission": {nil, func(a *graphtest.Account) {
			a.Lacks, a.Scopes = "management", []string{"whatsapp_business_messaging"}
		}, []string{
			"bad token_scopes", "bad phone_denied", "bad account_denied",
		}},
		"no such number": {
			map[string]string{"phone_number_id": "1999998"}, nil, []string{"bad phone_absent", "bad account_other"},
		},
		"no such account": {map[string]string{"waba_id": "2999998"}, nil, []string{"bad account_absent"}},
		"another account": {nil, func(a *graphtest.Account) {
			a.Foreign, a.OtherNumbers = true, 2
		}, []string{"bad account_other"}},
		"many numbers": {nil, func(a *graphtest.Account) { a.OtherNumbers = 250 }, nil},
		"another number": {nil, func(a *graphtest.Account) {
			a.DisplayNumber = "+34 600 111 222"
		}, []string{"bad number_differs"}},
		"not registered": {nil, func(a *graphtest.Account) { a.Platform = "NOT_APPLICABLE" }, []string{"bad not_registered"}},
		"not verified": {nil, func(a *graphtest.Account) {
			a.Platform, a.Verification = "NOT_APPLICABLE", "NOT_VERIFIED"
		}, []string{"bad not_verified"}},
		"on premises":               {nil, func(a *graphtest.Account) { a.Platform = "ON_PREMISE" }, []string{"bad on_premise"}},
		"banned":                    {nil, func(a *graphtest.Account) { a.Status = "BANNED" }, []string{"bad number_stopped"}},
		"a name under review":       {nil, func(a *graphtest.Account) { a.NameStatus = "PENDING_REVIEW" }, []string{"warn name_pending"}},
		"a name declined":           {nil, func(a *graphtest.Account) { a.NameStatus = "DECLINED" }, []string{"bad name_declined"}},
		"medium quality":            {nil, func(a *graphtest.Account) { a.Quality = "YELLOW" }, []string{"warn quality_yellow"}},
		"low quality":               {nil, func(a *graphtest.Account) { a.Quality = "RED" }, []string{"bad quality_red"}},
		"a version without a limit": {nil, func(a *graphtest.Account) { a.Limit = "-" }, nil},
		"a wrong app secret":        {map[string]string{"app_secret": "another-apps-secret"}, nil, []string{"bad secret_wrong"}},
		"no subscription":           {nil, func(a *graphtest.Account) { a.Subscribed = nil }, []string{"bad not_subscribed"}},
		"another subscription": {nil, func(a *graphtest.Account) {
			a.Subscribed = []string{"3999999"}
		}, []string{"bad subscribed_other"}},
		"a version that ended":   {nil, func(a *graphtest.Account) { a.Served = "v24.0" }, []string{"warn version_ended"}},
		"a version there is not": {map[string]string{"version": "v99.0"}, nil, []string{"bad version_unknown"}},
		"nobody there":           {map[string]string{"base_url": "http://127.0.0.1:1"}, nil, []string{"bad unreachable"}},
		"a private address": {
			map[string]string{"base_url": "http://127.0.0.1:1", "public": "true"}, nil, []string{"bad address_denied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := checked(t, c.settings, c.change)
			if got := codesOf(x); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q\n%+v", got, c.want, x.Findings)
			}
			var all []string
			for _, f := range x.Findings {
				all = append(all, f.Item)
			}
			if !slices.Equal(all, items()) {
				t.Errorf("the items are %v", all)
			}
			text, _ := json.Marshal(x)
			for _, secret := range []string{"provider-token", "provider-app-secret", "provider-verify-token", "another-apps-secret"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("a secret is in %s", text)
				}
			}
		})
	}
}

// The channel displays some numbers in a form that differs from the dialed one.
func TestACheckTakesEveryFormOfTheNumberForTheSame(t *testing.T) {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	c := New(Options{RequestTimeout: 5 * time.Second})
	t.Cleanup(c.CloseIdleConnections)
	for _, x := range []struct{ number, display, want string }{
		{"5551998765432", "+55 51 9876-5432", "number_same"},
		{"525512345601", "+52 1 55 1234 5601", "number_same"},
		{"5491123456789", "+54 11 2345-6789", "number_same"},
		{"551132345678", "+55 11 93234-5678", "number_differs"},
	} {
		g.ChangeAccount(func(a *graphtest.Account) { a.DisplayNumber = x.display })
		s := senderBehind(t, g, nil)
		s.Number = x.number
		for _, f := range c.Check(t.Context(), s).Findings {
			if f.Item == itemNumber && f.Code != x.want {
				t.Errorf("%s is displayed as %s: %s", x.number, x.display, f.Code)
			}
		}
	}
}

func TestACheckSaysThatSomethingElseResponds(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer other.Close()
	if got := codesOf(checked(t, map[string]string{"base_url": other.URL}, nil)); !slices.Equal(got, []string{"bad not_the_channel"}) {
		t.Error(got)
	}
}

func TestAnAddressThatAMemberChoseReachesWhatEgressAllows(t *testing.T) {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	s := senderBehind(t, g, map[string]string{"public": "true"})
	strict := New(Options{})
	if _, err := strict.List(t.Context(), s); !carillon.IsCode(err, carillon.UpstreamUnavailable) {
		t.Errorf("a private address is reached: %v", err)
	}
	c := New(Options{Egress: egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})})
	defer c.CloseIdleConnections()
	if _, err := c.List(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func TestSubscribingIsConfirmedByTheNextCheck(t *testing.T) {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	c, s := New(Options{}), senderBehind(t, g, nil)
	defer c.CloseIdleConnections()
	if got := codesOf(c.Check(t.Context(), s)); !slices.Equal(got, []string{"bad not_subscribed"}) {
		t.Fatal(got)
	}
	if err := c.Subscribe(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := codesOf(c.Check(t.Context(), s)); len(got) != 0 {
		t.Error(got)
	}
	g.ChangeAccount(func(a *graphtest.Account) { a.Lacks = "messages" })
	if err := c.Subscribe(t.Context(), s); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
}

func TestACallbackReportsLimitsAndEventsOfTheAccount(t *testing.T) {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	for _, c := range []struct {
		body   string
		number string
		want   string
	}{
		{string(g.QualityBody("FLAGGED", "TIER_250")), "15555550100", "FLAGGED TIER_250"},
		{string(g.QualityBody("FLAGGED", "TIER_250")), "15555550101", ""},
		{string(g.QualityBody("FLAGGED", "<b>")), "15555550100", "FLAGGED "},
		{string(g.QualityBody("not an event", "TIER_250")), "15555550100", ""},
		{string(g.AccountBody("ACCOUNT_RESTRICTION")), "15555550101", "ACCOUNT_RESTRICTION "},
		{strings.Replace(string(g.AccountBody("DISABLED_UPDATE")), "2000001", "2000002", 1), "15555550100", ""},
	} {
		cb, err := ParseCallback([]byte(c.body), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n := cb.Newest(g.Settings(), c.number); n != nil {
			got = n.Event + " " + n.Limit
		}
		if got != c.want {
			t.Errorf("%s for %s: got %q, want %q", c.body, c.number, got, c.want)
		}
		if cb.Concerns(g.Settings()) == strings.Contains(c.body, "2000002") {
			t.Errorf("%s: concerns the sender or not, wrongly", c.body)
		}
	}
}
