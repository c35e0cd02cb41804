package whatsapp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
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
	if len(shape.Unknown) > 0 {
		return changed(errors.New("the template has parts that cannot be sent from here: " + strings.Join(shape.Unknown, ", ")))
	}
	if format := refusedMedia(m, shape); format != "" {
		return provider.Outcome{
			Verdict: provider.Refused, Reason: carillon.ReasonMediaRejected,
			Detail: "the channel accepts no such file in a header of format " + format,
		}
	}
	body, err := encodeMessage(m, shape)
	if err != nil {
		return changed(err)
	}
	if asksForCalls(m.Template) {
		if refused := c.mayNotAsk(ctx, s, m.Number, m.UserID); refused != nil {
			return *refused
		}
	}
	got, err := c.exchange(ctx, a, http.MethodPost, a.messages, body)
	if err != nil {
		return judgeError(err)
	}
	return judge(got, m.Ref.Attempt)
}

// refusedMedia returns the format of a header whose file the channel does not accept, or "".
func refusedMedia(m *provider.Outgoing, shape *carillon.Shape) string {
	if c := &m.Content; c.MediaURL != "" && !acceptsMedia(shape.HeaderFormat, c.MediaURL) {
		return shape.HeaderFormat
	}
	for i := range m.Content.Cards {
		card, c := content.CardShape(shape, i), &m.Content.Cards[i]
		if card != nil && c.MediaURL != "" && !acceptsMedia(card.HeaderFormat, c.MediaURL) {
			return card.HeaderFormat
		}
	}
	return ""
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
