package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/identity"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// keep replaces the password hashing of auth: here only an unchanged hash matters.
func keep(_ context.Context, stored, password string) (string, error) {
	if _, of, found := strings.Cut(stored, "of "); found && of == password {
		return stored, nil
	}
	return fmt.Sprintf("%d of %s", time.Now().UnixNano(), password), nil
}

func parse(t *testing.T, text string) *config.Provision {
	t.Helper()
	p, err := config.ParseProvision("a.yaml", []byte(text), config.ProvisionOptions{Kinds: resourcetest.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func apply(t *testing.T, st *store.Store, text string) store.Summary {
	t.Helper()
	s, err := st.Apply(t.Context(), parse(t, text), keep)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../base/config/testdata/provision.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const acmeID = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"

func TestApplySetsUpTheExampleOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		want := "company 1 created; user 2 created; key 4 created; sender 2 created; template 1 created; knowledge 1 created; " +
			"agent 1 created; flow 1 created; widget 2 created; secret 1 created; webhook 1 created; suppression 1 created"
		if diff := cmp.Diff(want, apply(t, st, example(t)).String()); diff != "" {
			t.Error(diff)
		}
		before := store.Dump(t, st)
		want = strings.ReplaceAll(want, "created", "unchanged")
		if diff := cmp.Diff(want, apply(t, st, example(t)).String()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, store.Dump(t, st)); diff != "" {
			t.Errorf("the second time changed something: %s", diff)
		}
		for _, secret := range []string{"whsec_", "change-me-to-32-random-bytes", "change-me-to-the-key"} {
			if strings.Contains(before, secret) {
				t.Errorf("%s is stored in the clear", secret)
			}
		}
	})
}

func TestWhatApplySetsUpCanBeUsed(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, example(t))
		ctx := t.Context()
		k, err := st.Keys.AccessKey(ctx, "ck_test_revoked")
		if err != nil || k == nil || k.RevokedAt.IsZero() || k.CompanyID != acmeID {
			t.Errorf("revoked key: %+v, %v", k, err)
		}
		senders, err := st.Senders.Senders(ctx, acmeID)
		main := slices.IndexFunc(senders, func(s *carillon.Sender) bool { return s.Channel == carillon.Messaging })
		if err != nil || len(senders) != 2 || main < 0 || !strings.Contains(string(senders[main].Settings), "provider-token") {
			t.Fatalf("senders: %v, %v", senders, err)
		}
		templates, err := st.Templates.Templates(ctx, senders[main].UID)
		if err != nil || len(templates) != 1 || templates[0].Shape == nil || len(templates[0].ID) != 19 {
			t.Errorf("templates: %v, %v", templates, err)
		}
		if _, err := st.Resources.Agent(ctx, acmeID, "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11"); err != nil {
			t.Error(err)
		}
		if known, err := st.Resources.FlowKnown(ctx, acmeID, "order-shipped"); err != nil || !known {
			t.Errorf("flow known: %v, %v", known, err)
		}
		c, err := st.Accounts.Company(ctx, acmeID)
		if err != nil || !c.Suppresses || c.CallingHours == nil || c.Limits.DailyRecipients != 0 ||
			c.Limits.DailyBytes != 10_000_000_000 || c.Limits.TemplatesPerDay != 10 {
			t.Errorf("company: %+v, %v", c, err)
		}
		m, err := st.Accounts.Members(ctx, acmeID, "", 10)
		if err != nil || len(m) != 2 {
			t.Errorf("members: %v, %v", m, err)
		}
	})
}

const small = `companies:
  - name: Small
    users: [{email: a@small.test, password: first-password, role: owner}, {email: b@small.test}]
    keys: [{label: made}]
    senders: [{id: s, number: "15555550200", channel: messaging, provider: sandbox, default: true}, {id: v, number: "15555550201",
      channel: voice, provider: sandbox}]
    templates: [{sender: s, name: hello, language: en, category: UTILITY, body: "Hi {{1}}"}]
    agents: [{name: Ann}]
    widgets: [{name: Web, agent: Ann}]
    webhooks: [{url: "https://small.test/hook"}]
`

func TestApplyKeepsWhatIsMadeOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		before := store.Dump(t, st)
		if s := apply(t, st, small); s.Changed() {
			t.Errorf("applied again: %v", s)
		}
		if diff := cmp.Diff(before, store.Dump(t, st)); diff != "" {
			t.Error(diff)
		}
		for table, want := range map[string]int{"company": 3, "account": 2, "access_key": 1, "sender": 3, "resource": 3} {
			if n := strings.Count(before, "\n"+table+" "); n != want {
				t.Errorf("%d rows in %s, want %d", n, table, want)
			}
		}
	})
}

func TestApplyChangesOnlyWhatTheFileSays(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		for _, c := range []struct{ from, to, want string }{
			{"first-password", "other-password", "user 1 updated, 1 unchanged"},
			{"role: owner", "role: admin", "user 1 updated, 1 unchanged"},
			{"label: made", "label: made, scopes: [\"notify:send\"]", "key 1 updated"},
			{"default: true", "default: true, per_second: 5", "sender 1 updated, 1 unchanged"},
			{"provider: sandbox}]", "provider: sandbox, ring_timeout: 30s}]", "sender 1 updated, 1 unchanged"},
			{"Hi {{1}}", "Hello {{1}}", "template 1 updated"},
			{"- name: Small", "- name: Small\n    status: suspended", "company 1 updated"},
			{"- name: Small", "- name: Small\n    redial: {outcomes: [voicemail], attempts: 1, after: 1m}", "company 1 updated"},
			{"- name: Small", "- name: Small\n    redial: {attempts: 0}", "company 1 updated"},
			{"agent: Ann", "agent: Ann, welcome: Hi", "widget 1 updated"},
			{"small.test/hook\"", "small.test/hook\", events: [\"message.sent\"]", "webhook 1 updated"},
		} {
			s := apply(t, st, strings.Replace(small, c.from, c.to, 1))
			if n := strings.Count(s.String(), "updated"); n != 1 || !strings.Contains(s.String(), c.want) ||
				strings.Contains(s.String(), "created") {
				t.Errorf("%s: %v, want %s and no other change", c.to, s, c.want)
			}
			apply(t, st, strings.Replace(small, "- name: Small", "- name: Small\n    status: active", 1))
		}
		// A part of a company leaves the rest as it is.
		before := store.Dump(t, st)
		if s := apply(t, st, "companies: [{name: Small}]"); s.String() != "company 1 unchanged" {
			t.Errorf("only the name: %v", s)
		}
		if diff := cmp.Diff(before, store.Dump(t, st)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestApplyIsWholeOrNotAtAll(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		before := store.Dump(t, st)
		for name, c := range map[string]struct{ text, want string }{
			"references to nothing": {`companies:
  - name: New
    templates: [{sender: nobody, name: hello, language: en, category: UTILITY, body: a}]
    agents: [{name: Ann, knowledge: [nothing]}]
    widgets: [{name: Web, agent: Bob}]
`, "a.yaml:3:18: the company has no messaging sender nobody\na.yaml:4:38: knowledge names no knowledge of the company: " +
				"nothing\na.yaml:5:34: agent names no agent of the company: Bob"},
			"a line's agent that is none": {`companies:
  - name: New
    senders: [{id: line, number: "15555550288", channel: voice, provider: sip, settings: {trunk: "sip:a.test",
      agent: 3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11}}]
`, "a.yaml:3:15: the line line has calls answered by an agent that the company does not have: 3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"},
			"a name that is taken": {"companies: [{id: " + acmeID + ", name: Small}]", "a.yaml:1:13: another company has the name Small"},
			"a number that is taken": {`companies:
  - name: Small
    senders: [{id: t, number: "15555550200", channel: messaging, provider: sandbox}]
`, "a.yaml:3:15: Another sender of the company has the number of t"},
			"a key of another company": {`companies:
  - {name: One, keys: [{key: ck_shared_key}]}
  - {name: Two, keys: [{label: x}]}
`, ""},
		} {
			_, err := st.Apply(t.Context(), parse(t, c.text), keep)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				before = store.Dump(t, st)
				_, err = st.Apply(t.Context(), parse(t, "companies: [{name: Two, keys: [{key: ck_shared_key}]}]"), keep)
				c.want = "a.yaml:1:32: The access key belongs to another company"
			}
			var p config.Problems
			if !errors.As(err, &p) || p.Error() != c.want {
				t.Errorf("%s: got %v\nwant %s", name, err, c.want)
			}
			if diff := cmp.Diff(before, store.Dump(t, st)); diff != "" {
				t.Errorf("%s changed something: %s", name, diff)
			}
		}
	})
}

