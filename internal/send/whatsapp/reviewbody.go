package whatsapp

import (
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/content"
)

// reviewBody is the body that creates a template. A part of it edits one. Components have the same form as in our
// lists.
type reviewBody struct {
	Name            string               `json:"name,omitempty"`
	Language        string               `json:"language,omitempty"`
	Category        string               `json:"category,omitempty"`
	ParameterFormat string               `json:"parameter_format,omitempty"`
	Components      []carillon.Component `json:"components"`
}

// reviewComponents returns a template's components as the reviewer requires them: with a sample for each variable, by
// default the variable's name. A media header needs the handle of a sample that was uploaded to the channel.
func reviewComponents(t *carillon.Template) ([]carillon.Component, error) {
	shape, err := content.ShapeOf(t)
	if err != nil {
		return nil, err
	}
	named := t.ParameterFormat == content.Named
	out := slices.Clone(t.Components)
	for i := range out {
		c := &out[i]
		switch {
		case c.Type == content.TypeHeader && shape.HeaderFormat == content.FormatText:
			c.Format, c.Example = content.FormatText, headerSample(shape.HeaderVariable, exampleOf(c), named)
		case c.Type == content.TypeHeader:
			if err := checkHandle(c.Example); err != nil {
				return nil, err
			}
		case c.Type == content.TypeBody:
			c.Example = bodySample(shape.Markers, exampleOf(c), named)
		case c.Type == content.TypeButtons:
			c.Buttons = buttonSamples(c.Buttons, shape.Buttons)
		}
	}
	return out, nil
}

func checkHandle(e *carillon.ComponentExample) error {
	const field = "components.header.example"
	if e == nil || len(e.HeaderHandle) == 0 || e.HeaderHandle[0] == "" {
		return carillon.Invalid(field, "The channel reviews a media header by a sample; give header_handle, "+
			"the handle of a sample file uploaded to the channel")
	}
	if strings.Contains(e.HeaderHandle[0], "://") {
		return carillon.Invalid(field, "header_handle must be the handle that the channel gave for an uploaded sample file, not an address")
	}
	return nil
}

func headerSample(variable string, given carillon.ComponentExample, named bool) *carillon.ComponentExample {
	switch {
	case variable == "":
		return nil
	case named:
		return &carillon.ComponentExample{HeaderTextNamedParams: namedSamples([]string{variable}, given.HeaderTextNamedParams)}
	}
	return &carillon.ComponentExample{HeaderText: samples([]string{variable}, given.HeaderText)}
}

func bodySample(variables []string, given carillon.ComponentExample, named bool) *carillon.ComponentExample {
	switch {
	case len(variables) == 0:
		return nil
	case named:
		return &carillon.ComponentExample{BodyTextNamedParams: namedSamples(variables, given.BodyTextNamedParams)}
	}
	var row []string
	if len(given.BodyText) > 0 {
		row = given.BodyText[0]
	}
	return &carillon.ComponentExample{BodyText: [][]string{samples(variables, row)}}
}

func exampleOf(c *carillon.Component) carillon.ComponentExample {
	if c.Example == nil {
		return carillon.ComponentExample{}
	}
	return *c.Example
}

func samples(vars, given []string) []string {
	out := make([]string, len(vars))
	for i, v := range vars {
		out[i] = v
		if i < len(given) && given[i] != "" {
			out[i] = given[i]
		}
	}
	return out
}

func namedSamples(vars []string, given []carillon.NamedExample) []carillon.NamedExample {
	out := make([]carillon.NamedExample, len(vars))
	for i, v := range vars {
		out[i] = carillon.NamedExample{ParamName: v, Example: v}
		at := slices.IndexFunc(given, func(g carillon.NamedExample) bool { return g.ParamName == v })
		if at >= 0 && given[at].Example != "" {
			out[i].Example = given[at].Example
		}
	}
	return out
}

func buttonSamples(buttons []carillon.Button, shapes []carillon.ButtonShape) []carillon.Button {
	out := slices.Clone(buttons)
	for i := range out {
		if shapes[i].Variable && len(out[i].Example) == 0 {
			out[i].Example = []string{shapes[i].Prefix + "sample"}
		}
	}
	return out
}

// sameContent reports whether two templates have the same content. Samples are ignored, because the channel returns
// them in another form.
func sameContent(a, b []carillon.Component) bool {
	return slices.EqualFunc(a, b, func(x, y carillon.Component) bool {
		return x.Type == y.Type && headerKind(x) == headerKind(y) && x.Text == y.Text &&
			slices.EqualFunc(x.Buttons, y.Buttons, func(p, q carillon.Button) bool {
				return p.Type == q.Type && p.Text == q.Text && p.URL == q.URL && p.PhoneNumber == q.PhoneNumber
			})
	})
}

func headerKind(c carillon.Component) string {
	if c.Type == content.TypeHeader && c.Format == "" {
		return content.FormatText
	}
	return c.Format
}
