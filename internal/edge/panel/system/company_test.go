package system_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
)

// setTo sends back a company's settings with changes.
func setTo(w *paneltest.World, by string, now map[string]any, change map[string]any, status int, code, field string) map[string]any {
	w.T.Helper()
	next := maps.Clone(now)
	delete(next, "id")
	delete(next, "limits_writable")
	maps.Copy(next, change)
	body, err := json.Marshal(next)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Want("PUT", "/panel/v1/company", by, string(body), status, code, field)
}

func TestACompanyChangesItsSettings(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by, viewer := w.As("admin@acme.test"), w.As("viewer@acme.test")
	first := w.Want("GET", "/panel/v1/company", viewer, "", 200, "", "")
	if first["id"] != acme.ID || first["calling_hours"] != nil || first["limits_writable"] != false || first["version"] == "" {
		t.Error(first)
	}
	hours := map[string]any{"timezone": "Europe/Madrid", "from": "09:00", "to": "21:00", "days": []string{"mon", "fri"}}
	redial := map[string]any{"outcomes": []string{"busy"}, "attempts": 3, "after": "20m"}
	change := map[string]any{
		"name": "Acme Clinic", "calling_hours": hours, "redial": redial, "retention_days": 30, "strict_recipient_id": true,
	}
	got := setTo(w, by, first, change, 200, "", "")
	again := w.Want("GET", "/panel/v1/company", by, "", 200, "", "")
	if d := cmp.Diff(got, again); d != "" {
		t.Error(d)
	}
	c, err := w.Store.Accounts.Company(t.Context(), acme.ID)
	if err != nil || c.Name != "Acme Clinic" || !c.StrictRecipientID || c.RetentionDays != 30 || c.CallingHours.From != "09:00" ||
		len(c.CallingHours.Days) != 2 ||
		c.Redial.Attempts != 3 || c.Redial.After.Minutes() != 20 || len(c.Redial.Outcomes) != 1 {
		t.Errorf("%+v, %v", c, err)
	}

	// A change based on an outdated version is refused.
	if got := setTo(w, by, first, change, 409, "conflict", ""); got["details"].(map[string]any)["reason"] != "changed_meanwhile" {
		t.Error(got)
	}
	// Null removes the calling hours. Omitted settings stay.
	open := w.Want(
		"PUT", "/panel/v1/company", by, `{"name":"Acme Clinic","calling_hours":null,"version":"`+again["version"].(string)+`"}`, 200,
		"", "",
	)
	if open["calling_hours"] != nil || open["retention_days"] != 30.0 {
		t.Error(open)
	}
}

func TestSettingsOfACompanyAreChecked(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, other := w.As("owner@acme.test"), w.As("owner@other.test")
	now := w.Want("GET", "/panel/v1/company", owner, "", 200, "", "")
	for field, change := range map[string]map[string]any{
		"name":                   {"name": ""},
		"calling_hours.timezone": {"calling_hours": map[string]any{"timezone": "Mars/Olympus"}},
		"calling_hours.from":     {"calling_hours": map[string]any{"from": "25:00"}},
		"calling_hours.days.0":   {"calling_hours": map[string]any{"days": []string{"someday"}}},
		"redial.attempts":        {"redial": map[string]any{"attempts": 11}},
		"redial.after":           {"redial": map[string]any{"after": "1s"}},
		"redial.outcomes.0":      {"redial": map[string]any{"outcomes": []string{"answered"}}},
		"retention_days":         {"retention_days": -1},
		"limits.daily_bytes":     {"limits": map[string]any{"daily_bytes": "many"}},
		"status":                 {"status": "active"},
		"version":                {"version": nil},
	} {
		setTo(w, owner, now, change, 400, "validation_failed", field)
	}
	setTo(w, owner, now, map[string]any{"name": "other"}, 409, "conflict", "")
	setTo(w, w.As("developer@acme.test"), now, nil, 403, "forbidden", "")

	// Only the operator, an owner of the first company, may change limits.
	more := map[string]any{"limits": map[string]any{"sends_per_minute": 7}}
	setTo(w, w.As("admin@acme.test"), now, more, 403, "forbidden", "")
	setTo(w, other, w.Want("GET", "/panel/v1/company", other, "", 200, "", ""), more, 403, "forbidden", "")
	if now["limits_writable"] != true {
		t.Error(now)
	}
	got := setTo(w, owner, now, more, 200, "", "")
	var limits carillon.Limits
	text, _ := json.Marshal(got["limits"])
	if err := json.Unmarshal(text, &limits); err != nil || limits.SendsPerMinute != 7 {
		t.Error(got, err)
	}
}
