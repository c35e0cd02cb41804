package content

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"carillon"
)

func draftBase() object {
	return object{
		"name": "visit_reminder", "language": "es_ES", "content": "Hola {{nombre}}, su cita es a las {{ hora }}, {{nombre}}.",
		"variables": []string{"nombre", "hora"}, "category": "utility",
		"components": []object{
			{"type": "footer", "text": "Clinica Ejemplo"},
			{
				"type": "HEADER", "text": "Cita de {{nombre}}",
				"example": object{"header_text_named_params": []object{{"param_name": "nombre", "example": "Ana"}}},
			},
			{
				"type": "BUTTONS", "buttons": []object{
					{"type": "QUICK_REPLY", "text": "Confirmo"}, {
						"type": "URL", "text": "Ver", "url": "https://ex.org/c/{{1}}", "example": []string{"https://ex.org/c/ab1"},
					},
				},
			},
		},
		"submit": true,
	}
}

func TestDraftBecomesATemplate(t *testing.T) {
	d, err := ParseDraft(marshal(t, draftBase()))
	if err != nil {
		t.Fatal(err)
	}
	if !d.Submit {
		t.Error("submit is lost")
	}
	got, err := d.Template()
	if err != nil {
		t.Fatal(err)
	}
	want := &carillon.Template{
		Name: "visit_reminder", Language: "es_ES", Category: "UTILITY", ParameterFormat: Named,
		Components: []carillon.Component{
			{
				Type: TypeHeader, Format: FormatText, Text: "Cita de {{nombre}}",
				Example: &carillon.ComponentExample{HeaderTextNamedParams: []carillon.NamedExample{{ParamName: "nombre", Example: "Ana"}}},
			},
			{
				Type: TypeBody, Text: "Hola {{nombre}}, su cita es a las {{ hora }}, {{nombre}}.",
				Example: &carillon.ComponentExample{BodyTextNamedParams: []carillon.NamedExample{{
					ParamName: "nombre",
					Example:   "nombre",
				}, {ParamName: "hora", Example: "hora"}}},
			},
			{Type: TypeFooter, Text: "Clinica Ejemplo"},
			{
				Type: TypeButtons, Buttons: []carillon.Button{
					{Type: ButtonQuickReply, Text: "Confirmo"}, {
						Type: ButtonURL, Text: "Ver", URL: "https://ex.org/c/{{1}}", Example: []string{"https://ex.org/c/ab1"},
					},
				},
			},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(carillon.Template{}, "Shape")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"header_text_0", "body_text_0", "body_text_1", "button_url_1"}, Keys(got.Shape)); d != "" {
		t.Error(d)
	}
}

func TestDraftFormats(t *testing.T) {
	for _, c := range []struct {
		name, content string
		variables     any
		components    []object
		format        string
		body          *carillon.ComponentExample
	}{
		{"no variables", "Hola", []string{}, nil, Positional, nil},
		{
			"variables left out", "Hola {{a}}",
			dropped{},
			nil, Named,
			&carillon.ComponentExample{BodyTextNamedParams: []carillon.NamedExample{{ParamName: "a", Example: "a"}}},
		},
		{"numbers", "{{2}} y {{1}}", []string{"1", "2"}, nil, Positional, &carillon.ComponentExample{BodyText: [][]string{{"1", "2"}}}},
		{
			"names for numbers", "{{1}} y {{2}}",
			[]string{"nombre", "hora"},
			nil, Positional,
			&carillon.ComponentExample{BodyText: [][]string{{"nombre", "hora"}}},
		},
		{"numbers, list left out", "{{2}} y {{1}}", nil, nil, Positional, &carillon.ComponentExample{BodyText: [][]string{{"1", "2"}}}},
		{"the header decides", "Hola", dropped{}, []object{{"type": "HEADER", "text": "{{a}}"}}, Named, nil},
		{"media header", "Hola", dropped{}, []object{{"type": "HEADER", "format": "image"}}, Positional, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ParseDraft(marshal(t, with(draftBase(),
				object{"content": c.content, "variables": c.variables, "components": c.components})))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Template()
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for got.Components[i].Type != TypeBody {
				i++
			}
			if d := cmp.Diff(c.body, got.Components[i].Example); d != "" || got.ParameterFormat != c.format {
				t.Errorf("%s %s", got.ParameterFormat, d)
			}
		})
	}
}

