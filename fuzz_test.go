package carillon

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// facts are all that a request says, in a form that can be compared; what fails is compared by its text.
func facts(t testing.TB, r *Request) []any {
	t.Helper()
	out := []any{
		r.Channel, r.Bulk, r.TemplateName, r.Language, r.RecipientID, r.Campaign, r.Event, r.AgentID, r.Class, r.Scheduled, r.At.UnixNano(),
		len(r.components),
	}
	for i := range r.Contacts {
		c := r.Contacts[i]
		fields := c.Fields()
		for name, want := range fields {
			if got, ok := c.Field(name); !ok || got != want {
				t.Errorf("field %q: %q, %v, want %q", name, got, ok, want)
			}
		}
		out = append(out, c.Number, fields)
	}
	return out
}

// filled tries a request on templates of each kind: whatever ParseRequest accepts must be filled or refused with an
// *Error, for a number of contacts that is not zero.
func filled(t testing.TB, r *Request) (out []any) {
	t.Helper()
	body := Component{Type: TypeBody, Text: "{{1}} {{2}}"}
	for _, tpl := range []*Template{
		orderUpdate(t), mediaTemplate(t, FormatImage), compiled(t, &Template{Components: []Component{body}}),
		compiled(t, &Template{Components: []Component{{Type: TypeBody, Text: "{{1}}"}}}),
	} {
		fits := r.CheckAgainst(tpl)
		r.Duplicates(tpl)
		for i := range r.Contacts {
			content, err := r.Content(tpl, i)
			if err != nil {
				asError(t, err)
			}
			if fits == nil && err != nil {
				t.Errorf("what CheckAgainst accepts has content: %v", err)
			}
			if err == nil && len(content.Body) != len(tpl.Shape.Markers) {
				t.Errorf("%d of %d body values", len(content.Body), len(tpl.Shape.Markers))
			}
			out = append(out, content, err == nil)
		}
		out = append(out, fits == nil)
		if fits != nil {
			asError(t, fits)
		}
	}
	return out
}

// members writes an object of raw members.
type members struct{ bytes.Buffer }

func (m *members) add(t testing.TB, key string, raw []byte) {
	t.Helper()
	if m.Len() > 0 {
		m.WriteByte(',')
	}
	m.Write(marshal(t, key))
	m.WriteByte(':')
	m.Write(raw)
}

func (m *members) object() []byte { return []byte("{" + m.String() + "}") }

// unflattened is the nested form of a flat body that was accepted. Keys with other dots stay out: in nested form they
// would be ordinary ones.
func unflattened(t testing.TB, o *Object) []byte {
	t.Helper()
	var root, contact, components members
	for _, key := range o.Keys() {
		raw, present := o.Raw(key)
		if !present {
			raw = []byte("null")
		}
		name, isContact := strings.CutPrefix(key, contactPrefix)
		entry, isComponent := strings.CutPrefix(key, componentsPrefix)
		switch {
		case isContact:
			contact.add(t, name, raw)
		case isComponent:
			components.add(t, entry, raw)
		case !strings.Contains(key, ".") && present:
			root.add(t, key, raw)
		}
	}
	root.add(t, contactKey, contact.object())
	root.add(t, componentsKey, components.object())
	return root.object()
}

// flattened is the flat form of a nested body with one contact; false where it has none.
func flattened(t testing.TB, r *Request) ([]byte, bool) {
	t.Helper()
	var flat members
	for _, key := range r.root.Keys() {
		v := r.root.Find(key)
		if strings.Contains(key, ".") {
			return nil, false
		}
		if v.kind() != kindObject {
			flat.add(t, key, r.raw(key))
			continue
		}
		inner := &Object{v.doc, v.at}
		for _, name := range inner.Keys() {
			raw, present := inner.Raw(name)
			if !present {
				raw = []byte("null")
			}
			flat.add(t, key+"."+name, raw)
		}
	}
	return flat.object(), !r.Bulk
}

func (r *Request) raw(key string) []byte {
	if raw, present := r.root.Raw(key); present {
		return raw
	}
	return []byte("null")
}

func addBodies(f *testing.F, flat bool) {
	for _, base := range []object{
		messagingBase(), voiceBase(), with(messagingBase(), object{"components_push": fullComponents()}), bulk(object{"number": "34600111222"}),
		with(messagingBase(), object{"components_push": object{"header_image": "{{photo}}"}, "photo": "https://a.test/a.png", "datetime_sending": "2030-01-01T00:00:00", "timezone": "Asia/Tokyo"}),
	} {
		if flat {
			base = flatten(base)
		}
		f.Add(marshal(f, base))
	}
	f.Add([]byte(`{"contact.number":null,"a.b":1,"a":null,"\u0061":"\ud83d\ude00"}`))
}

func FuzzParseFlat(f *testing.F) {
	addBodies(f, true)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, ch := range []Channel{Messaging, Voice} {
			r, err := ParseRequest(ch, body, true, testNow)
			if err != nil {
				asError(t, err)
				continue
			}
			nested, err := ParseRequest(ch, unflattened(t, r.root), false, testNow)
			if err != nil {
				t.Fatalf("the nested form is refused: %v", err)
			}
			if d := cmp.Diff(facts(t, r), facts(t, nested)); d != "" {
				t.Errorf("flat and nested differ: %s", d)
			}
			if d := cmp.Diff(filled(t, r), filled(t, nested)); ch == Messaging && d != "" {
				t.Errorf("flat and nested are filled differently: %s", d)
			}
		}
	})
}

