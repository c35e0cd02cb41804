package request

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

func messagingDraft() *Draft {
	return &Draft{
		Channel: carillon.Messaging, Contact: map[string]string{"number": "34600111222", "name": "Ana", "city": "Vigo"}, Sender: "main",
		Template: "order_update", Language: "es_ES", Type: "utility", Campaign: "autumn",
		Components: map[string]string{
			"header_text_0": "A-1", "body_text_0": "{{name}}", "body_text_1": "{{ campaign_name }}", "body_text_2": "<lunes>",
			"button_url_0": "k8",
		},
	}
}

func TestADraftIsTheRequestThatItsBodyIs(t *testing.T) {
	for name, change := range map[string]func(d *Draft){
		"one contact":  func(*Draft) {},
		"contacts":     func(d *Draft) { d.Contacts, d.Contact = []map[string]string{d.Contact, {"number": "34600111223"}}, nil },
		"an event":     func(d *Draft) { d.Event = "shipped" },
		"a time":       func(d *Draft) { d.At, d.Timezone = "2027-03-28T02:30:00", "Europe/Madrid" },
		"a call":       func(d *Draft) { d.Channel, d.AgentID, d.Type, d.Components = carillon.Voice, "agent", "marketing", nil },
		"no number":    func(d *Draft) { delete(d.Contact, "number") },
		"a bad number": func(d *Draft) { d.Contact["number"] = "+34" },
		"no contacts":  func(d *Draft) { d.Contacts, d.Contact = []map[string]string{}, nil },
		"a bad one":    func(d *Draft) { d.Contacts, d.Contact = []map[string]string{d.Contact, {"number": "1"}}, nil },
		"a long field": func(d *Draft) { d.Contact["city"] = strings.Repeat("ñ", 4097) },
		"no template":  func(d *Draft) { d.Template = "" },
		"no campaign":  func(d *Draft) { d.Campaign = " " },
		"a long label": func(d *Draft) { d.Sender = strings.Repeat("9", 256) },
		"another type": func(d *Draft) { d.Type = "spam" },
		"a past time":  func(d *Draft) { d.At = "2001-01-01T00:00:00" },
		"an odd zone":  func(d *Draft) { d.Timezone = "Mars" },
		"a bad key":    func(d *Draft) { d.Components["body_text"] = "x" },
		"a bad value":  func(d *Draft) { d.Components["body_text_0"] = "Hi {{name}}" },
		"two headers":  func(d *Draft) { d.Components["header_text"] = "x" },
		"a NUL":        func(d *Draft) { d.Contact["city"] = "a\x00b" },
		"bad UTF-8":    func(d *Draft) { d.Contact["city"] = "a\xffb" },
	} {
		d := messagingDraft()
		change(d)
		made, err := New(d, testNow)
		body := string(marshal(t, d))
		if len(d.Contacts) == 0 && d.Contacts != nil { // only New knows that it is a list
			body = strings.Replace(body, `"language`, `"contacts":[],"language`, 1)
		}
		read, wanted := Parse(d.Channel, []byte(body), false, testNow)
		if err != nil || wanted != nil {
			if err == nil || wanted == nil {
				t.Errorf("%s: the draft: %v, its body: %v", name, err, wanted)
				continue
			}
			gotMessage, gotDetails := shownTo(t, err)
			message, details := shownTo(t, wanted)
			if gotMessage != message || gotDetails != details {
				t.Errorf("%s: %s %s, want %s %s", name, gotMessage, gotDetails, message, details)
			}
			continue
		}
		if d := cmp.Diff(facts(t, read), facts(t, made)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(filled(t, read), filled(t, made)); made.Channel == carillon.Messaging && d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if made.Source() != body {
			t.Errorf("%s is stored as %s, want %s", name, made.Source(), body)
		}
	}
}

func TestADraftIsStoredWithItsKeysInOrder(t *testing.T) {
	d := messagingDraft()
	d.Event, d.At, d.Timezone = "shipped", "2027-03-28T02:30:00", "Europe/Madrid"
	r, err := New(d, testNow)
	if err != nil {
		t.Fatal(err)
	}
	want := string(marshal(t, object{
		"contact": d.Contact, "recipient_id": "main", "name_template": "order_update", "language_template": "es_ES",
		"notification_type": "utility", "campaign_name": "autumn", "components_push": d.Components, "name_event": "shipped",
		"datetime_sending": d.At, "timezone": d.Timezone,
	}))
	if d := cmp.Diff(want, r.Source()); d != "" {
		t.Error(d)
	}
}

func TestAgainIsTheRequestForSomeAtOnce(t *testing.T) {
	body := with(bulk(
		object{"number": "34600111222", "n": 1.50}, object{"number": "34600111223", "n": 2}, object{"number": "34600111224", "n": 3},
	), object{"datetime_sending": "2027-03-28T02:30:00", "timezone": "Europe/Madrid"})
	r, err := parsed(t, body).Again([]int{0, 2, 7})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse(carillon.Messaging, []byte(r.Source()), false, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(facts(t, want), facts(t, r)); d != "" {
		t.Error(d)
	}
	if len(r.Contacts) != 2 || r.Contacts[1].Number != "34600111224" || r.Scheduled || !r.Bulk ||
		!strings.Contains(r.Source(), `{"n":1.5,`) {
		t.Errorf("got %+v", r)
	}
	for _, key := range []string{"datetime_sending", "timezone"} {
		if text, there := r.Shared(key); there || strings.Contains(r.Source(), key) {
			t.Errorf("%s is still %q", key, text)
		}
	}
}