func TestDraftRefuses(t *testing.T) {
	names := func(n int) (content string, list []string) {
		for i := range n {
			name := "v" + strings.Repeat("x", i)
			content, list = content+"{{"+name+"}} ", append(list, name)
		}
		return content, list
	}
	content20, list20 := names(20)
	content21, list21 := names(21)
	components := func(c ...object) object { return object{"components": c} }
	buttons := func(b ...object) object { return components(object{"type": "BUTTONS", "buttons": b}) }
	reply := object{"type": "QUICK_REPLY", "text": "x"}
	link := object{"type": "URL", "text": "x", "url": "https://a.test/"}
	phone := object{"type": "PHONE_NUMBER", "text": "x", "phone_number": "+34600111222"}
	for _, c := range []struct {
		name    string
		changes object
		form    string // expected message of a 400, or
		field   string
		limit   string // expected details of a 422
	}{
		{"no name", object{"name": dropped{}}, missingForm, "name", ""},
		{"capitals in the name", object{"name": "Order"}, formatForm, "name", ""},
		{"long name", object{"name": strings.Repeat("a", 513)}, "", "", `{"limit":512,"used":513}`},
		{"long name of a wrong form", object{"name": strings.Repeat("A", 513)}, formatForm, "name", ""},
		{"name of a wrong type", object{"name": 1}, formatForm, "name", ""},
		{"no language", object{"language": ""}, missingForm, "language", ""},
		{"bad language", object{"language": "español"}, formatForm, "language", ""},
		{"no content", object{"content": " "}, missingForm, "content", ""},
		{"no category", object{"category": nil}, missingForm, "category", ""},
		{"unlisted category", object{"category": "NEWS"}, otherForm, "category", ""},
		{"long content", object{"content": strings.Repeat("ñ", 1025), "variables": nil}, "", "", `{"limit":1024,"used":1025}`},
		{"21 variables", object{"content": content21, "variables": list21, "components": nil}, "", "", `{"limit":20,"used":21}`},
		{"21 variables listed", object{"content": "x", "variables": list21, "components": nil}, "", "", `{"limit":20,"used":21}`},
		{
			"20 variables and the header's", merge(object{"content": content20, "variables": list20},
				components(object{"type": "HEADER", "text": "{{a}}"})), "", "", `{"limit":20,"used":21}`,
		},
		{"unclosed variable", object{"content": "Hola {{a"}, otherForm, "content", ""},
		{"empty variable", object{"content": "Hola {{}}"}, otherForm, "content", ""},
		{"bad name", object{"content": "Hola {{a b}}"}, otherForm, "content", ""},
		{"leading zero", object{"content": "Hola {{01}}"}, otherForm, "content", ""},
		{"names and numbers", object{"content": "{{a}} {{1}}"}, otherForm, "content", ""},
		{"a gap in the numbers", object{"content": "{{1}} {{3}}"}, otherForm, "content", ""},
		{"another variable listed", object{"variables": []string{"nombre", "dia"}}, otherForm, "variables", ""},
		{"one variable listed twice", object{"variables": []string{"nombre", "nombre"}}, otherForm, "variables", ""},
		{"too few for the numbers", object{"content": "{{1}} {{2}}", "variables": []string{"x"}}, otherForm, "variables", ""},
		{"variables of a wrong type", object{"variables": "nombre"}, formatForm, "variables", ""},
		{"a variable of a wrong type", object{"variables": []any{"nombre", 1}}, formatForm, "variables.1", ""},
		{"submit of a wrong type", object{"submit": "yes"}, formatForm, "submit", ""},
		{"components of a wrong type", object{"components": object{}}, formatForm, "components", ""},
		{"component of a wrong type", object{"components": []any{1}}, formatForm, "components.0", ""},
		{"null component", object{"components": []any{nil}}, missingForm, "components.0", ""},
		{"component without type", components(object{"text": "x"}), missingForm, "components.0.type", ""},
		{"unknown component", components(object{"type": "HOLOGRAM"}), otherForm, "components.0.type", ""},
		{"a second body", components(object{"type": "BODY", "text": "x"}), otherForm, "components.0.type", ""},
		{
			"two footers", components(object{"type": "FOOTER", "text": "x"}, object{"type": "FOOTER", "text": "x"}), otherForm,
			"components.1.type", "",
		},
		{"long header", components(object{"type": "HEADER", "text": strings.Repeat("ñ", 61)}), "", "", `{"limit":60,"used":61}`},
		{"header without text", components(object{"type": "HEADER"}), missingForm, "components.0.text", ""},
		{"header of an unknown format", components(object{"type": "HEADER", "format": "GIF"}), otherForm, "components.0.format", ""},
		{
			"text on a media header", components(object{"type": "HEADER", "format": "IMAGE", "text": "x"}), otherForm,
			"components.0.text", "",
		},
		{"two variables in the header", components(object{"type": "HEADER", "text": "{{a}} {{b}}"}), otherForm, "components.0.text", ""},
		{"a number in a named header", components(object{"type": "HEADER", "text": "{{1}}"}), otherForm, "components.0.text", ""},
		{
			"example of a wrong type", components(object{"type": "HEADER", "text": "x", "example": object{"header_text": 1}}),
			formatForm, "components.0.example", "",
		},
		{"variable in the footer", components(object{"type": "FOOTER", "text": "{{a}}"}), otherForm, "components.0.text", ""},
		{"long footer", components(object{"type": "FOOTER", "text": strings.Repeat("x", 61)}), otherForm, "components.0.text", ""},
		{"no buttons", buttons(), otherForm, "components.0.buttons", ""},
		{
			"11 buttons", buttons(reply, reply, reply, reply, reply, reply, reply, reply, reply, reply, reply), otherForm,
			"components.0.buttons", "",
		},
		{"scattered quick replies", buttons(reply, link, reply), otherForm, "components.0.buttons", ""},
		{"three links", buttons(link, link, link), otherForm, "components.0.buttons", ""},
		{"two phones", buttons(phone, phone), otherForm, "components.0.buttons", ""},
		{"unknown button", buttons(object{"type": "TELEPORT", "text": "x"}), otherForm, "components.0.buttons.0.type", ""},
		{"button without text", buttons(object{"type": "URL"}), missingForm, "components.0.buttons.0.text", ""},
		{"long button", buttons(with(link, object{"text": strings.Repeat("x", 26)})), otherForm, "components.0.buttons.0.text", ""},
		{"link without URL", buttons(with(link, object{"url": dropped{}})), missingForm, "components.0.buttons.0.url", ""},
		{"relative URL", buttons(with(link, object{"url": "/p/{{1}}"})), formatForm, "components.0.buttons.0.url", ""},
		{
			"long URL", buttons(with(link, object{"url": "https://a.test/" + strings.Repeat("x", 2000)})), otherForm,
			"components.0.buttons.0.url", "",
		},
		{
			"variable inside the URL", buttons(reply, with(link, object{"url": "https://a.test/{{1}}/x"})), otherForm,
			"components.0.buttons.1.url", "",
		},
		{"bad phone", buttons(with(phone, object{"phone_number": "call me"})), phoneForm, "components.0.buttons.0.phone_number", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseDraft(marshal(t, with(draftBase(), c.changes)))
			message, details := shownTo(t, err)
			if c.limit != "" {
				if !carillon.IsCode(err, carillon.LimitExceeded) || details != c.limit {
					t.Errorf("got %v %s", err, details)
				}
				return
			}
			if message != c.form || !strings.HasPrefix(details, `{"field":"`+c.field+`"`) {
				t.Errorf("got %s %s, want %s of %s", message, details, c.form, c.field)
			}
		})
	}
}

