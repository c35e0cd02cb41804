package whatsapp

import (
	"encoding/json"
	"slices"
	"strconv"
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
	SendTTL         int                  `json:"message_send_ttl_seconds,omitempty"`
	Components      []carillon.Component `json:"components"`
}

// reviewComponents returns a template's components as the reviewer requires them: with a sample for each variable, by
// default the variable's name. A media header needs a sample file.
func reviewComponents(t *carillon.Template) ([]carillon.Component, error) {
	shape, err := content.ShapeOf(t)
	if err != nil {
		return nil, err
	}
	if shape.Code {
		if parts := reviewCode(t); parts != nil {
			return parts, nil
		}
	}
	if t.Category == content.Authentication {
		return nil, carillon.Invalid("components", "The channel takes templates of category AUTHENTICATION only as one-time codes: with a "+
			"button of type OTP and without content")
	}
	return reviewParts(t.Components, shape, t.ParameterFormat == content.Named, "components")
}

func reviewParts(parts []carillon.Component, shape *carillon.Shape, named bool, field string) ([]carillon.Component, error) {
	out := slices.Clone(parts)
	for i := range out {
		c := &out[i]
		switch kind := strings.ToUpper(c.Type); kind {
		case content.TypeHeader:
			if err := reviewHeader(c, shape, named, field); err != nil {
				return nil, err
			}
		case content.TypeBody:
			c.Example = bodySample(shape.Markers, exampleOf(c), named)
		case content.TypeButtons:
			c.Buttons = buttonSamples(c.Buttons, shape.Buttons)
		case content.TypeOffer, content.TypeCallPermission, content.TypeCarousel:
			c.Type = strings.ToLower(kind)
			cards := slices.Clone(c.Cards)
			for k := range cards {
				at := field + ".carousel.cards." + strconv.Itoa(k)
				card, err := reviewParts(cards[k].Components, &shape.Cards[k], named, at)
				if err != nil {
					return nil, err
				}
				cards[k].Components = card
			}
			c.Cards = cards
		}
	}
	return out, nil
}

func reviewHeader(c *carillon.Component, shape *carillon.Shape, named bool, field string) error {
	switch shape.HeaderFormat {
	case content.FormatText:
		c.Format, c.Example = content.FormatText, headerSample(shape.HeaderVariable, exampleOf(c), named)
	case content.FormatLocation:
	case content.FormatProduct:
		c.Format = strings.ToLower(c.Format)
	default:
		return checkHandle(c.Example, field+".header.example")
	}
	return nil
}

// reviewCode returns the components of a one-time code, or nil if its button is an author's own link. The channel writes
// its texts.
func reviewCode(t *carillon.Template) []carillon.Component {
	out := slices.Clone(t.Components)
	for i := range out {
		c := &out[i]
		switch strings.ToUpper(c.Type) {
		case content.TypeBody:
			c.Text, c.Example = "", nil
			if !c.AddSecurityRecommendation { // the channel wants the member in either case
				c.Rest = carillon.Members{"add_security_recommendation": json.RawMessage("false")}
			}
		case content.TypeFooter:
			c.Text = ""
		case content.TypeButtons:
			c.Buttons = slices.Clone(c.Buttons)
			for k := range c.Buttons {
				c.Buttons[k] = content.CodeButton(c.Buttons[k])
				if strings.EqualFold(c.Buttons[k].Type, content.ButtonURL) {
					return nil
				}
			}
		}
	}
	return out
}

func checkHandle(e *carillon.ComponentExample, field string) error {
	if e == nil || len(e.HeaderHandle) == 0 || e.HeaderHandle[0] == "" {
		return carillon.Invalid(field, "The channel reviews a media header by a sample; give header_handle, "+
			"the https address of a sample file or the handle of one uploaded to the channel")
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
		switch b := &out[i]; shapes[i].Type {
		case content.ButtonCoupon: // the channel takes one text instead of a list
			if len(b.Example) == 1 {
				text, _ := json.Marshal(b.Example[0])
				b.Example, b.Rest = nil, carillon.Members{"example": text}
			}
		case content.ButtonCall:
			b.Type = strings.ToLower(b.Type)
		default:
			if shapes[i].Variable && len(b.Example) == 0 {
				b.Example = []string{shapes[i].Prefix + "sample"}
			}
		}
	}
	return out
}

// sameContent reports whether two templates have the same content. Samples are ignored, because the channel returns
// them in another form, and so are the texts that it writes itself.
func sameContent(a, b []carillon.Component) bool {
	return slices.EqualFunc(a, b, func(x, y carillon.Component) bool {
		own := y.AddSecurityRecommendation || y.Rest["add_security_recommendation"] != nil || y.CodeExpirationMinutes > 0
		return strings.EqualFold(x.Type, y.Type) && strings.EqualFold(headerKind(x), headerKind(y)) && (own || x.Text == y.Text) &&
			slices.EqualFunc(x.Buttons, y.Buttons, sameButton) && sameOffer(x.LimitedTimeOffer, y.LimitedTimeOffer) &&
			slices.EqualFunc(x.Cards, y.Cards, func(p, q carillon.Card) bool { return sameContent(p.Components, q.Components) })
	})
}

func sameButton(p, q carillon.Button) bool {
	if q.Type == content.ButtonCode {
		return content.CodeButton(p).OTPType == q.OTPType
	}
	return strings.EqualFold(p.Type, q.Type) && p.Text == q.Text && p.URL == q.URL && p.PhoneNumber == q.PhoneNumber &&
		p.FlowID == q.FlowID && p.FlowName == q.FlowName
}

func sameOffer(p, q *carillon.Offer) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Text == q.Text && p.HasExpiration == q.HasExpiration
}

func headerKind(c carillon.Component) string {
	if c.Type == content.TypeHeader && c.Format == "" {
		return content.FormatText
	}
	return c.Format
}
