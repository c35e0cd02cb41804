package request

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
)

// orderUpdate has a place of every text kind: header 1, body 3, one URL suffix, one quick reply.
func orderUpdate(t testing.TB) *carillon.Template {
	t.Helper()
	return compiled(t, &carillon.Template{
		Name: "order_update", Language: "es_ES", Status: carillon.TemplateApproved,
		Components: []carillon.Component{
			{Type: content.TypeHeader, Format: content.FormatText, Text: "Pedido {{1}}"},
			{Type: content.TypeBody, Text: "Hola {{1}}, tu pedido {{2}} llega el {{3}}. Hasta luego, {{1}}."},
			{Type: content.TypeFooter, Text: "Acme Travel"},
			{Type: content.TypeButtons, Buttons: []carillon.Button{
				{Type: content.ButtonURL, Text: "Ver", URL: "https://acme.test/p/{{1}}"},
				{Type: content.ButtonQuickReply, Text: "Gracias"},
				{Type: content.ButtonPhone, Text: "Llamar", PhoneNumber: "34600111222"},
				{Type: content.ButtonURL, Text: "Inicio", URL: "https://acme.test/"},
			}},
		},
	})
}

func mediaTemplate(t testing.TB, format string) *carillon.Template {
	t.Helper()
	return compiled(t, &carillon.Template{Components: []carillon.Component{
		{Type: content.TypeHeader, Format: format},
		{Type: content.TypeBody, Text: "Hola"},
	}})
}

func compiled(t testing.TB, tpl *carillon.Template) *carillon.Template {
	t.Helper()
	if err := content.Compile(tpl); err != nil {
		t.Fatal(err)
	}
	return tpl
}

func fullComponents() object {
	return object{
		"header_text_0": "A-1", "body_text_0": "{{name}}", "body_text_1": "{{ city }}", "body_text_2": "lunes",
		"button_url_0": "k8", "button_payload_1": "thanks",
	}
}

