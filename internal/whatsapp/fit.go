package whatsapp

import (
	"carillon"
	"carillon/internal/content"
	"carillon/internal/provider"
)

// compiled returns the template with its shape: as the store has it, else a compiled copy, since others read the template.
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

// misfit is why a message does not match the variables of its template; empty when it does. They matched at acceptance, so
// the template has changed since; the channel would respond with 132000 or 132012.
func misfit(s *carillon.Shape, c *provider.Content) string {
	media := s.HeaderFormat != "" && s.HeaderFormat != content.FormatText
	switch {
	case media != (c.MediaURL != ""), (s.HeaderVariable != "") != (c.HeaderText != ""):
		return "the template's header differs from the message's"
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
			return "a button of the template differs from the message's"
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

// The kinds of provider.ButtonValue, which are the channel's sub_types.
const (
	kindURL        = "url"
	kindQuickReply = "quick_reply"
)
