package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"carillon"
	"carillon/internal/store/events"
)

const (
	// Timeout bounds the response time of an endpoint.
	Timeout      = 15 * time.Second
	maxResponse  = 64 << 10 // bytes read of a response beyond those that are stored
	keptRequest  = 8 << 10  // stored bytes of a request body
	keptResponse = 2 << 10
	keptReason   = 500
)

// send posts an event to an endpoint and returns the outcome.
func (d *Deliverer) send(ctx context.Context, companyID string, w *Webhook, b *Body, subject string, n int) (events.Attempt, outcome) {
	began := d.o.Now()
	a := events.Attempt{
		ID: carillon.NewID(began), CompanyID: companyID, WebhookID: w.ID, EventID: b.ID, Kind: b.Type, Subject: subject, N: n, At: began,
	}
	text, err := json.Marshal(b)
	if err != nil {
		a.Error = "The event could not be written"
		return a, outcome{}
	}
	a.Request = shorten(text, keptRequest)
	o, err := d.post(ctx, w, b.ID, text, &a)
	a.Took, a.OK = d.o.Now().Sub(began), o.ok
	if err != nil {
		a.Error = reason(err)
	}
	d.o.Attempted(o.ok, a.Took)
	return a, o
}

func (d *Deliverer) post(ctx context.Context, w *Webhook, id string, text []byte, a *events.Attempt) (outcome, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(text))
	if err != nil {
		return outcome{}, errors.New("the address is not valid")
	}
	for _, h := range w.Headers {
		req.Header.Set(h.Name, h.Value)
	}
	now := d.o.Now()
	signature, err := sign(w.secrets(now), id, now, text)
	if err != nil {
		return outcome{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "Carillon")
	}
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", signature)
	resp, err := d.o.Client.Do(req)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a.Status = resp.StatusCode
	body, err := io.ReadAll(io.LimitReader(resp.Body, keptResponse))
	a.Response = shorten(body, keptResponse)
	if err == nil { // drain the body so that the connection can be reused, unless it is too long
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse))
	}
	o := judge(resp.StatusCode, resp.Header, now)
	switch {
	case o.ok: // even if the body was cut off
		return o, nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return o, fmt.Errorf("it redirects (%d), which is not followed: give the final address", resp.StatusCode)
	}
	return o, fmt.Errorf("it responded %d", resp.StatusCode)
}

// sign returns one signature per secret, in the format of Standard Webhooks.
func sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	all := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		w, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", errors.New("the signing secret is not valid")
		}
		s, err := w.Sign(id, at, body)
		if err != nil {
			return "", errors.New("the event could not be signed")
		}
		all = append(all, s)
	}
	return strings.Join(all, " "), nil
}

func shorten(text []byte, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "�"), "\x00", "�")
}