func parsed(t testing.TB, body object) *Request {
	t.Helper()
	r, err := Parse(carillon.Messaging, marshal(t, body), false, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestContentFillsEveryPlace(t *testing.T) {
	tpl := orderUpdate(t)
	body := with(bulk(object{"number": "34600111222", "name": "Ana", "city": 5}, object{"number": "34600111223", "name": "Bo"}),
		object{"city": "Vigo", "components_push": fullComponents()})
	r := parsed(t, body)
	if err := r.CheckAgainst(tpl); err != nil {
		t.Fatal(err)
	}
	for i, want := range []provider.Content{
		{
			HeaderText: "A-1", Body: []string{"Ana", "5", "lunes"},
			Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8"}, {Index: 1, Kind: "quick_reply", Value: "thanks"}},
		},
		{
			HeaderText: "A-1", Body: []string{"Bo", "Vigo", "lunes"},
			Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8"}, {Index: 1, Kind: "quick_reply", Value: "thanks"}},
		},
	} {
		got, err := r.Content(tpl, i)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("contact %d: %s", i, d)
		}
	}
	if _, err := r.Content(tpl, 2); err == nil {
		t.Error("there is no contact 2")
	}
}

func TestCheckAgainstAccepts(t *testing.T) {
	image, video, document := mediaTemplate(t, content.FormatImage), mediaTemplate(t, content.FormatVideo),
		mediaTemplate(t, content.FormatDocument)
	for _, c := range []struct {
		name       string
		tpl        *carillon.Template
		components object
		want       provider.Content
	}{
		{"full URL is cut", orderUpdate(t), object{"button_url_0": "https://acme.test/p/k8?x=1"}, provider.Content{
			HeaderText: "A-1", Body: []string{"Ana", "Vigo", "lunes"},
			Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8?x=1"}, {Index: 1, Kind: "quick_reply", Value: "thanks"}},
		}},
		{"no payload", orderUpdate(t), object{
			"button_payload_1": dropped{}, "header_text_0": dropped{}, "header_text": "{{number}}",
		}, provider.Content{
			HeaderText: "34600111222", Body: []string{"Ana", "Vigo", "lunes"},
			Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8"}},
		}},
		{"root value", orderUpdate(t), object{"body_text_2": "{{campaign_name}}"}, provider.Content{
			HeaderText: "A-1", Body: []string{"Ana", "Vigo", "autumn"},
			Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8"}, {Index: 1, Kind: "quick_reply", Value: "thanks"}},
		}},
		{
			"image", image,
			object{"header_image": "https://a.test/a.PNG?x=.pdf"},
			provider.Content{MediaURL: "https://a.test/a.PNG?x=.pdf", Body: []string{}},
		},
		{"video_0", video, object{"header_video_0": "https://a.test/v"}, provider.Content{MediaURL: "https://a.test/v", Body: []string{}}},
		{"document", document, object{"header_document": "{{doc}}"}, provider.Content{MediaURL: "https://a.test/d.docx", Body: []string{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			components := c.components
			if len(c.tpl.Shape.Markers) > 0 {
				components = with(fullComponents(), c.components)
			}
			body := with(messagingBase(), object{"components_push": dropped{}, "contact": object{"doc": "https://a.test/d.docx"}})
			r := parsed(t, with(body, object{"components_push": components}))
			if err := r.CheckAgainst(c.tpl); err != nil {
				t.Fatal(err)
			}
			got, err := r.Content(c.tpl, 0)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheckAgainstTellsVariableMismatch(t *testing.T) {
	wanted := []string{"header_text_0", "body_text_0", "body_text_1", "body_text_2", "button_url_0"}
	none := []string{}
	for _, c := range []struct {
		name                string
		changes             object
		missing, unexpected []string
	}{
		{"a body variable is missing", object{"body_text_1": dropped{}}, []string{"body_text_1"}, none},
		{"null is absent", object{"body_text_1": nil}, []string{"body_text_1"}, none},
		{"blank is missing", object{"body_text_1": " "}, []string{"body_text_1"}, none},
		{
			"header and URL are missing",
			object{"header_text_0": dropped{}, "button_url_0": dropped{}},
			[]string{"header_text_0", "button_url_0"},
			none,
		},
		{"one too many", object{"body_text_3": "x"}, none, []string{"body_text_3"}},
		{"far too many", object{"body_text_99999999999999999999": "x"}, none, []string{"body_text_99999999999999999999"}},
		{"second header", object{"header_text_1": "x"}, none, []string{"header_text_1"}},
		{"media on a text header", object{"header_image": "https://a.test/a.png"}, none, []string{"header_image"}},
		{"footer", object{"footer_text_0": "x"}, none, []string{"footer_text_0"}},
		{"a pair no template has", object{"body_image_0": "x"}, none, []string{"body_image_0"}},
		{"payload on a URL button", object{"button_payload_0": "x"}, none, []string{"button_payload_0"}},
		{"URL on a quick reply", object{"button_url_1": "x"}, none, []string{"button_url_1"}},
		{"URL on a phone button", object{"button_url_2": "x"}, none, []string{"button_url_2"}},
		{"URL on a static URL", object{"button_url_3": "x"}, none, []string{"button_url_3"}},
		{"no such button", object{"button_url_4": "x"}, none, []string{"button_url_4"}},
		{"another site's URL", object{"button_url_0": "https://evil.test/p/k8"}, none, []string{"button_url_0"}},
		{"URL without suffix", object{"button_url_0": "https://acme.test/p/"}, []string{"button_url_0"}, none},
		{"placeholder found nowhere", object{"body_text_1": "{{street}}"}, []string{"street"}, none},
		{"placeholder found empty", object{"body_text_1": "{{blank}}"}, []string{"blank"}, none},
		{"placeholder of an object", object{"body_text_1": "{{components_push}}"}, []string{"components_push"}, none},
		{"placeholder twice", object{"body_text_1": "{{street}}", "body_text_2": "{{street}}"}, []string{"street"}, none},
		{
			"all at once",
			object{"body_text_0": dropped{}, "body_text_1": "{{street}}", "footer_text_1": "x"},
			[]string{"body_text_0", "street"},
			[]string{"footer_text_1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			components := with(fullComponents(), c.changes)
			body := with(messagingBase(), object{"contact": object{"blank": ""}, "blank": "root", "components_push": dropped{}})
			body = with(body, object{"components_push": components})
			r := parsed(t, body)
			err := r.CheckAgainst(orderUpdate(t))
			if !carillon.IsCode(err, carillon.VariableMismatch) {
				t.Fatalf("got %v", err)
			}
			var provided []string
			for _, k := range parsedKeys(t, components) {
				if components[k] != nil {
					provided = append(provided, k)
				}
			}
			want := carillon.Details{
				{Key: "template_variables", Value: wanted},
				{Key: "provided_variables", Value: provided},
				{Key: "missing", Value: c.missing},
				{Key: "unexpected", Value: c.unexpected},
			}
			if d := cmp.Diff(want, asError(t, err).Details); d != "" {
				t.Error(d)
			}
			says := strings.HasSuffix(asError(t, err).Message, "has a value for a placeholder; `missing` has its name")
			if says != slices.ContainsFunc(c.missing, func(name string) bool {
				return !strings.Contains(name, "_text_") && !strings.HasPrefix(name, "button_")
			}) {
				t.Errorf("the message is %q", asError(t, err).Message)
			}
			if _, err := r.Content(orderUpdate(t), 0); !carillon.IsCode(err, carillon.VariableMismatch) {
				t.Errorf("Content: got %v", err)
			}
		})
	}
}

func parsedKeys(t *testing.T, v object) []string {
	t.Helper()
	o, err := jsonbody.Parse(marshal(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return o.Keys()
}

func TestVariableMismatchAlwaysHasFourArrays(t *testing.T) {
	r := parsed(t, with(messagingBase(), object{"components_push": dropped{}}))
	_, details := shownTo(t, r.CheckAgainst(mediaTemplate(t, content.FormatVideo)))
	want := `{"template_variables":["header_video"],"provided_variables":[],"missing":["header_video"],"unexpected":[]}`
	if details != want {
		t.Errorf("got %s", details)
	}
	r = parsed(t, with(messagingBase(), object{"components_push": object{
		"header_video_0": "https://a.test/v.mp4",
		"body_text_1":    dropped{},
	}}))
	_, details = shownTo(t, r.CheckAgainst(mediaTemplate(t, content.FormatVideo)))
	want = `{"template_variables":["header_video"],"provided_variables":["body_text_0","header_video_0"],"missing":[],` +
		`"unexpected":["body_text_0"]}`
	if details != want {
		t.Errorf("got %s", details)
	}
	r = parsed(t, with(messagingBase(), object{"components_push": object{
		"header_text": "x", "body_text_0": dropped{},
		"body_text_1": dropped{},
	}}))
	_, details = shownTo(t, r.CheckAgainst(compiled(t,
		&carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola"}}})))
	want = `{"template_variables":[],"provided_variables":["header_text_0"],"missing":[],"unexpected":["header_text_0"]}`
	if details != want {
		t.Errorf("got %s", details)
	}
}

func TestCheckAgainstHoldsEveryContactToTheLimits(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{
		{Type: content.TypeHeader, Text: "{{1}}"},
		{Type: content.TypeBody, Text: "{{1}}ñ{{2}} {{1}}"},
	}})
	image := mediaTemplate(t, content.FormatImage)
	at := func(runes int) string { return strings.Repeat("ñ", runes) }
	for _, c := range []struct {
		name  string
		tpl   *carillon.Template
		value object // fields of the second contact
		field string // expected field of the error; empty means accepted
		holds string
	}{
		{"all at their limits", tpl, object{"h": at(60), "a": at(500), "b": at(22)}, "", ""},
		{"header one over", tpl, object{"h": at(61), "a": "x", "b": "x"}, "components_push.header_text_0", "61"},
		{"body one over", tpl, object{"h": "x", "a": at(500), "b": at(23)}, "components_push.body_text_0", "1025, for contacts.1"},
		{"media over http", image, object{"m": "http://a.test/a.png"}, "components_push.header_image", "HTTPS"},
		{"media at home", image, object{"m": "https://127.0.0.1/a.png"}, "components_push.header_image", "publicly"},
		{"media", image, object{"m": "https://a.test/a.png"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			components := object{"header_text_0": "{{h}}", "body_text_0": "{{a}}", "body_text_1": "{{b}}"}
			if c.tpl == image {
				components = object{"header_image": "{{m}}"}
			}
			first := object{"number": "34600111222", "h": "h", "a": "a", "b": "b", "m": "https://a.test/b.jpeg"}
			body := with(bulk(first, with(object{"number": "34600111223"}, c.value)), object{"components_push": dropped{}})
			err := parsed(t, with(body, object{"components_push": components})).CheckAgainst(c.tpl)
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := asError(t, err)
			_, details := shownTo(t, err)
			if e.Code != carillon.ValidationFailed || e.Details.Find("field") != c.field || !strings.Contains(details, c.holds) {
				t.Errorf("got %s %s", e.Message, details)
			}
		})
	}
}

func TestStaticBodyIsHeldToItsLimit(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "{{1}} {{1}}"}}})
	for runes, ok := range map[int]bool{511: true, 512: false} {
		r := parsed(t, with(messagingBase(), object{"components_push": object{
			"body_text_0": strings.Repeat("ñ", runes),
			"body_text_1": dropped{},
		}}))
		if err := r.CheckAgainst(tpl); (err == nil) != ok {
			t.Errorf("%d: %v", runes, err)
		}
	}
}

func TestFlatPlaceholdersAreLookedUpAfterUnflattening(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "{{1}}"}}})
	for name, found := range map[string]bool{"name": true, "campaign_name": true, "contact.name": false, "a.b": false} {
		body := with(messagingBase(), object{
			"a.b": "x", "components_push": object{"body_text_0": "{{" + name + "}}", "body_text_1": dropped{}},
		})
		r, err := Parse(carillon.Messaging, marshal(t, flatten(body)), true, testNow)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.CheckAgainst(tpl); (err == nil) != found {
			t.Errorf("flat %s: %v", name, err)
		}
	}
	body := with(messagingBase(), object{"a.b": "x", "components_push": object{"body_text_0": "{{a.b}}", "body_text_1": dropped{}}})
	if err := parsed(t, body).CheckAgainst(tpl); err != nil {
		t.Errorf("in nested form a dotted key is an ordinary one: %v", err)
	}
}

func TestDuplicatesAreSameNumberAndSameMessage(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}"}}})
	body := with(bulk(
		object{"number": "34600111222", "name": "Ana"}, object{"number": "34600111223", "name": "Ana"},
		object{"number": "34600111222", "name": "Bo"}, object{"number": "34600111222", "name": "Ana", "x": 1},
		object{"number": "034600111222", "name": "Ana"}, object{"number": "34600111222", "name": "Bo"},
	), object{"components_push": object{"body_text_1": dropped{}}})
	r := parsed(t, body)
	if d := cmp.Diff([]bool{false, false, false, true, false, true}, r.Duplicates(tpl)); d != "" {
		t.Error(d)
	}
}