func TestApplyAdoptsNoAccountOfAnotherCompany(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		const theirs = `
  - name: A
    users: [{email: shared@a.test, password: theirs-password, role: owner}]
`
		const ours = `
  - name: B
    users: [{email: Shared@a.test, password: other-password, role: owner}]
`
		apply(t, st, "companies:"+theirs)
		before := store.Dump(t, st)
		_, err := st.Apply(t.Context(), parse(t, "companies:"+ours), keep)
		var p config.Problems
		if !errors.As(err, &p) || len(p) != 1 || p[0].At.Line != 3 || !strings.Contains(p[0].Text, "another company") ||
			!strings.Contains(p[0].Text, "users add") {
			t.Errorf("a set-up of the other company alone: %v", err)
		}
		if diff := cmp.Diff(before, store.Dump(t, st)); diff != "" {
			t.Errorf("it changed something: %s", diff)
		}
		mine := strings.Replace(ours, "other-password", "theirs-password", 1)
		if s := apply(t, st, "companies:"+mine+theirs); s.String() != "company 1 created, 1 unchanged; user 1 updated, 1 unchanged" {
			t.Errorf("a set-up of both: %v", s)
		}
		if s := apply(t, st, "companies:"+mine); s.Changed() {
			t.Errorf("a member already: %v", s)
		}
	})
}

func TestChannelsWordOnATemplateStands(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		id := companyNamed(t, st, "Small")
		senders, err := st.Senders.Senders(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		status := func() carillon.TemplateStatus {
			all, err := st.Templates.Templates(t.Context(), senders[0].UID)
			if err != nil {
				t.Fatal(err)
			}
			return all[0].Status
		}
		paused := strings.Replace(small, "category: UTILITY", "category: UTILITY, status: paused", 1)
		if s := apply(t, st, paused); status() != carillon.TemplatePaused || !s.Changed() {
			t.Errorf("before the channel's report: %s, %v", status(), s)
		}
		record, err := st.Templates.ReportedTemplate(t.Context(), senders[0].UID, "", "hello", "en")
		if err != nil {
			t.Fatal(err)
		}
		next := *record
		next.ProviderID, next.Status = "900", carillon.TemplateRejected
		if ok, err := st.Templates.SwapTemplate(t.Context(), record, &next, time.Now(), settings.TemplateLimits{}); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if s := apply(t, st, paused); status() != carillon.TemplateRejected || s.Changed() {
			t.Errorf("after the channel's report: %s, %v", status(), s)
		}
	})
}

