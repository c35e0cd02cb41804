package request

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
)

// facts returns everything that a request contains in a comparable form. Errors are represented by their texts.
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

// filled fills templates of each kind from a request that was parsed. Each must be filled or refused with an *Error,
// and the request must have contacts.
func filled(t testing.TB, r *Request) (out []any) {
	t.Helper()
	body := carillon.Component{Type: content.TypeBody, Text: "{{1}} {{2}}"}
	for _, tpl := range []*carillon.Template{
		orderUpdate(t), mediaTemplate(t, content.FormatImage), compiled(t, &carillon.Template{Components: []carillon.Component{body}}),
		compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "{{1}}"}}}),
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

// members builds a JSON object from raw members.
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

// unflattened returns the nested form of a flat body that was accepted. Keys with other dots are dropped, because they
// would be ordinary keys in the nested form.
func unflattened(t testing.TB, o *jsonbody.Object) []byte {
	t.Helper()
	var root, contact, components members
	for _, key := range o.Keys() {
		raw, present := rawOf(o, key), o.Find(key).Present()
		name, isContact := strings.CutPrefix(key, contactPrefix)
		entry, isComponent := strings.CutPrefix(key, "components_push.")
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
	root.add(t, content.ComponentsKey, components.object())
	return root.object()
}

// flattened returns the flat form of a nested body with one contact. It returns false if there is no flat form.
func flattened(t testing.TB, r *Request) ([]byte, bool) {
	t.Helper()
	root := rootOf(t, r)
	var flat members
	for _, key := range root.Keys() {
		v := root.Find(key)
		if strings.Contains(key, ".") {
			return nil, false
		}
		if !v.IsObject() {
			flat.add(t, key, rawOf(root, key))
			continue
		}
		inner, _, _ := v.Object("")
		for _, name := range inner.Keys() {
			flat.add(t, key+"."+name, rawOf(inner, name))
		}
	}
	return flat.object(), !r.Bulk
}

func rootOf(t testing.TB, r *Request) *jsonbody.Object {
	t.Helper()
	root, err := jsonbody.Parse([]byte(r.Source()))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func rawOf(o *jsonbody.Object, key string) []byte {
	if raw := o.Find(key).Raw(); raw != nil {
		return raw
	}
	return []byte("null")
}

func addBodies(f *testing.F, flat bool) {
	for _, base := range []object{
		messagingBase(), voiceBase(), with(messagingBase(), object{"components_push": fullComponents()}),
		bulk(object{"number": "34600111222"}),
		with(messagingBase(), object{
			"components_push": object{"header_image": "{{photo}}"}, "photo": "https://a.test/a.png",
			"datetime_sending": "2030-01-01T00:00:00", "timezone": "Asia/Tokyo",
		}),
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
		for _, ch := range []carillon.Channel{carillon.Messaging, carillon.Voice} {
			r, err := Parse(ch, body, true, testNow)
			if err != nil {
				asError(t, err)
				continue
			}
			nested, err := Parse(ch, unflattened(t, rootOf(t, r)), false, testNow)
			if err != nil {
				t.Fatalf("the nested form is refused: %v", err)
			}
			if d := cmp.Diff(facts(t, r), facts(t, nested)); d != "" {
				t.Errorf("flat and nested differ: %s", d)
			}
			if d := cmp.Diff(filled(t, r), filled(t, nested)); ch == carillon.Messaging && d != "" {
				t.Errorf("flat and nested are filled differently: %s", d)
			}
		}
	})
}

func FuzzParseNested(f *testing.F) {
	addBodies(f, false)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, ch := range []carillon.Channel{carillon.Messaging, carillon.Voice} {
			r, err := Parse(ch, body, false, testNow)
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
			flat, err := Parse(ch, text, true, testNow)
			if err != nil {
				asError(t, err) // a custom value that the flat form cannot express
				continue
			}
			if d := cmp.Diff(facts(t, r), facts(t, flat)); d != "" {
				t.Errorf("nested and flat differ: %s", d)
			}
			if d := cmp.Diff(want, filled(t, flat)); ch == carillon.Messaging && d != "" {
				t.Errorf("nested and flat are filled differently: %s", d)
			}
		}
	})
}
