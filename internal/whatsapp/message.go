package whatsapp

import (
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/content"
)

// appendMessage appends the body of a template message. It does not marshal a struct because it runs once per message; the
// golden files check the form. The message fits the compiled template t (misfit).
func appendMessage(b []byte, m *carillon.Outgoing, t *carillon.Template) []byte {
	b = append(b, `{"messaging_product":"whatsapp","recipient_type":"individual","to":`...)
	b = appendQuoted(b, m.Number)
	b = append(b, `,"type":"template","biz_opaque_callback_data":`...)
	b = appendQuoted(b, m.Ref.String())
	b = append(b, `,"template":{"name":`...)
	b = appendQuoted(b, t.Name)
	b = append(b, `,"language":{"code":`...)
	b = appendQuoted(b, t.Language)
	b = append(b, '}')
	mark := len(b)
	b = append(b, `,"components":[`...)
	empty := len(b)
	named := t.ParameterFormat == content.Named
	b = appendHeader(b, &m.Content, t.Shape, named)
	b = appendBody(b, m.Content.Body, t.Shape.Markers, named)
	for _, v := range m.Content.Buttons {
		b = appendButton(b, v)
	}
	if len(b) == empty {
		return append(b[:mark], '}', '}')
	}
	b[len(b)-1] = ']' // over the last component's comma
	return append(b, '}', '}')
}

func appendHeader(b []byte, c *carillon.Content, shape *carillon.Shape, named bool) []byte {
	switch shape.HeaderFormat {
	case "":
		return b
	case content.FormatText:
		if shape.HeaderVariable == "" {
			return b
		}
		b = append(b, `{"type":"header","parameters":[`...)
		b = appendText(b, c.HeaderText, shape.HeaderVariable, named)
		return append(b, `]},`...)
	default:
		kind := strings.ToLower(shape.HeaderFormat)
		b = append(b, `{"type":"header","parameters":[{"type":"`...)
		b = append(b, kind...)
		b = append(b, `","`...)
		b = append(b, kind...)
		b = append(b, `":{"link":`...)
		b = appendQuoted(b, c.MediaURL)
		if kind == "document" {
			if file := fileName(c.MediaURL); file != "" {
				b = append(b, `,"filename":`...)
				b = appendQuoted(b, file)
			}
		}
		return append(b, `}}]},`...)
	}
}

func appendBody(b []byte, values, names []string, named bool) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(b, `{"type":"body","parameters":[`...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, v, names[i], named)
	}
	return append(b, `]},`...)
}

func appendText(b []byte, value, name string, named bool) []byte {
	b = append(b, `{"type":"text",`...)
	if named {
		b = append(b, `"parameter_name":`...)
		b = appendQuoted(b, name)
		b = append(b, ',')
	}
	b = append(b, `"text":`...)
	b = appendQuoted(b, value)
	return append(b, '}')
}

// appendButton appends the variable end of a URL, or the payload of a quick reply.
func appendButton(b []byte, v carillon.ButtonValue) []byte {
	b = append(b, `{"type":"button","sub_type":"`...)
	b = append(b, v.Kind...)
	b = append(b, `","index":"`...)
	b = strconv.AppendInt(b, int64(v.Index), 10)
	if v.Kind == kindQuickReply {
		b = append(b, `","parameters":[{"type":"payload","payload":`...)
	} else {
		b = append(b, `","parameters":[{"type":"text","text":`...)
	}
	b = appendQuoted(b, v.Value)
	return append(b, `}]},`...)
}

// messageRoom is a capacity that suffices for most bodies.
func messageRoom(m *carillon.Outgoing) int {
	n := 512 + len(m.Content.HeaderText) + 2*len(m.Content.MediaURL)
	for _, v := range m.Content.Body {
		n += len(v) + len(v)/8 + 64
	}
	for _, v := range m.Content.Buttons {
		n += len(v.Value) + 96
	}
	return n
}
