package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
)

const person = "US.13491208655302741918"

// toPeople returns a request to contacts, as JSON.
func toPeople(contacts ...string) []byte {
	return []byte(strings.Replace(string(body("")), `"contacts":[]`, `"contacts":[`+strings.Join(contacts, ",")+`]`, 1))
}

func refusedFor(t *testing.T, err error, field, reason string) {
	t.Helper()
	text := fmt.Sprint(err)
	if e, ok := err.(*carillon.Error); ok { //nolint:errorlint // returned as it is
		text = fmt.Sprint(e.Code, e.Details)
	}
	if !carillon.IsCode(err, carillon.ValidationFailed) || !strings.Contains(text, field) || !strings.Contains(text, reason) {
		t.Errorf("%s, not refused for %s: %s", text, field, reason)
	}
}

func portfolioA(*carillon.Sender) string { return "A" }

// Messages go to the number of a contact, or to its id if it has none. The number is never replaced.
func TestAPersonWithoutANumberIsReachedByTheID(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) { r.portfolio = portfolioA })
		defer r.start()()
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			as := ""
			if m.UserID == "US.shows" {
				as = "34600111999"
			}
			return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String(), Number: as}
		}
		owner := identity.Identity{Kind: identity.Person, Scope: "A", Key: identity.User("US.shows")}
		known := chats.Report{Number: "34600111888", As: "34600111889", Person: &owner}
		if err := r.store.Contacts.Learn(t.Context(), r.company.ID, []chats.Report{known}, time.Now()); err != nil {
			t.Fatal(err)
		}
		id := r.accept(toPeople(`{"user_id":"`+person+`","name":"Ana"}`, `{"number":"34600111222","user_id":"US.2","name":"Eva"}`,
			`{"number":"34600111223","user_id":"customer-7","name":"Leo"}`, `{"user_id":"US.2","name":"Eva"}`,
			`{"user_id":"US.shows","name":"Rui"}`))
		await(t, "all are sent", func() bool { return r.provider.count() == 4 && r.view(id).State == carillon.StateCompleted })
		want := map[string]string{person: "", "34600111222": "", "34600111223": "", "US.shows": ""}
		for _, m := range r.provider.all() {
			if m.Number != "" && m.UserID != "" {
				t.Errorf("sent to %s and to %s", m.Number, m.UserID)
			}
			delete(want, m.Number+m.UserID)
		}
		if len(want) > 0 {
			t.Errorf("not sent to %v", want)
		}
		v := r.view(id)
		got := ""
		for _, x := range v.Recipients {
			got += fmt.Sprintf("%s|%s %s%s,", x.Number, x.UserID, x.State, x.Reason)
		}
		if got != "|"+person+" sent,34600111222| sent,34600111223| sent,|US.2 skippedduplicate,|US.shows sent," {
			t.Error(got)
		}
		page, err := notify.Sent{Store: r.store}.One(t.Context(), r.company.ID, id)
		if err != nil || page.UserID != person || page.Number != "" || page.Row.Name != "Ana" {
			t.Errorf("%+v, %v", page, err)
		}
		for _, key := range []identity.Key{identity.User(person), identity.Number("34600111222")} {
			found, _, err := r.store.Notifications.List(t.Context(), r.company.ID, messages.Filter{
				Lines: []identity.Key{key}, Limit: 5,
			}, time.Now())
			if err != nil || len(found) != 1 {
				t.Errorf("%d notifications to %s, %v", len(found), key, err)
			}
		}
		hit, err := notify.Sent{Store: r.store}.LookUp(t.Context(), r.company.ID, " "+person+" ")
		if err != nil || hit.Kind != "number" || hit.UserID != person {
			t.Errorf("%+v, %v", hit, err)
		}
		// The response to a send names the number of an id: both are one person from now on.
		lines, err := r.store.Contacts.LinesOf(t.Context(), r.company.ID, []identity.Identity{owner})
		if err != nil || !identity.Has(lines, "US.shows") || !identity.Has(lines, "34600111888") {
			t.Errorf("%v, %v", lines, err)
		}
	})
}