func TestApplyRefusesMoreActiveTemplatesThanTheLimit(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		var text strings.Builder
		text.WriteString("companies:\n  - name: Many\n    senders: [{id: s, number: \"15555550200\", channel: messaging, provider: " +
			"sandbox}]\n    templates:\n")
		for i := range 100 {
			fmt.Fprintf(&text, "      - {sender: s, name: t%d, language: en, category: UTILITY, body: a}\n", i)
		}
		draft := "      - {sender: s, name: more, language: en, category: UTILITY, body: a, status: draft}\n"
		if s := apply(t, st, text.String()+draft); !strings.Contains(s.String(), "template 101 created") {
			t.Error(s)
		}
		_, err := st.Apply(t.Context(), parse(t, text.String()+strings.Replace(draft, "draft", "approved", 1)), keep)
		if want := "a.yaml:2:5: the company would have 101 active templates, more than 100"; fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		approveByChannel(t, st, companyNamed(t, st, "Many"), "more")
		if s := apply(t, st, text.String()+draft+strings.Replace(draft, "more", "further", 1)); !strings.Contains(s.String(),
			"template 1 created") {
			t.Errorf("another draft beside 101 active ones: %s", s)
		}
	})
}

// approveByChannel approves a template as the channel's report does, which no limit refuses.
func approveByChannel(t *testing.T, st *store.Store, companyID, name string) {
	t.Helper()
	senders, err := st.Senders.Senders(t.Context(), companyID)
	if err != nil {
		t.Fatal(err)
	}
	read, err := st.Templates.ReportedTemplate(t.Context(), senders[0].UID, "", name, "en")
	if err != nil || read == nil {
		t.Fatal(read, err)
	}
	next := *read
	next.Status, next.ProviderID = carillon.TemplateApproved, "900000001"
	if ok, err := st.Templates.SwapTemplate(t.Context(), read, &next, time.Now(), settings.TemplateLimits{}); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

func TestApplySuppressesForAllTypes(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		id := companyNamed(t, st, "Small")
		if err := st.Suppressions.Suppress(t.Context(), id, settings.SuppressMarketing, settings.OptedOut, time.Now(),
			"34600000001"); err != nil {
			t.Fatal(err)
		}
		form := `companies: [{name: Small, suppressions: ["34600000001"]}]`
		if s := apply(t, st, form); !strings.Contains(s.String(), "suppression 1 updated") {
			t.Error(s)
		}
		if x, err := st.Suppressions.Suppression(t.Context(), id, identity.Number("34600000001")); err != nil ||
			x.Type != settings.SuppressAll || x.Reason != "set up" {
			t.Errorf("%+v, %v", x, err)
		}
		if s := apply(t, st, form); s.Changed() {
			t.Error("applied twice:", s)
		}
	})
}

func TestNewDefaultSenderReplacesTheOld(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, small)
		apply(t, st, `companies: [{name: Small, senders: [{id: n, number: "15555550201", channel: messaging, provider: sandbox, `+
			`default: true}]}]`)
		all, err := st.Senders.Senders(t.Context(), companyNamed(t, st, "Small"))
		if err != nil || len(all) != 3 || all[0].Default || !all[2].Default {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestWebhookSecretsAreSealed(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		apply(t, st, example(t))
		for _, secret := range []string{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "provider-token", "ck_test_live"} {
			if strings.Contains(store.Dump(t, st), secret) {
				t.Errorf("%.6s… is stored in the clear", secret)
			}
		}
	})
}

func TestDemoApplies(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, _ *carillon.Sender) {
		p, facts, err := config.Demo(config.ProvisionOptions{Kinds: resourcetest.Kinds()})
		if err != nil {
			t.Fatal(err)
		}
		for _, changed := range []bool{true, false} {
			s, err := st.Apply(t.Context(), p, keep)
			if err != nil || s.Changed() != changed {
				t.Errorf("%v, %v", s, err)
			}
		}
		if k, err := st.Keys.AccessKey(t.Context(), facts.AccessKey); err != nil || k == nil {
			t.Errorf("the demo's key: %v, %v", k, err)
		}
	})
}

func companyNamed(t *testing.T, st *store.Store, name string) string {
	t.Helper()
	for row := range strings.SplitSeq(store.Dump(t, st), "\n") {
		rest, found := strings.CutPrefix(row, "company ")
		if !found {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(rest), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["name"] == name {
			return fields["id"].(string)
		}
	}
	t.Fatalf("no company %s", name)
	return ""
}
