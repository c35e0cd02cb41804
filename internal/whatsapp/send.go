package whatsapp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/provider"
)

// Send posts one template message to the channel, once, and judges the result. The message carries its Ref, which every
// later callback repeats.
func (c *Client) Send(ctx context.Context, s *carillon.Sender, m *provider.Outgoing) provider.Outcome {
	a, err := c.account(s)
	if err != nil {
		return provider.Outcome{
			Verdict: provider.PauseSender, Reason: carillon.ReasonProviderRefused,
			Detail: carillon.Shorten(err.Error()), Fault: provider.FaultAccount,
		}
	}
	t, out, ok := prepare(m)
	if !ok {
		return out
	}
	body, err := encodeMessage(m, t)
	if err != nil {
		return changed(carillon.Shorten(err.Error()))
	}
	got, err := c.exchange(ctx, http.MethodPost, a.messages, a.header, body)
	if err != nil {
		return judgeError(err)
	}
	return judge(got, m.Ref.Attempt)
}

// prepare refuses what the channel would refuse: values that no longer fit the template, media of a type that the
// channel does not accept.
func prepare(m *provider.Outgoing) (*carillon.Template, provider.Outcome, bool) {
	t, err := compiled(m.Template)
	if err != nil {
		return nil, changed(carillon.Shorten(err.Error())), false
	}
	if why := misfit(t.Shape, &m.Content); why != "" {
		return nil, changed(why), false
	}
	if m.Content.MediaURL != "" && !acceptsMedia(t.Shape.HeaderFormat, m.Content.MediaURL) {
		return nil, provider.Outcome{
			Verdict: provider.Refused, Reason: carillon.ReasonMediaRejected,
			Detail: "the channel accepts no such file in a header of format " + t.Shape.HeaderFormat,
		}, false
	}
	return t, provider.Outcome{}, true
}

func changed(detail string) provider.Outcome {
	return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonTemplateRejected, Detail: detail}
}

// judgeError separates what was certainly not sent from what may have been. A channel that cannot be reached at all
// concerns every message of the sender: the lane pauses and probes with one message at a time, so that an outage of hours
// uses up no message's attempts.
func judgeError(err error) provider.Outcome {
	var e *exchangeError
	if !errors.As(err, &e) || e.written {
		return unknown("no whole response: " + carillon.Shorten(err.Error()))
	}
	out := notSent(err)
	if unreachable(err) {
		out.Verdict = provider.PauseSender
	}
	return out
}

// unreachable reports whether the channel could not be dialed or its certificate not verified; other connections broke later.
func unreachable(err error) bool {
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &cert)
}

func notSent(err error) provider.Outcome {
	return provider.Outcome{
		Verdict: provider.RetryLater, Reason: carillon.ReasonAttemptsExhausted,
		Detail: "not sent: " + carillon.Shorten(err.Error()), Fault: provider.FaultUnreachable,
	}
}

// maxReason bounds the channel's own texts for a template's author, in bytes.
const maxReason = 1000

func shorten(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