func TestWhatAPersonWithoutANumberCannotGetIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) { r.portfolio, r.template.Category = portfolioA, "AUTHENTICATION" })
		defer r.start()()
		_, err := r.submit(t.Context(), toPeople(`{"number":"34600111222","name":"Eva"}`, `{"user_id":"`+person+`","name":"Ana"}`))
		refusedFor(t, err, "contacts.1.number", "AUTHENTICATION")
		for _, at := range []string{"", "US", "us.1", "US.ENT.", "US.a-b"} {
			_, err := r.submit(t.Context(), toPeople(`{"user_id":"`+at+`","name":"Ana"}`))
			field := "contacts.0.user_id"
			if at == "" {
				field = "contacts.0.number"
			}
			refusedFor(t, err, field, "")
		}
		_, err = r.submit(t.Context(), toPeople(`{"number":"+34","user_id":"`+person+`","name":"Ana"}`))
		refusedFor(t, err, "contacts.0.number", "Numbers only")
		_, err = r.notify.AcceptBody(t.Context(), &notify.Submission{Company: r.company, Route: "call"}, carillon.Voice,
			[]byte(`{"contact":{"user_id":"`+person+`"},"recipient_id":"line","agent_id":"a","notification_type":"transactional",`+
				`"campaign_name":"c"}`), false)
		refusedFor(t, err, "contact.user_id", "needs contact.number")

		elsewhere := identity.Identity{Kind: identity.Person, Scope: "B", Key: identity.User("US.B")}
		if err := r.store.Contacts.Learn(t.Context(), r.company.ID,
			[]chats.Report{{Number: "34600111888", As: "34600111889", Person: &elsewhere}}, time.Now()); err != nil {
			t.Fatal(err)
		}
		_, err = r.submit(t.Context(), toPeople(`{"user_id":"`+person+`","name":"Ana"}`, `{"user_id":"US.B","name":"Leo"}`))
		refusedFor(t, err, "contacts.1.user_id", "another business account")
		if r.provider.count() > 0 {
			t.Error("a refused message was sent")
		}
	})
}

// An opt-out of the id next to a number counts too, on acceptance and before the send.
func TestOptOutsByIDAreObeyed(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) { r.company.Suppresses = true })
		defer r.start()()
		stop := func(id string) {
			if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "stop", time.Now(), id); err != nil {
				t.Fatal(err)
			}
		}
		stop(person)
		id := r.accept(toPeople(`{"user_id":"`+person+`","name":"Ana"}`,
			`{"number":"34600111222","user_id":"`+person+`","name":"Ana"}`, `{"user_id":"US.2","name":"Eva"}`))
		await(t, "it is completed", func() bool { return r.view(id).State == carillon.StateCompleted })
		for i, x := range r.view(id).Recipients {
			if suppressed := x.Reason == carillon.ReasonSuppressed || x.Reason == carillon.ReasonDuplicate; suppressed != (i < 2) {
				t.Errorf("recipient %d: %s", i, x.Reason)
			}
		}
		rui := string(toPeople(`{"number":"34600111333","user_id":"US.3","name":"Rui"}`))
		later := r.accept([]byte(strings.Replace(rui, `"campaign_name"`, `"datetime_sending":"2098-01-01T10:00:00","campaign_name"`, 1)))
		stop("US.3")
		if _, err := r.notify.Move(t.Context(), r.company.ID, later, time.Now()); err != nil {
			t.Fatal(err)
		}
		await(t, "it is completed", func() bool { return r.view(later).State == carillon.StateCompleted })
		if x := r.view(later).Recipients[0]; x.Reason != carillon.ReasonSuppressed {
			t.Errorf("after a later opt-out: %+v", x)
		}
	})
}