func FuzzParseNested(f *testing.F) {
	addBodies(f, false)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, ch := range []Channel{Messaging, Voice} {
			r, err := ParseRequest(ch, body, false, testNow)
			if err != nil {
				asError(t, err)
				continue
			}
			if len(r.Contacts) == 0 || len(r.Contacts) > maxContacts {
				t.Fatalf("%d contacts", len(r.Contacts))
			}
			want := filled(t, r)
			text, ok := flattened(t, r)
			if !ok {
				continue
			}
			flat, err := ParseRequest(ch, text, true, testNow)
			if err != nil {
				asError(t, err) // a custom value that the flat form has no room for
				continue
			}
			if d := cmp.Diff(facts(t, r), facts(t, flat)); d != "" {
				t.Errorf("nested and flat differ: %s", d)
			}
			if d := cmp.Diff(want, filled(t, flat)); ch == Messaging && d != "" {
				t.Errorf("nested and flat are filled differently: %s", d)
			}
		}
	})
}

// FuzzReadJSON: what the reader accepts encoding/json accepts, and reads alike; what only the reader refuses is one of
// the contract's own rules.
func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e-7,"\ud83d\ude00\n",null,true,{"b":{}}]}`, `[1,]`, `"\ud83d"`, `{"a":1,"a":2}`, nest(33), "1 2", `"\u0000"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := readJSON(body)
		if err != nil {
			reason, _ := asError(t, err).Details.Find("reason").(string)
			strict := regexp.MustCompile(`U\+0000|surrogate|twice|deeper|UTF-8`).MatchString(reason)
			if json.Valid(body) && !strict {
				t.Errorf("%q is refused: %s", body, reason)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil || !json.Valid(body) {
			t.Fatalf("encoding/json refuses %q: %v", body, err)
		}
		if d := cmp.Diff(want, tree(Value{doc, 0})); d != "" {
			t.Error(d)
		}
	})
}

// tree is a value as encoding/json gives it.
func tree(v Value) any {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil
	case kindTrue, kindFalse:
		return v.kind() == kindTrue
	case kindNumber:
		return json.Number(v.Raw())
	case kindString, kindEscaped:
		return v.doc.text(v.at)
	case kindArray:
		list := []any{}
		elements, _, _ := v.Array("")
		for _, e := range elements {
			list = append(list, tree(e))
		}
		return list
	}
	o := &Object{v.doc, v.at}
	m := map[string]any{}
	for _, key := range o.Keys() {
		m[key] = tree(o.Find(key))
	}
	return m
}

func FuzzPlaceholder(f *testing.F) {
	for _, s := range []string{"", "x", "{{name}}", "{{ name }}", "{{}}", "{{", "}}", "{{{a}}}", "a {{b}}", "{{a}}{{b}}", "{{a b}}", "{{a}", "{{é}} "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		name, reason := parsePlaceholder(value)
		switch {
		case name != "" && reason != "":
			t.Error("both a name and a reason")
		case name == "" && reason == "" && strings.Contains(value, "{{"):
			t.Errorf("%q is taken for static text", value)
		case name != "":
			inner := strings.TrimSuffix(strings.TrimPrefix(value, "{{"), "}}")
			if strings.TrimSpace(inner) != name || strings.ContainsAny(name, "{}") || len(inner)+4 != len(value) {
				t.Errorf("%q gives %q", value, name)
			}
			if again, reason := parsePlaceholder("{{" + name + "}}"); again != name || reason != "" {
				t.Errorf("%q is not read again: %q, %s", name, again, reason)
			}
		}
		if !utf8.ValidString(value) {
			return
		}
		for _, format := range []string{"", Positional, Named} {
			m, reason := parseMarked(value, format)
			if reason == "" && m.static > utf8.RuneCountInString(value) || len(m.uses) != len(m.markers) {
				t.Errorf("%q: %+v", value, m)
			}
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"", "34600111222", "+34600111222", "123456", "1234567", "123456789012345", "1234567890123456", "٣٤٦٠٠١١١", "34 600"} {
		f.Add(s)
	}
	form := regexp.MustCompile(`\A[0-9]{7,15}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		if ValidNumber(s) != form.MatchString(s) {
			t.Errorf("%q: %v", s, ValidNumber(s))
		}
	})
}

func FuzzSchedule(f *testing.F) {
	for _, s := range [][2]string{
		{"2027-03-28T02:30:00", "Europe/Madrid"},
		{"2027-10-31T02:30:00.250", "Europe/Madrid"},
		{"2027-01-15T09:00:00Z", "UTC"},
		{"2027-01-15T09:00:00+05:30", "Asia/Tokyo"},
		{"2011-12-30T12:00:00", "Pacific/Apia"},
		{"2027-02-30T00:00:00", ""},
		{"0000-01-01T00:00:00-2359", "Local"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, local, zone string) {
		at, err := ParseSchedule(local, zone)
		if err != nil {
			asError(t, err)
			return
		}
		loc, err := ParseZone(zone)
		if err != nil || zone == "" || zone == "Local" {
			t.Fatalf("%q is no zone: %v", zone, err)
		}
		rest := strings.TrimLeft(local[len(wallForm):], ".0123456789")
		if rest != "" {
			want, err := time.Parse("2006-01-02T15:04:05Z07:00", local)
			if err != nil {
				want, err = time.Parse("2006-01-02T15:04:05Z0700", local)
			}
			if err != nil || !at.Equal(want) {
				t.Errorf("%s: %v, want %v, %v", local, at, want, err)
			}
			return
		}
		shown := func(at time.Time) string { return at.In(loc).Format(wallForm) }
		if wall := local[:len(wallForm)]; shown(at) != wall && (shown(at) <= wall || shown(at.Add(-time.Nanosecond)) >= wall) {
			t.Errorf("%s in %s: clocks show %s", local, zone, shown(at))
		}
	})
}
