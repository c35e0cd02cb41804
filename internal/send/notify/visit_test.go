package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/link"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/people"
	"carillon/internal/store/settings"
)

const linkPrefix = "https://ops.test/l/"

func codecOf(t *testing.T, s *store.Store) *link.Codec {
	t.Helper()
	c, err := link.New(linkKeyOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func codecsOf(t *testing.T, s *store.Store) *link.Codecs {
	t.Helper()
	c, err := link.NewCodecs(s.Config, linkKeyOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func linkKeyOf(t *testing.T, s *store.Store) []byte {
	t.Helper()
	key, err := s.Sealer.Derive(configure.CountedLinks)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// counted gives the rig's template a button with a counted link.
func counted(r *rig) {
	r.template.Components = append(r.template.Components, carillon.Component{
		Type: content.TypeButtons, Buttons: []carillon.Button{{Type: content.ButtonURL, Text: "Track", URL: linkPrefix + "{{1}}"}},
	})
}

// linked returns a request whose recipients have their own destinations, with further members in extra.
func linked(extra string, numbers ...string) []byte {
	b := string(body(extra, numbers...))
	for _, n := range numbers {
		b = strings.Replace(b, fmt.Sprintf(`{"number":%q,`, n), fmt.Sprintf(`{"number":%q,"order":"https://acme.test/o/%s?a=b",`, n, n), 1)
	}
	return []byte(strings.Replace(b, `{"body_text_0":"{{name}}"}`, `{"body_text_0":"{{name}}","button_url_0":"{{order}}"}`, 1))
}

// tokens waits until messages were sent, and returns the tokens of their links by number. Nothing else of the links is
// in the values of the buttons.
func (r *rig) tokens(n int) map[string]string {
	r.t.Helper()
	await(r.t, "they are sent", func() bool { return r.provider.count() == n })
	all := map[string]string{}
	for _, s := range r.provider.all() {
		b := s.Content.Buttons[0]
		if b.Kind != "url" || len(b.Value) != link.Length || url.PathEscape(b.Value) != b.Value {
			r.t.Errorf("the channel gets %+v", b)
		}
		all[s.Number] = b.Value
	}
	return all
}

// visit follows a link and counts.
func (r *rig) visit(token string) {
	r.t.Helper()
	v, err := r.notify.Visited(r.t.Context(), token)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.notify.Count(r.t.Context(), v, time.Now()); err != nil {
		r.t.Fatal(err)
	}
}

// clicked returns the number of clicks of each recipient; -1 if they are not shown.
func (r *rig) clicked(id string) []int {
	r.t.Helper()
	var all []int
	for _, x := range r.view(id).Recipients {
		n := -1
		if x.Clicks != nil {
			n = *x.Clicks
		}
		if (n > 0) != (x.ClickedAt != "") {
			r.t.Errorf("%d clicks at %q", n, x.ClickedAt)
		}
		all = append(all, n)
	}
	return all
}

// gone fails unless a token leads nowhere.
func (r *rig) gone(why, token string) {
	r.t.Helper()
	if v, err := r.notify.Visited(r.t.Context(), token); !carillon.IsCode(err, carillon.NotFound) {
		r.t.Errorf("%s: %+v, %v", why, v, err)
	}
}

func (r *rig) change(change func(ctx context.Context, tx *configure.Tx) error) {
	r.t.Helper()
	if err := r.store.Config.Change(r.t.Context(), change); err != nil {
		r.t.Fatal(err)
	}
}

func TestEachRecipientHasALinkThatLeadsWhereTheRequestSays(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		const ana, luis = "34600111222", "34600111333"
		id := r.accept(linked("", ana, luis))
		tokens := r.tokens(2)
		if tokens[ana] == tokens[luis] {
			t.Error("both have the same token")
		}
		if diff := cmp.Diff([]int{0, 0}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
		for number, token := range tokens {
			if v, err := r.notify.Visited(t.Context(), token); err != nil || v.Destination != "https://acme.test/o/"+number+"?a=b" ||
				v.CompanyID != r.company.ID {
				t.Errorf("%s: %+v, %v", number, v, err)
			}
		}
		r.visit(tokens[luis])
		r.visit(tokens[luis])
		if diff := cmp.Diff([]int{0, 2}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
		filled, err := notify.Sent{Store: r.store}.Filled(t.Context(), r.company.ID, id, 0)
		if err != nil || filled.Values["button_url_0"] != "https://acme.test/o/"+ana+"?a=b" {
			t.Error(filled, err)
		}
		// the template is changed and deleted; what was sent leads on
		r.change(func(ctx context.Context, tx *configure.Tx) error {
			changed := *r.template
			changed.Components = changed.Components[:1]
			return settings.PutTemplate(ctx, tx, &changed, time.Now())
		})
		r.visit(tokens[ana])
		if diff := cmp.Diff([]int{1, 2}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// The links of a company lead to their destinations after it got a key, and after it moved from another installation.
func TestLinksStayValidWhenTheCompanyGetsAKeyAndMoves(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		forget := func() {
			r.change(func(ctx context.Context, tx *configure.Tx) error {
				tx.Changes(r.company.ID)
				_, err := tx.Exec(ctx, "DELETE FROM company_key WHERE company_id = $1", r.company.ID)
				return errors.Join(err, settings.PutSender(ctx, tx, r.sender, time.Now()))
			})
		}
		forget()
		const number, second = "34600111222", "34600111223"
		id := r.accept(linked("", number))
		token := r.tokens(1)[number]
		r.visit(token)
		r.change(func(ctx context.Context, tx *configure.Tx) error {
			return store.Reseal(ctx, tx, r.company.ID, time.Now())
		})
		r.visit(token)
		r.accept(linked("", second))
		r.visit(r.tokens(2)[second])

		elsewhere := bytes.Repeat([]byte{7}, 32) // the link key of the installation where the company was created
		plain, err := json.Marshal(map[string]any{
			"secret": bytes.Repeat([]byte{8}, 32), "former": map[string][]byte{configure.CountedLinks: elsewhere},
		})
		if err != nil {
			t.Fatal(err)
		}
		forget()
		r.change(func(ctx context.Context, tx *configure.Tx) error {
			return configure.ImportKey(ctx, tx, r.company.ID, plain, time.Now())
		})
		codec, err := link.New(elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		r.visit(codec.Token(link.Button{Message: carillon.SeqOf(id).Message(0), Card: -1}))
		r.gone("by the key of another company", token)
		const third = "34600111224"
		r.accept(linked("", third))
		now := r.tokens(3)[third]
		if _, ok := codec.Read(now); !ok {
			t.Error("a new link has another key than the old ones")
		}
		r.visit(now)
	})
}

func TestLinksOfNothingLeadNowhere(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		const number = "34600111222"
		id := r.accept(linked("", number))
		token := r.tokens(1)[number]
		codec, key := codecOf(t, r.store), carillon.SeqOf(id).Message(0)
		if want := codec.Token(link.Button{Message: key, Card: -1, Index: 0}); token != want {
			t.Errorf("%s, want %s", token, want)
		}
		for why, b := range map[string]link.Button{
			"another button":       {Message: key, Card: -1, Index: 1},
			"a card":               {Message: key, Card: 0, Index: 0},
			"another recipient":    {Message: key + 1, Card: -1, Index: 0},
			"another notification": {Message: key + 1<<20, Card: -1, Index: 0},
		} {
			r.gone(why, codec.Token(b))
		}
		r.gone("no token", "example")
		r.gone("a forged token", strings.ToUpper(token))
		suspend := func(is bool) {
			r.company.Suspended = is
			r.change(func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutCompany(ctx, tx, r.company, time.Now())
			})
		}
		suspend(true)
		r.gone("of a suspended company", token)
		suspend(false)
		r.visit(token)
		await(t, "it is closed", func() bool {
			n, err := r.store.Notifications.Find(t.Context(), r.company.ID, id)
			return err == nil && !n.DoneAt.IsZero()
		})
		await(t, "it is purged", func() bool {
			p, err := r.store.Purges.Purge(t.Context(), r.company.ID, time.Time{}, time.Now().Add(time.Hour), 100)
			if err != nil {
				t.Fatal(err)
			}
			return p.Notifications == 1
		})
		r.gone("purged", token)
	})
}

func TestPeopleWhoOptedOutAreNotCountedButRedirected(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		const ana, luis, eva = "34600111222", "34600111333", "34600111444"
		id := r.accept(linked("", ana, luis, eva))
		tokens := r.tokens(3)
		for number, kind := range map[string]settings.SuppressionType{ana: settings.SuppressMarketing, luis: settings.SuppressAll} {
			if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, kind, settings.OptedOut, time.Now(), number); err != nil {
				t.Fatal(err)
			}
		}
		for _, token := range tokens {
			r.visit(token)
		}
		if diff := cmp.Diff([]int{0, 0, 1}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// The clicks of a person end with the person; what others did stays.
func TestNothingIsCountedForAnErasedPerson(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		const ana, luis = "34600111222", "34600111333"
		id := r.accept(linked("", ana, luis))
		tokens := r.tokens(2)
		r.visit(tokens[ana])
		r.visit(tokens[luis])
		same := r.accept([]byte(strings.Replace(string(linked("", ana, luis)), `"{{order}}"`, `"https://acme.test/news"`, 1)))
		await(t, "both are closed", func() bool {
			for _, id := range []string{id, same} {
				if n, err := r.store.Notifications.Find(t.Context(), r.company.ID, id); err != nil || n.DoneAt.IsZero() {
					return false
				}
			}
			return true
		})
		p, err := r.store.Person(t.Context(), r.company.ID, people.Query{Number: ana})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.store.Erase(t.Context(), p, time.Now()); err != nil {
			t.Fatal(err)
		}
		r.gone("of an erased person", tokens[ana])
		for n := range 2 { // the address that is the same for all is nobody's
			r.visit(codecOf(t, r.store).Token(link.Button{Message: carillon.SeqOf(same).Message(n), Card: -1}))
		}
		for _, id := range []string{id, same} {
			if diff := cmp.Diff([]int{0, 1}, r.clicked(id)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// Clicks of one message on several nodes: each is counted, up to a bound, and exactly one is the first.
func TestTheFirstClickHasOneEvent(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		if err := r.store.Events.FollowPull(t.Context(), r.company.ID, eventtable.Notifications); err != nil {
			t.Fatal(err)
		}
		const number = "34600111222"
		id := r.accept(linked("", number))
		token := r.tokens(1)[number]
		await(t, "its state is stored", func() bool { return r.view(id).Recipients[0].State == carillon.StateSent })
		stores := []*store.Store{r.store}
		if o.DatabaseURL != "" {
			other, err := store.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = other.Close() })
			stores = append(stores, other)
		}
		key := carillon.SeqOf(id).Message(0)
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				if err := stores[i%len(stores)].Stats.Clicked(t.Context(), r.company.ID, key, time.Now(), true); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if diff := cmp.Diff([]int{24}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
		for range 80 {
			r.visit(token)
		}
		if diff := cmp.Diff([]int{100}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
		found, err := r.store.Events.EventsAfter(t.Context(), r.company.ID, eventtable.Notifications, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for _, e := range found {
			if e.Kind == "message.clicked" {
				first++
				for _, part := range []string{id, number, `"state":"sent"`, `"sender_id":"main"`, `"campaign":"c"`} {
					if !strings.Contains(string(e.Payload), part) {
						t.Errorf("%s lacks %s", e.Payload, part)
					}
				}
				if strings.Contains(string(e.Payload), token) || strings.Contains(string(e.Payload), "acme.test") {
					t.Errorf("the event has the link: %s", e.Payload)
				}
			}
		}
		if first != 1 {
			t.Errorf("%d events", first)
		}
		c, err := r.store.Stats.Campaign(t.Context(), r.company.ID, "c")
		if err != nil || c == nil || c.Clicked != 1 {
			t.Error(c, err)
		}
	})
}

// A request with a wrong destination is refused; one that is moved and sent again leads where it said.
func TestDestinationsAreCheckedOnAcceptance(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		defer r.start()()
		const number = "34600111222"
		wrong := []byte(strings.Replace(string(linked("", number)), "https://acme", "http://acme", 1))
		_, err := r.submit(t.Context(), wrong)
		want := `{"field":"components_push.button_url_0","reason":"` + content.DestinationReason + `, for contacts.0",` +
			`"provided":"http://acme.test/o/34600111222?a=b"}`
		var e *carillon.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(e.Details); string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		later := time.Now().Add(time.Hour).UTC()
		id := r.accept(linked(`,"datetime_sending":"`+later.Format("2006-01-02T15:04:05")+`"`, number))
		if _, err := r.notify.Move(t.Context(), r.company.ID, id, time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		token := r.tokens(1)[number]
		r.visit(token)
		if diff := cmp.Diff([]int{1}, r.clicked(id)); diff != "" {
			t.Error(diff)
		}
	})
}

// A message that failed and is sent again has another link to the same address.
func TestAResentMessageHasItsOwnLink(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o store.Options) {
		t.Parallel()
		r := newRig(t, o, counted)
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			if r.provider.count() == 1 {
				return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable}
			}
			return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
		}
		defer r.start()()
		const number = "34600111222"
		id := r.accept(linked("", number))
		first := r.tokens(1)[number]
		await(t, "it failed", func() bool { return r.view(id).Recipients[0].State == carillon.StateFailed })
		s, _, err := notify.Sent{Store: r.store}.Resend(t.Context(), r.company.ID, id, notify.Again{Recipients: []int{0}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s.Company = r.company
		again, err := r.notify.Accept(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		second := r.tokens(2)[number]
		if second == first {
			t.Error("both have the same token")
		}
		if v, err := r.notify.Visited(t.Context(), second); err != nil || v.Destination != "https://acme.test/o/"+number+"?a=b" {
			t.Error(v, err)
		}
		r.visit(second)
		if got := []int{r.clicked(id)[0], r.clicked(again.ID)[0]}; got[0] != 0 || got[1] != 1 {
			t.Error(got)
		}
	})
}
