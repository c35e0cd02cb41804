package request

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 500e6, time.UTC)

// object is a JSON body. The value dropped{} removes a key of the base body.
type object = map[string]any

type dropped struct{}

func messagingBase() object {
	return object{
		"contact":           object{"number": "34600111222", "name": "Ana", "city": "Vigo", "points": 12.50, "vip": true},
		"language_template": "es_ES", "name_template": "order_update", "recipient_id": "main",
		"notification_type": "utility", "campaign_name": "autumn",
		"components_push": object{"body_text_0": "{{name}}", "body_text_1": "A-1"},
	}
}

func voiceBase() object {
	return object{
		"contact": object{"number": "34600111222", "first_name": "Ana"}, "recipient_id": "line",
		"agent_id": "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11", "notification_type": "marketing", "campaign_name": "autumn",
	}
}

// with applies changes to a body. Objects are merged.
func with(base, changes object) object {
	out := maps.Clone(base)
	for k, v := range changes {
		inner, merge := v.(object)
		old, isObject := out[k].(object)
		switch {
		case v == dropped{}:
			delete(out, k)
		case merge && isObject:
			out[k] = with(old, inner)
		default:
			out[k] = v
		}
	}
	return out
}

// flatten returns the flat form of a nested body.
func flatten(nested object) object {
	out := object{}
	for k, v := range nested {
		inner, ok := v.(object)
		if !ok {
			out[k] = v
			continue
		}
		for name, value := range flatten(inner) {
			out[k+"."+name] = value
		}
	}
	return out
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asError returns the *carillon.Error in err, or ends the test.
func asError(t testing.TB, err error) *carillon.Error {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e
}

// shownTo returns an error's message and details as a caller sees them.
func shownTo(t testing.TB, err error) (message, details string) {
	t.Helper()
	e := asError(t, err)
	return e.Message, string(marshal(t, e.Details))
}

const (
	missingForm = "Required field missing"
	formatForm  = "Invalid parameter format"
	phoneForm   = "Invalid phone number format"
	pastForm    = "Scheduled time must be in the future"
	otherForm   = "Invalid value"
)

type refusal struct {
	name    string
	changes object
	form    string // expected message
	field   string
	holds   string // expected part of the details
}

var sharedRefusals = []refusal{
	{"no number", object{"contact": object{"number": dropped{}}}, missingForm, "contact.number", `"reason":"This field is required"`},
	{"null number", object{"contact": object{"number": nil}}, missingForm, "contact.number", ""},
	{"blank number", object{"contact": object{"number": "  "}}, missingForm, "contact.number", ""},
	{"a number that is a number", object{"contact": object{"number": 34600111222}}, formatForm, "contact.number", `"provided":34600111222`},
	{
		"plus",
		object{"contact": object{"number": "+34600111222"}},
		phoneForm, "contact.number",
		`"provided":"+34600111222","expected_format":"Numbers only, no + or spaces","example":`,
	},
	{"spaces", object{"contact": object{"number": "34 600 111 222"}}, phoneForm, "contact.number", ""},
	{"six digits", object{"contact": object{"number": "123456"}}, phoneForm, "contact.number", ""},
	{"sixteen digits", object{"contact": object{"number": "1234567890123456"}}, phoneForm, "contact.number", ""},
	{"Arabic digits", object{"contact": object{"number": "٣٤٦٠٠١١١٢٢٢"}}, phoneForm, "contact.number", ""},
	{"name that is no string", object{"contact": object{"name": 1}}, formatForm, "contact.name", `"provided":1`},
	{"e-mail that is no string", object{"contact": object{"email": true}}, formatForm, "contact.email", ""},
	{"first name that is no string", object{"contact": object{"first_name": false}}, formatForm, "contact.first_name", ""},
	{"last name that is no string", object{"contact": object{"last_name": 7}}, formatForm, "contact.last_name", ""},
	{"array in a contact", object{"contact": object{"tags": []int{1}}}, otherForm, "contact.tags", ""},
	{"no recipient_id", object{"recipient_id": dropped{}}, missingForm, "recipient_id", ""},
	{
		"recipient_id of a wrong type",
		object{"recipient_id": 5},
		formatForm, "recipient_id",
		`"provided":5,"expected_format":"string","example":"text"`,
	},
	{"no notification_type", object{"notification_type": dropped{}}, missingForm, "notification_type", ""},
	{"unlisted notification_type", object{"notification_type": "spam"}, otherForm, "notification_type", "marketing, transactional"},
	{"notification_type in capitals", object{"notification_type": "MARKETING"}, otherForm, "notification_type", `"provided":"MARKETING"`},
	{"blank campaign_name", object{"campaign_name": " \t"}, missingForm, "campaign_name", ""},
	{"campaign_name null", object{"campaign_name": nil}, missingForm, "campaign_name", ""},
	{"long name_event", object{"name_event": strings.Repeat("ñ", 256)}, otherForm, "name_event", ""},
	{
		"long recipient_id",
		object{"recipient_id": strings.Repeat("9", 900_000)},
		otherForm, "recipient_id",
		`"provided":"` + strings.Repeat("9", 99) + `…"`,
	},
	{"long campaign_name", object{"campaign_name": strings.Repeat("ñ", 256)}, otherForm, "campaign_name", ""},
	{"long custom value", object{"coupon": strings.Repeat("ñ", 4097)}, otherForm, "coupon", ""},
	{"long custom value of a contact", object{"contact": object{"order": strings.Repeat("ñ", 4097)}}, otherForm, "contact.order", ""},
	{"name_event of a wrong type", object{"name_event": 1}, formatForm, "name_event", ""},
	{"date of a wrong type", object{"datetime_sending": 20301231}, formatForm, "datetime_sending", ""},
	{"empty date", object{"datetime_sending": ""}, formatForm, "datetime_sending", `"expected_format":"ISO 8601 (YYYY-MM-DDTHH:MM:SS)"`},
	{"13th month", object{"datetime_sending": "2030-13-01T09:00:00"}, formatForm, "datetime_sending", `"provided":"2030-13-01T09:00:00"`},
	{
		"past",
		object{"datetime_sending": "2026-11-21T12:00:00"},
		pastForm, "datetime_sending",
		`"provided":"2026-11-21T12:00:00","current_time":"2026-11-21T12:00:00Z"`,
	},
	{"the very instant", object{"datetime_sending": "2026-11-21T12:00:00.500"}, pastForm, "datetime_sending", ""},
	{"past in its zone", object{"datetime_sending": "2026-11-21T13:00:00", "timezone": "Europe/Madrid"}, pastForm, "datetime_sending", ""},
	{"unknown timezone", object{"timezone": "Europe/Atlantis"}, formatForm, "timezone", `"provided":"Europe/Atlantis"`},
	{"empty timezone", object{"timezone": ""}, formatForm, "timezone", ""},
	{"Local", object{"timezone": "Local"}, formatForm, "timezone", ""},
	{"timezone of a wrong type", object{"timezone": 1}, formatForm, "timezone", ""},
	{"bad timezone of no use", object{"datetime_sending": "2030-01-01T00:00:00Z", "timezone": "x"}, formatForm, "timezone", ""},
}

var messagingRefusals = []refusal{
	{"no language", object{"language_template": dropped{}}, missingForm, "language_template", ""},
	{"blank template name", object{"name_template": " "}, missingForm, "name_template", ""},
	{"template name of a wrong type", object{"name_template": 1}, formatForm, "name_template", ""},
	{"key without number", object{"components_push": object{"body_text": "x"}}, otherForm, "components_push.body_text", ""},
	{"bare footer", object{"components_push": object{"footer_text": "x"}}, otherForm, "components_push.footer_text", ""},
	{"unknown position", object{"components_push": object{"side_text_0": "x"}}, otherForm, "components_push.side_text_0", ""},
	{"unknown type", object{"components_push": object{"body_audio_0": "x"}}, otherForm, "components_push.body_audio_0", ""},
	{"leading zero", object{"components_push": object{"body_text_00": "x"}}, otherForm, "components_push.body_text_00", ""},
	{"negative number", object{"components_push": object{"body_text_-1": "x"}}, otherForm, "components_push.body_text_-1", ""},
	{
		"both forms", object{"components_push": object{
			"header_image":   "https://a.test/a.png",
			"header_image_0": "https://a.test/a.png",
		}}, otherForm, "components_push.header_image", "both",
	},
	{
		"component of a wrong type",
		object{"components_push": object{"body_text_0": 5}},
		formatForm, "components_push.body_text_0",
		`"provided":5`,
	},
	{
		"mixed placeholder",
		object{"components_push": object{"body_text_0": "Hi {{name}}"}},
		otherForm,
		"components_push.body_text_0", `"provided":"Hi {{name}}"`,
	},
	{
		"two placeholders",
		object{"components_push": object{"body_text_0": "{{name}}{{city}}"}},
		otherForm,
		"components_push.body_text_0", "",
	},
	{"empty placeholder", object{"components_push": object{"body_text_0": "{{ }}"}}, otherForm, "components_push.body_text_0", "empty"},
	{
		"unclosed placeholder",
		object{"components_push": object{"body_text_0": "{{name"}},
		otherForm,
		"components_push.body_text_0", "not closed",
	},
	{
		"long header",
		object{"components_push": object{"header_text": strings.Repeat("ñ", 61)}},
		otherForm,
		"components_push.header_text", "61",
	},
	{
		"plain http",
		object{"components_push": object{"header_image": "http://a.test/a.png"}},
		otherForm,
		"components_push.header_image", "HTTPS",
	},
	{
		"foreign extension",
		object{"components_push": object{"header_image_0": "https://a.test/a.pdf"}},
		otherForm,
		"components_push.header_image_0", "extension",
	},
}

var voiceRefusals = []refusal{
	{"no agent", object{"agent_id": dropped{}}, missingForm, "agent_id", ""},
	{"agent of a wrong type", object{"agent_id": 1}, formatForm, "agent_id", ""},
	{"utility", object{"notification_type": "utility"}, otherForm, "notification_type", ""},
	{"contacts", object{"contacts": []object{{"number": "34600111222"}}}, otherForm, "contacts", ""},
	{"empty contacts", object{"contacts": []object{}, "contact": dropped{}}, otherForm, "contacts", ""},
}

func TestParseRequestRefuses(t *testing.T) {
	run := func(ch carillon.Channel, base object, list []refusal) {
		for _, c := range list {
			nested := with(base, c.changes)
			for form, body := range map[string]object{"nested": nested, "flat": flatten(nested)} {
				t.Run(string(ch)+"/"+form+"/"+c.name, func(t *testing.T) {
					_, err := Parse(ch, marshal(t, body), form == "flat", testNow)
					message, details := shownTo(t, err)
					if message != c.form || !strings.HasPrefix(details, `{"field":"`+c.field) || !strings.Contains(details, c.holds) {
						t.Errorf("got %s %s, want %s of %s with %s", message, details, c.form, c.field, c.holds)
					}
				})
			}
		}
	}
	run(carillon.Messaging, messagingBase(), sharedRefusals)
	run(carillon.Messaging, messagingBase(), messagingRefusals)
	run(carillon.Voice, voiceBase(), sharedRefusals)
	run(carillon.Voice, voiceBase(), voiceRefusals)
}

func TestParseRequestRefusesInItsForm(t *testing.T) {
	number := object{"number": "34600111222"}
	for _, c := range []struct {
		name    string
		channel carillon.Channel
		flat    bool
		body    object
		form    string
		field   string
	}{
		{"no contact", carillon.Messaging, false, with(messagingBase(), object{"contact": dropped{}}), missingForm, "contact"},
		{"null contact", carillon.Messaging, false, with(messagingBase(), object{"contact": nil}), missingForm, "contact"},
		{"no contact, voice", carillon.Voice, false, with(voiceBase(), object{"contact": dropped{}}), missingForm, "contact.number"},
		{
			"no contact, flat", carillon.Messaging, true, flatten(with(messagingBase(), object{"contact": dropped{}})), missingForm,
			"contact.number",
		},
		{
			"contact and contacts", carillon.Messaging, false, with(messagingBase(), object{"contacts": []object{number}}),
			otherForm, "contacts",
		},
		{
			"contact and no contacts", carillon.Messaging, false, with(messagingBase(), object{"contacts": []object{}}), otherForm,
			"contacts",
		},
		{"empty contacts", carillon.Messaging, false, bulk(), otherForm, "contacts"},
		{"101 contacts", carillon.Messaging, false, bulk(make([]any, 101)...), otherForm, "contacts"},
		{"contacts of a wrong type", carillon.Messaging, false, with(bulk(), object{"contacts": number}), formatForm, "contacts"},
		{"element of a wrong type", carillon.Messaging, false, bulk(number, "x"), formatForm, "contacts.1"},
		{"null element", carillon.Messaging, false, bulk(number, nil), missingForm, "contacts.1"},
		{
			"bad number in contacts", carillon.Messaging, false, bulk(number, number, number, object{"number": "1-2"}), phoneForm,
			"contacts.3.number",
		},
		{"no number in contacts", carillon.Messaging, false, bulk(object{"name": "Ana"}), missingForm, "contacts.0.number"},
		{"object in contacts", carillon.Messaging, false, bulk(object{"number": "34600111222", "a": object{}}), otherForm, "contacts.0.a"},
		{
			"contact of a wrong type", carillon.Messaging, false, with(messagingBase(), object{"contact": "34600111222"}),
			formatForm, "contact",
		},
		{
			"components of a wrong type", carillon.Messaging, false, with(messagingBase(), object{"components_push": "x"}),
			formatForm, "components_push",
		},
		{"dotted keys in nested form", carillon.Messaging, false, flatten(messagingBase()), missingForm, "contact"},
		{"nested form as flat", carillon.Messaging, true, messagingBase(), otherForm, "components_push"},
		{"array as flat", carillon.Messaging, true, with(flatten(messagingBase()), object{"tags": []int{}}), otherForm, "tags"},
		{
			"array for a named field as flat", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"recipient_id": []int{}}), formatForm, "recipient_id",
		},
		{
			"array for a number as flat", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"contact.number": []int{}}), formatForm, "contact.number",
		},
		{
			"array for an agent as flat", carillon.Messaging, true, with(flatten(messagingBase()), object{"agent_id": []int{}}),
			otherForm, "agent_id",
		},
		{"contacts as flat", carillon.Messaging, true, with(flatten(messagingBase()), object{"contacts": "x"}), otherForm, "contacts"},
		{
			"contacts.0.number", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"contacts.0.number": "34600111222"}), otherForm, "contacts.0.number",
		},
		{
			"contacts as flat, voice", carillon.Voice, true, with(flatten(voiceBase()), object{"contacts.0.number": "34600111222"}),
			otherForm, "contacts.0.number",
		},
		{
			"two dots under contact", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"contact.address.city": "Vigo"}), otherForm, "contact.address.city",
		},
		{"value and parent", carillon.Messaging, true, with(flatten(messagingBase()), object{"a": 1, "a-b": 1, "a.b": 2}), otherForm, "a"},
		{
			"deep value and parent", carillon.Messaging, true, with(flatten(messagingBase()), object{"x.y": 1, "x.y.z.w": 2}),
			otherForm, "x.y",
		},
		{"contact and its parent", carillon.Messaging, true, with(flatten(messagingBase()), object{"contact": "x"}), formatForm, "contact"},
		{
			"components and their parent", carillon.Messaging, true, with(flatten(messagingBase()), object{"components_push": 1}),
			formatForm, "components_push",
		},
		{
			"component two dots", carillon.Messaging, true, with(flatten(messagingBase()), object{"components_push.a.b": "x"}),
			otherForm, "components_push.a.b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.channel, marshal(t, c.body), c.flat, testNow)
			e := asError(t, err)
			if e.Message != c.form || e.Details.Find("field") != c.field {
				t.Errorf("got %s %v, want %s of %s", e.Message, e.Details, c.form, c.field)
			}
		})
	}
}

