package whatsapp

import (
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// message is the body of a template message; the golden files check the form.
type message struct {
	Product       string `json:"messaging_product"`
	RecipientType string `json:"recipient_type"`
	To            string `json:"to"`
	Type          string `json:"type"`
	Data          string `json:"biz_opaque_callback_data"`
	Template      struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []component `json:"components,omitempty"`
	} `json:"template"`
}

// component holds the values of one component of the template.
type component struct {
	Type       string      `json:"type"`
	SubType    string      `json:"sub_type,omitempty"`
	Index      string      `json:"index,omitempty"`
	Parameters []parameter `json:"parameters"`
}

// parameter is one value; Type names the member that is set.
type parameter struct {
	Type     string  `json:"type"`
	Name     string  `json:"parameter_name,omitempty"`
	Text     *string `json:"text,omitempty"`
	Payload  *string `json:"payload,omitempty"`
	Image    *media  `json:"image,omitempty"`
	Video    *media  `json:"video,omitempty"`
	Document *media  `json:"document,omitempty"`
}

type media struct {
	Link     string `json:"link"`
	Filename string `json:"filename,omitempty"`
}

// encodeMessage returns the body of a template message; shape is the template's.
func encodeMessage(m *provider.Outgoing, shape *carillon.Shape) ([]byte, error) {
	t := m.Template
	b := message{Product: "whatsapp", RecipientType: "individual", To: m.Number, Type: "template", Data: m.Ref.String()}
	b.Template.Name, b.Template.Language.Code = t.Name, t.Language
	named := t.ParameterFormat == content.Named
	add := func(c component) { b.Template.Components = append(b.Template.Components, c) }
	switch format := shape.HeaderFormat; {
	case format == content.FormatText && shape.HeaderVariable != "":
		add(component{Type: "header", Parameters: texts([]string{m.Content.HeaderText}, []string{shape.HeaderVariable}, named)})
	case format != content.FormatText && format != "":
		add(component{Type: "header", Parameters: []parameter{mediaParameter(format, m.Content.MediaURL)}})
	}
	if len(m.Content.Body) > 0 {
		add(component{Type: "body", Parameters: texts(m.Content.Body, shape.Markers, named)})
	}
	for _, v := range m.Content.Buttons {
		value := parameter{Type: "text", Text: &v.Value} // the variable end of a URL
		if v.Kind == "quick_reply" {
			value = parameter{Type: "payload", Payload: &v.Value}
		}
		add(component{Type: "button", SubType: v.Kind, Index: strconv.Itoa(v.Index), Parameters: []parameter{value}})
	}
	return encode(b)
}

func texts(values, names []string, named bool) []parameter {
	all := make([]parameter, len(values))
	for i := range values {
		all[i] = parameter{Type: "text", Text: &values[i]}
		if named {
			all[i].Name = names[i]
		}
	}
	return all
}

func mediaParameter(format, address string) parameter {
	p, file := parameter{Type: strings.ToLower(format)}, &media{Link: address}
	switch format {
	case content.FormatImage:
		p.Image = file
	case content.FormatVideo:
		p.Video = file
	default:
		file.Filename = fileName(address)
		p.Document = file
	}
	return p
}
