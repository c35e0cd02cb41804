package whatsapp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// Send posts one template message to the channel, once, and judges the result. The message carries its Ref, which
// every later callback repeats.
func (c *Client) Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	a, err := c.account(s)
	if err != nil {
		return provider.Outcome{
			Verdict: provider.PauseSender, Reason: carillon.ReasonProviderRefused,
			Detail: carillon.Shorten(err.Error()), Fault: provider.FaultAccount,
		}
	}
	shape, err := content.ShapeOf(m.Template)
	if err != nil {
		return changed(err)
	}
	if m.Content.MediaURL != "" && !acceptsMedia(shape.HeaderFormat, m.Content.MediaURL) {
		return provider.Outcome{
			Verdict: provider.Refused, Reason: carillon.ReasonMediaRejected,
			Detail: "the channel accepts no such file in a header of format " + shape.HeaderFormat,
		}
	}
	body, err := encodeMessage(m, shape)
	if err != nil {
		return changed(err)
	}
	got, err := c.exchange(ctx, a, http.MethodPost, a.messages, body)
	if err != nil {
		return judgeError(err)
	}
	return judge(got, m.Ref.Attempt)
}

func changed(err error) provider.Outcome {
	return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonTemplateRejected, Detail: carillon.Shorten(err.Error())}
}

// judgeError separates messages that were certainly not sent from those that may have been. An unreachable channel
// affects every message of the sender: the lane pauses and probes with one message at a time, so that an outage of
// hours uses up no message's attempts.
func judgeError(err error) provider.Outcome {
	var e *exchangeError
	if !errors.As(err, &e) || e.written {
		return unknown("no whole response: " + carillon.Shorten(err.Error()))
	}
	out := provider.Outcome{
		Verdict: provider.RetryLater, Reason: carillon.ReasonAttemptsExhausted,
		Detail: "not sent: " + carillon.Shorten(err.Error()), Fault: provider.FaultUnreachable,
	}
	if unreachable(err) {
		out.Verdict = provider.PauseSender
	}
	return out
}

// unreachable reports whether the channel could not be dialed or its certificate could not be verified. Other
// connections broke later.
func unreachable(err error) bool {
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &cert)
}

// maxReason bounds the channel's own texts for a template's author, in bytes.
const maxReason = 1000

func shorten(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// message is the body of a template message. Golden files check its form.
type message struct {
	Product       string `json:"messaging_product"`
	RecipientType string `json:"recipient_type"`
	To            string `json:"to,omitempty"`
	Recipient     string `json:"recipient,omitempty"` // the channel's id of a person; it would be lost in To
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

// parameter is one value. Type names the member that is set.
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

// encodeMessage returns the body of a template message. shape is that of the template.
func encodeMessage(m *provider.Outgoing, shape *carillon.Shape) ([]byte, error) {
	t := m.Template
	b := message{Product: "whatsapp", RecipientType: "individual", To: m.Number, Type: "template", Data: m.Ref.String()}
	if m.Number == "" {
		b.Recipient = m.UserID
	}
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
		value := parameter{Type: "text", Text: &v.Value} // the variable suffix of a URL
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