func bulk(contacts ...any) object {
	if contacts == nil {
		contacts = []any{}
	}
	return with(messagingBase(), object{"contact": dropped{}, "contacts": contacts})
}

func TestParseRequestReadsBothFormsAlike(t *testing.T) {
	nested := with(messagingBase(), object{
		"datetime_sending": "2027-03-28T02:30:00", "timezone": "Europe/Madrid", "name_event": "shipped",
		"order": 7, "empty": nil, "contact": object{"nothing": nil, "quote": "a\"b\u00e9\U0001F600"},
	})
	for _, flat := range []bool{false, true} {
		body := nested
		if flat {
			body = flatten(nested)
		}
		r, err := Parse(carillon.Messaging, marshal(t, body), flat, testNow)
		if err != nil {
			t.Fatal(err)
		}
		got := []any{
			r.Channel, r.Bulk, r.TemplateName, r.Language, r.RecipientID, r.Campaign, r.Event, r.AgentID, r.Class, r.Scheduled,
			carillon.FormatTime(r.At), len(r.Contacts), r.Contacts[0].Number, len(r.components),
		}
		want := []any{
			carillon.Messaging, false, "order_update", "es_ES", "main", "autumn", "shipped", "", carillon.Utility, true,
			"2027-03-28T01:00:00Z", 1, "34600111222", 2,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("flat %v: %s", flat, d)
		}
		fields := map[string]string{
			"number": "34600111222", "name": "Ana", "city": "Vigo", "points": "12.5", "vip": "true", "quote": "a\"bé😀",
		}
		if d := cmp.Diff(fields, r.Contacts[0].Fields()); d != "" {
			t.Errorf("flat %v: %s", flat, d)
		}
		for name, want := range fields {
			if got, ok := r.Contacts[0].Field(name); !ok || got != want {
				t.Errorf("flat %v: field %s is %q, want %q", flat, name, got, want)
			}
		}
		for _, name := range []string{"nothing", "order", "contact.name", ""} {
			if got, ok := r.Contacts[0].Field(name); ok {
				t.Errorf("flat %v: field %s is %q, want none", flat, name, got)
			}
		}
	}
}