func TestDuplicatesAreFoundInEveryFormOfANumber(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}"}}})
	body := with(bulk(
		object{"number": "525512345601", "name": "Ana"}, object{"number": "5215512345601", "name": "Ana"},
		object{"number": "5215512345601", "name": "Bo"},
		object{"number": "551132345678", "name": "Ana"}, object{"number": "5511932345678", "name": "Ana"},
	), object{"components_push": object{"body_text_1": dropped{}}})
	if d := cmp.Diff([]bool{false, true, false, false, false}, parsed(t, body).Duplicates(tpl)); d != "" {
		t.Error(d)
	}
}

func TestMessagesThatDifferAnywhereAreNoDuplicates(t *testing.T) {
	media, text := mediaTemplate(t, content.FormatImage), orderUpdate(t)
	for key, tpl := range map[string]*carillon.Template{
		"header_text_0": text, "body_text_0": text, "body_text_2": text, "button_url_0": text, "button_payload_1": text,
		"header_image_0": media,
	} {
		values := [2]string{"one", "two"}
		components := fullComponents()
		if tpl == media {
			values = [2]string{"https://acme.test/1.png", "https://acme.test/2.png"}
			components = object{"body_text_0": dropped{}, "body_text_1": dropped{}}
		}
		components = with(components, object{key: "{{own}}"})
		contact := func(own string) object {
			return object{"number": "34600111222", "name": "Ana", "city": "Vigo", "own": own}
		}
		r := parsed(t, with(bulk(contact(values[0]), contact(values[1]), contact(values[0])), object{"components_push": components}))
		if err := r.CheckAgainst(tpl); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if d := cmp.Diff([]bool{false, false, true}, r.Duplicates(tpl)); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
}

func TestManyContactsAreCheckedWithoutAnAllocationEach(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}"}}})
	r := parsed(t, with(manyContacts(), object{"components_push": object{"body_text_1": dropped{}}}))
	if r.Duplicates(tpl) != nil {
		t.Error("no number occurs twice")
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := r.CheckAgainst(tpl); err != nil {
			t.Error(err)
		}
	}); n > 2 {
		t.Errorf("%v allocations to check 100 contacts", n)
	}
}

func manyContacts() object {
	contacts := make([]any, 100)
	for i := range contacts {
		contacts[i] = object{"number": fmt.Sprintf("34600%06d", i), "name": "Ana", "city": "Vigo", "points": i}
	}
	return bulk(contacts...)
}
