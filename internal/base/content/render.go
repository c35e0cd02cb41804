package content

import (
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Rendered is a message as its recipient sees it.
type Rendered struct {
	HeaderFormat string // empty: no header; else TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION or PRODUCT
	Header       string
	MediaURL     string
	Body         string
	Footer       string
	Buttons      []RenderedButton
	Location     *provider.HeaderLocation
	Product      *provider.Product
	Offer        string    // heading of a limited-time offer
	OfferEnds    time.Time // zero: the offer does not show its end
	Cards        []Rendered
}

// RenderedButton is a button that a recipient sees.
type RenderedButton struct {
	Type     string // upper-case type of the button; OTP for that of a one-time code
	Text     string
	URL      string
	Phone    string
	Payload  string    // of a quick reply only
	Code     string    // that the button copies: a one-time code or a coupon code
	Sections []Section // of products
}

// Render fills a template's texts with the values of one recipient.
func Render(t *carillon.Template, c *provider.Content) (*Rendered, error) {
	s, err := ShapeOf(t)
	if err != nil {
		return nil, err
	}
	r := render(t.Components, s, c, t.Language)
	return &r, nil
}

func render(components []carillon.Component, s *carillon.Shape, c *provider.Content, language string) Rendered {
	r := Rendered{HeaderFormat: s.HeaderFormat, MediaURL: c.MediaURL, Location: c.Location, Product: c.Product}
	if c.OfferEnds > 0 {
		r.OfferEnds = time.UnixMilli(c.OfferEnds)
	}
	for i := range components {
		switch part := &components[i]; strings.ToUpper(part.Type) {
		case TypeHeader:
			r.Header = replaceMarkers(part.Text, func(string) string { return c.HeaderText })
		case TypeBody:
			r.Body = replaceMarkers(textOf(part, s, language), func(name string) string {
				if i := slices.Index(s.Markers, name); i >= 0 && i < len(c.Body) {
					return c.Body[i]
				}
				return ""
			})
		case TypeFooter:
			r.Footer = part.Text
			if part.CodeExpirationMinutes > 0 && r.Footer == "" {
				r.Footer = codeFooter(language, part.CodeExpirationMinutes)
			}
		case TypeButtons:
			r.Buttons = renderButtons(part.Buttons, s, c, language)
		case TypeOffer:
			if part.LimitedTimeOffer != nil {
				r.Offer = part.LimitedTimeOffer.Text
			}
		case TypeCarousel:
			for n := range c.Cards {
				r.Cards = append(r.Cards, render(part.Cards[min(n, len(part.Cards)-1)].Components, CardShape(s, n), &c.Cards[n], language))
			}
		}
	}
	return r
}

func textOf(body *carillon.Component, s *carillon.Shape, language string) string {
	if s != nil && s.Code && !strings.Contains(body.Text, opening) {
		return codeBody(language, body.AddSecurityRecommendation)
	}
	return body.Text
}

// BodyText returns the text of a template's body with its markers. The channel writes that of a one-time code.
func BodyText(t *carillon.Template) string {
	for i := range t.Components {
		if strings.EqualFold(t.Components[i].Type, TypeBody) {
			return textOf(&t.Components[i], t.Shape, t.Language)
		}
	}
	return ""
}

func renderButtons(buttons []carillon.Button, s *carillon.Shape, c *provider.Content, language string) []RenderedButton {
	all := make([]RenderedButton, len(buttons))
	for i, b := range buttons {
		kind := s.Buttons[i].Type
		all[i] = RenderedButton{Type: kind, Text: b.Text, URL: b.URL, Phone: b.PhoneNumber}
		if b.Text == "" {
			all[i].Text = fixedLabel(language, kind)
		}
		given := slices.IndexFunc(c.Buttons, func(v provider.ButtonValue) bool { return v.Index == i })
		if given < 0 {
			continue
		}
		switch v := &c.Buttons[given]; {
		case kind == ButtonQuickReply:
			all[i].Payload = v.Value
		case kind == ButtonCode:
			all[i].URL, all[i].Code = "", v.Value
		case kind == ButtonCoupon:
			all[i].Code = v.Value
		case kind == ButtonProducts:
			all[i].Sections, _ = ParseSections(v.Products)
		case v.Destination != "" && v.Value == "":
			all[i].URL = v.Destination
		case s.Buttons[i].Variable:
			all[i].URL = s.Buttons[i].Prefix + v.Value
		}
	}
	return all
}

// replaceMarkers replaces the variables of a text by their values. Markers within a value are not replaced.
func replaceMarkers(text string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, opening)
		name, after, closed := strings.Cut(rest, closing)
		b.WriteString(before)
		if !found || !closed {
			return b.String()
		}
		b.WriteString(value(strings.TrimSpace(name)))
		text = after
	}
}
