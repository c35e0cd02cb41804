package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/whatsapp/graphtest"
)

// companiesSetUp adds three companies to the first, which all call their sender main: Beta's application is another one; Gamma claims the
// number of the first company, with its application's secret; Delta has another number of that application.
var companiesSetUp = func() string {
	acme := repliesSetUp[strings.Index(repliesSetUp, "  - name: Acme"):]
	all := "companies:\n" + acme
	for _, c := range []struct{ name, secret, number string }{{"Beta", "beta-secret", "1000001"}, {"Gamma", "provider-app-secret", "1000001"}, {"Delta", "provider-app-secret", "1000004"}} {
		other := fmt.Sprintf(`  - name: %s
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    users: [{email: ben@%s.test, password: carillon-demo, name: Ben, role: owner}]
    keys: [{key: ck_%s_test, label: test}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax, per_recipient_interval: 0, settings: {
         phone_number_id: "%s", waba_id: "2000001", access_token: provider-token, app_secret: %s, verify_token: provider-verify-token}}
    flows:
      - {name: echo, trigger: {keywords: [echo]}, steps: [{say: "%s?"}]}
`, c.name, strings.ToLower(c.name), strings.ToLower(c.name), c.number, c.secret, c.name)
		all += other
	}
	return all
}()

// Two companies with the same recipient, and with the same sender as far as its id and number go: each gets what is written to it.
func TestCompaniesWithTheSameSenderAreKeptApart(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startPerson(t, engine, companiesSetUp)
			k := talk{t: t, a: p.a}
			tokens := map[string]string{}
			for _, name := range []string{"acme", "beta", "gamma", "delta"} {
				tokens[name] = k.signIn("ben@" + name + ".test")
			}
			texts := func(company string) string {
				var all []string
				for _, x := range k.ask("GET", "/panel/v1/conversations?limit=100", tokens[company], "", http.StatusOK)["data"].([]any) {
					id := x.(map[string]any)["id"].(string)
					for _, turn := range k.ask("GET", "/panel/v1/conversations/"+id, tokens[company], "", http.StatusOK)["turns"].([]any) {
						if turn.(map[string]any)["author"] == "visitor" {
							all = append(all, turn.(map[string]any)["text"].(string))
						}
					}
				}
				return strings.Join(all, " ")
			}
			beta, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000001", AppSecret: "beta-secret"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = beta.Close() })
			delta, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000004"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = delta.Close() })
			for text, g := range map[string]*graphtest.Server{"toacme": p.graph, "tobeta": beta, "todelta": delta} {
				for range 2 {
					body := g.InboundBody("Ana", graphtest.Text(p.number, "wamid."+text, text, time.Now()))
					if status, err := g.Deliver(t.Context(), p.base+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
						t.Fatal(status, err)
					}
				}
			}
			want := map[string]string{"acme": "toacme", "beta": "tobeta", "gamma": "", "delta": "todelta"}
			for late := time.Now().Add(20 * time.Second); time.Now().Before(late) && (texts("acme") == "" || texts("beta") == "" || texts("delta") == ""); time.Sleep(50 * time.Millisecond) {
			}
			for company, text := range want {
				if got := texts(company); got != text {
					t.Errorf("%s has %q, not %q", company, got, text)
				}
			}
			if !strings.Contains(p.log.String(), "another company has too") {
				t.Error("nothing says that two companies claim a number")
			}
			// STOP to one is none to the others; a reply's receipt in another company's name changes nothing.
			q := p.another("34600111333")
			q.text("echo")
			q.expect("What?")
			forged := graphtest.StatusOf(q.last(), "failed", time.Now())
			forged.Code = 131047
			if status, err := beta.Deliver(t.Context(), p.base+"/callbacks/whatsapp/main", beta.StatusBody(forged)); status != http.StatusOK || err != nil {
				t.Error(status, err)
			}
			q.text("x")
			q.expect("What?", "x")
			body := beta.InboundBody("Ana", graphtest.Text(p.number, "wamid.stop", "STOP", time.Now()))
			if status, err := beta.Deliver(t.Context(), p.base+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
				t.Error(status, err)
			}
			for late := time.Now().Add(20 * time.Second); time.Now().Before(late) && !strings.Contains(texts("beta"), "STOP"); time.Sleep(50 * time.Millisecond) {
			}
			for company, want := range map[string]bool{"channel": false, "beta": true, "gamma": false, "delta": false} {
				for late := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
					resp, err := http.Get(p.base + "/functions/v1/suppressions?access_key=ck_" + company + "_test")
					if err != nil {
						t.Fatal(err)
					}
					if got := len(decode(t, resp, http.StatusOK)["data"].([]any)) > 0; got == want {
						break
					} else if time.Now().After(late) {
						t.Fatalf("%s suppresses the number: %t", company, got)
					}
				}
			}
			// Whatever is of one is not there for the other.
			id := q.conversation()
			for _, path := range []string{"/conversations/" + id, "/conversations/" + id + "/turns?after=0", "/conversations/" + id + "/templates", "/flow-runs/" + fmt.Sprint(q.run()["id"])} {
				k.ask("GET", "/panel/v1"+path, tokens["beta"], "", http.StatusNotFound)
			}
		})
	}
}
