package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"carillon"
	"carillon/internal/base/content"
)

// template reads a template. It checks the limits of the API but not the rules of the channel, because a set-up
// declares templates that already exist there (docs/reference/templates.md).
func (c *company) template(f *form) {
	t := Template{At: f.at, SenderID: f.needed("sender"), SenderAt: f.place("sender")}
	t.Name = f.neededAs("name", content.ValidName, "must be 1 to 512 characters of a-z, 0-9 and _")
	t.Language = f.neededAs("language", content.ValidLanguage, "must be of the form xx or xx_XX")
	t.Category = f.neededChoice("category", "MARKETING", "UTILITY", "AUTHENTICATION")
	status := f.choice("status", "approved", "draft", "pending", "rejected", "paused", "disabled")
	t.Status = carillon.TemplateStatus(cmp.Or(status, "approved"))
	t.SendTTL = sendTTL(f)
	if x, given := f.find("components"); given {
		t.Components = wholeComponents(f, x)
	} else {
		t.Components = components(f)
	}
	if err := content.Compile(&t.Template); err != nil {
		f.r.problem(componentFault(f, t.Components, err))
	} else {
		f.inner("examples", func(f *form) { examples(f, &t.Template) })
	}
	f.find("examples")
	if t.Shape != nil && len(t.Shape.Unknown) > 0 {
		f.fault("components", "has parts that are not known: "+strings.Join(t.Shape.Unknown, ", "))
	}
	f.r.once(f.at, "a template of this sender, name and language", c.scope, t.SenderID, t.Name, t.Language)
	c.Templates = append(c.Templates, t)
}

func sendTTL(f *form) int {
	const name, most = "message_send_ttl_seconds", 43200
	if x, given := f.find(name); given && x.value.String() == "-1" {
		return -1
	}
	return f.number(name, 0, most)
}

// wholeComponents reads the components of any kind of template, in the channel's form.
func wholeComponents(f *form, x field) []carillon.Component {
	for _, name := range []string{"header", "body", "footer", "buttons", "examples"} {
		if _, given := f.find(name); given {
			f.fault(name, "is not given together with components")
		}
	}
	var tree any
	var all []carillon.Component
	err := yaml.NodeToValue(x.value, &tree)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(tree); err == nil {
			err = json.Unmarshal(text, &all)
		}
	}
	if err != nil {
		f.wrong(x, "must be a list of components, each with a type")
	}
	for i := range all {
		if name := all[i].UnknownMember(); name != "" {
			f.wrong(x, fmt.Sprintf("has an unknown member or one of a wrong type: %s, of component %d", name, i))
		}
	}
	return all
}

func components(f *form) []carillon.Component {
	var all []carillon.Component
	f.inner("header", func(f *form) { all = append(all, header(f)) })
	all = append(all, carillon.Component{Type: content.TypeBody, Text: f.needed("body")})
	if _, given := f.find("footer"); given {
		all = append(all, carillon.Component{Type: content.TypeFooter, Text: f.needed("footer")})
	}
	buttons := carillon.Component{Type: content.TypeButtons}
	f.each("buttons", "a button", func(f *form) { buttons.Buttons = append(buttons.Buttons, button(f)) })
	if buttons.Buttons != nil {
		all = append(all, buttons)
	}
	return all
}

func header(f *form) carillon.Component {
	c := carillon.Component{Type: content.TypeHeader}
	format := f.choice("format", content.FormatText, content.FormatImage, content.FormatVideo, content.FormatDocument)
	c.Format = cmp.Or(format, content.FormatText)
	c.Text = f.text("text")
	samples := f.texts("example")
	switch {
	case c.Format != content.FormatText && c.Text != "":
		f.fault("text", "is for headers of format TEXT")
	case samples == nil:
	case c.Format == content.FormatText:
		f.fault("example", "is for media; those of a text stand in examples.header")
	default:
		c.Example = &carillon.ComponentExample{HeaderHandle: samples}
	}
	return c
}

func button(f *form) carillon.Button {
	b := carillon.Button{Text: f.needed("text"), URL: f.text("url"), PhoneNumber: f.text("phone_number"), Example: f.texts("example")}
	b.Type = f.neededChoice("type", content.ButtonURL, content.ButtonQuickReply, content.ButtonPhone)
	switch {
	case b.Type == content.ButtonURL && b.URL == "":
		f.r.problem(f.at, "url is required of a button of type URL")
	case b.Type != content.ButtonURL && b.URL != "":
		f.fault("url", "is for buttons of type URL")
	case b.Type == content.ButtonPhone && b.PhoneNumber == "":
		f.r.problem(f.at, "phone_number is required of a button of type PHONE_NUMBER")
	case b.Type != content.ButtonPhone && b.PhoneNumber != "":
		f.fault("phone_number", "is for buttons of type PHONE_NUMBER")
	}
	return b
}

// examples sets the sample values in the form that lists show. The body has one for each marker, in the order of the
// markers.
func examples(f *form, t *carillon.Template) {
	heads, body := f.texts("header"), f.texts("body")
	if heads != nil && (t.Shape.HeaderVariable == "" || len(heads) != 1) {
		f.fault("header", "needs one example where the header's text has a variable, and none elsewhere")
		return
	}
	if body != nil && len(body) != len(t.Shape.Markers) {
		f.fault("body", fmt.Sprintf("needs %d examples, one for each variable, not %d", len(t.Shape.Markers), len(body)))
		return
	}
	for i := range t.Components {
		switch c := &t.Components[i]; {
		case c.Type == content.TypeHeader && heads != nil:
			c.Example = headerExample(t, heads)
		case c.Type == content.TypeBody && body != nil:
			c.Example = bodyExample(t, body)
		}
	}
}

func headerExample(t *carillon.Template, samples []string) *carillon.ComponentExample {
	if t.ParameterFormat != content.Named {
		return &carillon.ComponentExample{HeaderText: samples}
	}
	named := carillon.NamedExample{ParamName: t.Shape.HeaderVariable, Example: samples[0]}
	return &carillon.ComponentExample{HeaderTextNamedParams: []carillon.NamedExample{named}}
}

func bodyExample(t *carillon.Template, samples []string) *carillon.ComponentExample {
	if t.ParameterFormat != content.Named {
		return &carillon.ComponentExample{BodyText: [][]string{samples}}
	}
	e := &carillon.ComponentExample{}
	for i, sample := range samples {
		e.BodyTextNamedParams = append(e.BodyTextNamedParams, carillon.NamedExample{ParamName: t.Shape.Markers[i], Example: sample})
	}
	return e
}

// componentFault returns the position and reason of an error of Compile, whose field is components.<n>….
func componentFault(f *form, all []carillon.Component, err error) (Position, string) {
	named, reason := faultOf(err)
	at, name := f.at, "template"
	var n int
	if _, err := fmt.Sscanf(named, "components.%d", &n); err == nil && n >= 0 && n < len(all) {
		name = strings.ToLower(all[n].Type)
		at = f.place(name)
	}
	return at, name + ": " + reason
}
