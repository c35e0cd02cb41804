package webhooks_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/edge/webhooks"
	"carillon/internal/event/hook"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
)

const company = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"

// rig is a store with a company, and the table of routes for it.
type rig struct {
	t     *testing.T
	store *store.Store
	table []webhooks.Action
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: "Acme"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	out := egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AnyPort: true})
	d := hook.NewDeliverer(s, hook.Options{Client: out, Log: slog.New(slog.DiscardHandler)})
	return &rig{t, s, webhooks.Table(s, d, nil)}
}

// endpoint stores a webhook without checking its address.
func (r *rig) endpoint(w hook.Webhook) events.EndpointKey {
	r.t.Helper()
	if err := w.Validate(); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.store.Resources.PutResource(r.t.Context(), company, hook.Kind(), &w); err != nil {
		r.t.Fatal(err)
	}
	return events.EndpointKey{CompanyID: company, WebhookID: w.ID}
}

// happen stores an event.
func (r *rig) happen(subject, kind string) {
	r.t.Helper()
	e := &events.Event{
		CompanyID: company, Topic: events.TopicOf(kind), Kind: kind, Subject: subject, At: time.Now(), Payload: json.RawMessage(`{"v":1}`),
	}
	if err := r.store.Events.AddEvents(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
}
