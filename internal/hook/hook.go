// Package hook is the webhooks by which a company learns of events: their configuration.
package hook

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"carillon/internal/resource"
)

// Webhook is an endpoint of the company. Its address is its name.
type Webhook struct {
	ID     string   `json:"id,omitempty"`
	URL    string   `json:"url"`
	Events []string `json:"events"` // types of events; * is all
	// SigningSecret is in the text form of Standard Webhooks; one is made where it is left out.
	SigningSecret string `json:"secret,omitempty" secret:"true"`
}

const (
	secretPrefix = "whsec_"
	newSecret    = 32 // bytes
	minSecret    = 24
	maxSecret    = 64
)

// Events are the types of events that a webhook may ask for.
func Events() []string {
	return []string{
		"*", "notification.accepted", "message.sent", "message.delivered", "message.read", "message.failed",
		"message.canceled", "message.skipped", "message.received", "call.started", "call.completed", "call.failed",
		"template.approved", "template.rejected", "template.paused", "conversation.started", "conversation.handoff",
		"conversation.resolved", "feedback.received",
	}
}

// Kind describes webhooks.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "webhook", Plural: "webhooks", Phrase: "a webhook", NewSecret: makeSecret,
		New: func() resource.Resource { return &Webhook{} },
	}
}

func makeSecret() string {
	var b [newSecret]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// Key implements resource.Resource.
func (w *Webhook) Key() (id, name *string) { return &w.ID, &w.URL }

// Secrets implements resource.Secretive.
func (w *Webhook) Secrets() []resource.Secret { return []resource.Secret{{Value: &w.SigningSecret}} }

// Validate implements resource.Resource.
func (w *Webhook) Validate() error {
	var c resource.Check
	c.UUID("id", &w.ID)
	c.Required("url", w.URL)
	if w.URL != "" {
		c.Address("url", w.URL)
	}
	if w.Events == nil {
		w.Events = []string{"*"}
	}
	c.Words("events", &w.Events, Events()...)
	if w.SigningSecret != "" {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(w.SigningSecret, secretPrefix))
		c.That(err == nil && strings.HasPrefix(w.SigningSecret, secretPrefix) && minSecret <= len(raw) && len(raw) <= maxSecret,
			"secret", "Must be whsec_ and the base64 of 24 to 64 bytes")
	}
	return c.Err()
}