func merge(a, b object) object { return with(a, b) }

func TestDraftEditKeepsWhatItDoesNotName(t *testing.T) {
	first, err := ParseDraft(marshal(t, draftBase()))
	if err != nil {
		t.Fatal(err)
	}
	before, err := first.Template()
	if err != nil {
		t.Fatal(err)
	}
	d := DraftOf(before)
	if err := d.Edit([]byte(`{"content":"Adiós {{nombre}}"}`)); err != nil {
		t.Fatal(err)
	}
	after, err := d.Template()
	if err != nil {
		t.Fatal(err)
	}
	if after.Components[1].Text != "Adiós {{nombre}}" || after.Components[0].Text != before.Components[0].Text ||
		after.Name != before.Name {
		t.Errorf("got %+v", after)
	}
	if err := DraftOf(before).Edit([]byte(`{"name":"Nope"}`)); err == nil {
		t.Error("an edit is checked")
	}
}

func TestCompileOrdersMarkers(t *testing.T) {
	for _, c := range []struct {
		format, text string
		want         []string
	}{
		{Positional, "{{10}} {{2}} {{ 1 }} {{2}}", []string{"1", "2", "10"}},
		{Named, "{{b}} {{a}} {{b}}", []string{"b", "a"}},
		{"", "{{b}} {{a}}", []string{"b", "a"}},
		{"", "{{2}} {{1}}", []string{"1", "2"}},
	} {
		tpl := compiled(t, &carillon.Template{ParameterFormat: c.format, Components: []carillon.Component{{Type: TypeBody, Text: c.text}}})
		if d := cmp.Diff(c.want, tpl.Shape.Markers); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	body := carillon.Component{Type: TypeBody, Text: "Hola"}
	for _, c := range []struct {
		name, format string
		components   []carillon.Component
		field        string
	}{
		{"no body", "", nil, "components"},
		{"long body", "", []carillon.Component{{Type: TypeBody, Text: strings.Repeat("x", 1025)}}, "components.0.text"},
		{"long header", "", []carillon.Component{body, {Type: TypeHeader, Text: strings.Repeat("x", 61)}}, "components.1.text"},
		{"unknown format", "MIXED", []carillon.Component{body}, "parameter_format"},
		{"a name in a positional body", Positional, []carillon.Component{{Type: TypeBody, Text: "{{a}}"}}, "components.0.text"},
		{
			"21 variables", "", []carillon.Component{{
				Type: TypeBody, Text: strings.Repeat("{{1}}", 3) +
					"{{2}}{{3}}{{4}}{{5}}{{6}}{{7}}{{8}}{{9}}{{10}}{{11}}{{12}}{{13}}{{14}}{{15}}{{16}}{{17}}{{18}}{{19}}{{20}}{{21}}",
			}}, "components",
		},
	} {
		tpl := &carillon.Template{ParameterFormat: c.format, Components: c.components}
		if f := asError(t, Compile(tpl)).Details.Find("field"); f != c.field || tpl.Shape != nil {
			t.Errorf("%s: %v", c.name, f)
		}
	}
}

func TestValidLanguage(t *testing.T) {
	for s, want := range map[string]bool{
		"es": true, "es_ES": true, "fil": true, "zh_Hant_TW": true, "pt-BR": true, "es_419": true, "": false, "e": false, "spanish": false,
		"es_": false, "_ES": false, "es__ES": false, "e1": false, "es ES": false, "es_ñ": false,
	} {
		if got := ValidLanguage(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestSamplesGoToTheReviewer(t *testing.T) {
	for _, c := range []struct {
		changes object
		want    *carillon.ComponentExample
		field   string
	}{
		{
			object{"samples": object{"nombre": "Ana"}},
			&carillon.ComponentExample{BodyTextNamedParams: []carillon.NamedExample{
				{ParamName: "nombre", Example: "Ana"},
				{ParamName: "hora", Example: "hora"},
			}}, "",
		},
		{
			object{"content": "{{2}} {{1}}", "variables": dropped{}, "components": dropped{}, "samples": object{"2": "b"}},
			&carillon.ComponentExample{BodyText: [][]string{{"1", "b"}}}, "",
		},
		{object{"samples": object{"dia": "x"}}, nil, "samples.dia"},
		{object{"samples": object{"hora": 1}}, nil, "samples.hora"},
		{object{"samples": object{"hora": "a\nb"}}, nil, "samples.hora"},
		{object{"samples": []string{"x"}}, nil, "samples"},
	} {
		d, err := ParseDraft(marshal(t, with(draftBase(), c.changes)))
		if c.field != "" {
			if _, details := shownTo(t, err); !strings.HasPrefix(details, `{"field":"`+c.field+`"`) {
				t.Errorf("%v: %s", c.changes, details)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Template()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got.Components {
			if x.Type == TypeBody {
				if diff := cmp.Diff(c.want, x.Example); diff != "" {
					t.Error(diff)
				}
			}
		}
	}
	long := object{"content": "{{a}}", "variables": dropped{}, "components": dropped{}, "samples": object{"a": strings.Repeat("ñ", 1025)}}
	if _, err := ParseDraft(marshal(t, with(draftBase(), long))); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error(err)
	}
}

// The panel's editor applies the same rules while the user types (web/src/panel/features/templates/rules.ts), and its
// tests read the same cases. A field that begins with ! stands for a limit, whose error names no field.
func TestDraftsAreJudgedAsTheEditorJudgesThem(t *testing.T) {
	text, err := os.ReadFile("testdata/drafts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Field string
		Payload     json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		_, err := ParseDraft(c.Payload)
		switch {
		case c.Field == "":
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		case strings.HasPrefix(c.Field, "!"):
			if !carillon.IsCode(err, carillon.LimitExceeded) {
				t.Errorf("%s: %v", c.Name, err)
			}
		default:
			var e *carillon.Error
			if !errors.As(err, &e) || e.Details.Find("field") != c.Field {
				t.Errorf("%s: %v, not of %s", c.Name, err, c.Field)
			}
		}
	}
}
