package channels_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

func TestSendersTellTheirBreakersToTheirCompanyAlone(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	sender := func(company, id, number string) *carillon.Sender {
		return &carillon.Sender{
			CompanyID: company, ID: id, Number: number, Channel: carillon.Messaging, Provider: "sandbox", MediaCheck: "syntax",
			Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{"secret":"not-to-be-shown"}`),
		}
	}
	well, ill, late, foreign := sender(acme.ID, "well", "15555550100"), sender(acme.ID, "ill", "15555550101"),
		sender(acme.ID, "late", "15555550102"), sender(other.ID, "main", "15555550103")
	err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		var all []error
		for _, s := range []*carillon.Sender{well, ill, late, foreign} {
			all = append(all, settings.PutSender(ctx, tx, s, time.Now()))
		}
		return errors.Join(all...)
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for s, until := range map[*carillon.Sender]time.Time{
		ill: now.Add(time.Hour), late: now.Add(-time.Minute), foreign: now.Add(time.Hour),
	} {
		b := work.Breaker{
			SenderUID: s.UID, CompanyID: s.CompanyID, State: work.BreakerOpen, Fault: provider.FaultAccount,
			Detail: "190 access token expired",
			Since:  now.Add(-time.Hour), Until: until,
		}
		if err := w.Store.Breakers.Keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	got := w.Want("GET", "/panel/v1/senders", w.As("owner@acme.test"), "", 200, "", "")
	rows, _ := got["data"].([]any)
	states := map[string]any{}
	for _, row := range rows {
		x := row.(map[string]any)
		b := x["breaker"].(map[string]any)
		states[x["id"].(string)] = b["state"]
		if closed := b["state"] == "closed"; closed != (b["class"] == nil) || closed != (b["until"] == nil) ||
			closed != (b["since"] == nil) {
			t.Errorf("%v", x)
		}
	}
	if len(rows) != 3 || states["well"] != "closed" || states["ill"] != "open" || states["late"] != "half_open" {
		t.Errorf("the senders are shown as %v", rows)
	}
	w.Want("GET", "/panel/v1/senders", w.As("viewer@acme.test"), "", 200, "", "")
}