func TestParseRequestAccepts(t *testing.T) {
	hundred := make([]any, 100)
	for i := range hundred {
		hundred[i] = object{"number": "34600111222"}
	}
	for _, c := range []struct {
		name    string
		channel carillon.Channel
		flat    bool
		body    object
	}{
		{"100 contacts", carillon.Messaging, false, bulk(hundred...)},
		{
			"unknown keys of any type", carillon.Messaging, false,
			with(messagingBase(), object{"x": []any{object{}}, "agent_id": 5, "a.b": 1}),
		},
		{"contacts null next to contact", carillon.Messaging, false, with(messagingBase(), object{"contacts": nil})},
		{
			"contacts null in flat form", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"contacts": nil, "contacts.0": nil, "contact": nil}),
		},
		{"no components", carillon.Messaging, false, with(messagingBase(), object{"components_push": dropped{}})},
		{
			"null component of a bad key", carillon.Messaging, false,
			with(messagingBase(), object{"components_push": object{"nonsense": nil}}),
		},
		{"255 characters of name_event", carillon.Messaging, false, with(messagingBase(), object{"name_event": strings.Repeat("ñ", 255)})},
		{"the longest texts", carillon.Messaging, false, with(messagingBase(), object{
			"campaign_name": strings.Repeat("ñ", 255), "recipient_id": strings.Repeat("ñ", 255),
			"language_template": strings.Repeat("ñ", 255),
			"name_template":     strings.Repeat("ñ", 512), "coupon": strings.Repeat("ñ", 4096),
			"contact": object{"number": "34600111222", "order": strings.Repeat("ñ", 4096)},
		})},
		{
			"voice ignores components and template", carillon.Voice, false,
			with(voiceBase(), object{"components_push": 1, "name_template": 2, "language_template": 3}),
		},
		{"voice, flat", carillon.Voice, true, with(flatten(voiceBase()), object{"components_push.x": "y"})},
		{"the year 2099", carillon.Voice, false, with(voiceBase(), object{"datetime_sending": "2099-12-31T23:59:59"})},
		{
			"other dotted keys in flat form", carillon.Messaging, true,
			with(flatten(messagingBase()), object{"a.b.c": 1, "a.b-c": 1, "a-b": 1}),
		},
		{
			"header of 60 characters", carillon.Messaging, false,
			with(messagingBase(), object{"components_push": object{"header_text_0": strings.Repeat("ñ", 60)}}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse(c.channel, marshal(t, c.body), c.flat, testNow); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseRequestWithoutNowTakesAPastSchedule(t *testing.T) {
	body := marshal(t, with(messagingBase(), object{"datetime_sending": "2001-01-01T00:00:00"}))
	r, err := Parse(carillon.Messaging, body, false, time.Time{})
	if err != nil || !r.Scheduled || r.At.Year() != 2001 {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestErrorsRepeatLittleOfALongBody(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, changes := range []object{
		{"notification_type": long},
		{"datetime_sending": long},
		{"timezone": long},
		{"recipient_id": []any{long}},
		{"contact": object{"number": long}},
		{"contact": object{long: []int{}}},
		{"components_push": object{long: "x"}},
		{"components_push": object{"body_text_0": "{{" + long}},
		{"components_push": object{"header_image": long}},
	} {
		_, err := Parse(carillon.Messaging, marshal(t, with(messagingBase(), changes)), false, testNow)
		if _, details := shownTo(t, err); len(details) > 1500 {
			t.Errorf("%.60s…: %d bytes of details", details, len(details))
		}
	}
}
