package whatsapp

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func entryOf(field, value string) []byte {
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","time":1780000000,"changes":[{"field":"` + field +
		`","value":` + value + `}]}]}`)
}

func TestReportsOnTemplatesAreReadByWhatTheyHold(t *testing.T) {
	const of = `"message_template_id":7,"message_template_name":"a","message_template_language":"en-US"`
	base := provider.TemplateEvent{SenderUID: 3, ProviderID: "7", Name: "a", Language: "en_US"}
	with := func(change func(e *provider.TemplateEvent)) []provider.TemplateEvent {
		e := base
		change(&e)
		return []provider.TemplateEvent{e}
	}
	const status, category = "message_template_status_update", "template_category_update"
	for _, tc := range []struct {
		name, field, value string
		want               []provider.TemplateEvent
	}{
		{"a changed category", category, `"previous_category":"UTILITY","new_category":"MARKETING"`,
			with(func(e *provider.TemplateEvent) { e.Category = "MARKETING" })},
		{"a notice names the current category as the new one", category,
			`"new_category":"UTILITY","correct_category":"MARKETING","category_update_timestamp":1780086400`,
			with(func(e *provider.TemplateEvent) {
				e.Category, e.ComingCategory, e.ComingAt = "UTILITY", "MARKETING", 1780086400
			})},
		{"a quality under the name of another field", status, `"previous_quality_score":"GREEN","new_quality_score":"YELLOW"`,
			with(func(e *provider.TemplateEvent) { e.Quality, e.QualityAt = "YELLOW", 1780000000 })},
		{"an unknown quality", "message_template_quality_update", `"new_quality_score":"UNKNOWN"`, nil},
		{"changed parts", "message_template_components_update", `"message_template_element":"Hello"`,
			with(func(e *provider.TemplateEvent) { e.Rewritten = true })},
		{"nothing known", status, `"event":"DANCING"`, nil},
	} {
		cb, err := ParseCallback(entryOf(tc.field, "{"+of+","+tc.value+"}"), 3)
		if err != nil || cb.Ignored+len(cb.Templates) != 1 {
			t.Errorf("%s: %+v, %v", tc.name, cb, err)
		}
		if diff := cmp.Diff(tc.want, cb.Templates); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestALimitOfThePortfolioIsRead(t *testing.T) {
	for value, limit := range map[string]string{
		`{"max_daily_conversations_per_business":"TIER_2K"}`: "TIER_2K",
		`{"max_daily_conversations_per_business":2000}`:      "2000",
		`{"max_phone_numbers_per_business":25}`:              "",
	} {
		cb, err := ParseCallback(entryOf("business_capability_update", value), 3)
		want := []Notice{{WABAID: "2000001", Notice: provider.Notice{
			Event: capabilityUpdate, Limit: limit, At: time.Unix(1780000000, 0).UTC(),
		}}}
		if diff := cmp.Diff(want, cb.Notices); diff != "" || err != nil {
			t.Error(value, diff, err)
		}
	}
}

func TestTheChargeOfAMessageIsRead(t *testing.T) {
	s, _ := graph(t, graphtest.Options{})
	ref := provider.Ref{NotificationID: notificationID, N: 1, Attempt: 1}.String()
	at := time.Unix(1780000000, 0)
	cb, err := ParseCallback(s.StatusBody(
		graphtest.Status{Ref: ref, To: "34600111222", ID: "wamid.1", State: "delivered", At: at},
		graphtest.Status{Ref: ref, To: "34600111222", ID: "wamid.1", State: "failed", At: at, Code: 131026},
	), 3)
	if err != nil || len(cb.Receipts) != 2 {
		t.Fatal(cb, err)
	}
	if want := (provider.Charge{Type: "regular", Category: "utility"}); cb.Receipts[0].Charge != want || cb.Receipts[1].Charge.Type != "" {
		t.Errorf("%+v", cb.Receipts)
	}
}
