package whatsapp

import (
	"carillon"
	"carillon/internal/content"
)

// compiled is the template with its shape: as the store gives it, else a compiled copy, for others read the template.
func compiled(t *carillon.Template) (*carillon.Template, error) {
	if t.Shape != nil {
		return t, nil
	}
	c := *t
	if err := content.Compile(&c); err != nil {
		return nil, err
	}
	return &c, nil
}

// misfit says why a message does not fill the places of its template, empty when it does. They were in accord at
// acceptance, so that a template changed since then is the cause; the channel would answer 132000 or 132012.
func misfit(s *carillon.Shape, c *carillon.Content) string {
	media := s.HeaderFormat != "" && s.HeaderFormat != content.FormatText
	switch {
	case media != (c.MediaURL != ""), (s.HeaderVariable != "") != (c.HeaderText != ""):
		return "the template's header is not the message's"
	case len(s.Markers) != len(c.Body):
		return "the template has other variables than the message"
	}
	filled := 0
	for _, v := range c.Buttons {
		if v.Index < 0 || v.Index >= len(s.Buttons) {
			return "the template lacks a button of the message"
		}
		switch b := s.Buttons[v.Index]; {
		case v.Kind == kindURL && b.Variable:
			filled++
		case v.Kind == kindQuickReply && b.Type == content.ButtonQuickReply:
		default:
			return "a button of the template is not the message's"
		}
	}
	for _, b := range s.Buttons {
		if b.Variable {
			filled--
		}
	}
	if filled != 0 {
		return "a button of the template lacks its value"
	}
	return ""
}

// The kinds of carillon.ButtonValue, which are the channel's sub_types.
const (
	kindURL        = "url"
	kindQuickReply = "quick_reply"
)
