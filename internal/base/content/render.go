package content

import (
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/provider"
)

// Rendered is a message as its recipient sees it.
type Rendered struct {
	HeaderFormat string // empty: no header; else TEXT, IMAGE, VIDEO or DOCUMENT
	Header       string
	MediaURL     string
	Body         string
	Footer       string
	Buttons      []RenderedButton
}

// RenderedButton is a button that a recipient sees.
type RenderedButton struct {
	Type    string // URL, QUICK_REPLY, PHONE_NUMBER
	Text    string
	URL     string
	Phone   string
	Payload string // of a quick reply only
}

// Render fills a template's texts with the values of one recipient.
func Render(t *carillon.Template, c *provider.Content) (*Rendered, error) {
	s, err := ShapeOf(t)
	if err != nil {
		return nil, err
	}
	r := &Rendered{HeaderFormat: s.HeaderFormat, MediaURL: c.MediaURL}
	for i := range t.Components {
		switch part := &t.Components[i]; part.Type {
		case TypeHeader:
			r.Header = replaceMarkers(part.Text, func(string) string { return c.HeaderText })
		case TypeBody:
			r.Body = replaceMarkers(part.Text, func(name string) string {
				if i := slices.Index(s.Markers, name); i >= 0 && i < len(c.Body) {
					return c.Body[i]
				}
				return ""
			})
		case TypeFooter:
			r.Footer = part.Text
		case TypeButtons:
			r.Buttons = renderButtons(part.Buttons, s, c)
		}
	}
	return r, nil
}

func renderButtons(buttons []carillon.Button, s *carillon.Shape, c *provider.Content) []RenderedButton {
	all := make([]RenderedButton, len(buttons))
	for i, b := range buttons {
		all[i] = RenderedButton{Type: b.Type, Text: b.Text, URL: b.URL, Phone: b.PhoneNumber}
		given := slices.IndexFunc(c.Buttons, func(v provider.ButtonValue) bool { return v.Index == i })
		switch {
		case given >= 0 && b.Type == ButtonQuickReply:
			all[i].Payload = c.Buttons[given].Value
		case given >= 0 && s.Buttons[i].Variable:
			all[i].URL = s.Buttons[i].Prefix + c.Buttons[given].Value
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
