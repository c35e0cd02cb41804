// Package hook implements webhooks: a company's endpoints and the delivery of events to them.
//
// An event is written in the same transaction as its change (internal/store/events). Each endpoint has a cursor in
// every topic and is served by one node, which reads the events behind the cursor, sends those that the endpoint
// selects, and advances the cursor. A failed event gets its own row and is retried for three days. After that it is
// given up and can be replayed manually:
//
//	behind the cursor ──▶ sent ──2xx──▶ delivered
//	                       │ else                 ┌── 2xx ──▶ delivered
//	                       └──▶ waiting ──▶ tried again ── else, within three days ──▶ waiting
//	                               ▲              └── else ──▶ failed ── replay ──▶ waiting
//
// After five consecutive failures an endpoint is down. Then one delivery at a time is tried, at growing intervals of at
// most five minutes. The other events stay behind the cursor, where they use neither rows nor memory. An endpoint that
// is down for three days, or responds 410, is disabled.
package hook

import (
	"crypto/rand"
	"encoding/base64"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/resource"
)

// Webhook is an endpoint of a company. Its URL is its name.
type Webhook struct {
	ID     string   `json:"id,omitempty"`
	URL    string   `json:"url"`
	Events []string `json:"events"` // event types; * means all
	// Campaigns and Senders, if set, restrict the events to these campaigns and sender ids. Events that have neither,
	// such as those of a template, are always sent.
	Campaigns []string `json:"campaigns,omitempty"`
	Senders   []string `json:"senders,omitempty"`
	// Ordered sends the events of one message, call, conversation or template one after the other: if one waits, later
	// ones wait too.
	Ordered bool     `json:"ordered,omitempty"`
	Paused  bool     `json:"paused,omitempty"` // nothing is sent; events accumulate
	Headers []Header `json:"headers,omitempty"`
	// SigningSecret has the text form of Standard Webhooks. If empty, one is generated.
	SigningSecret string `json:"secret,omitempty" secret:"true"`
	// PreviousSecret also signs, until PreviousUntil (RFC 3339), because receivers may still use the old secret.
	PreviousSecret string `json:"previous_secret,omitempty" secret:"true"`
	PreviousUntil  string `json:"previous_secret_until,omitempty"`
}

// Header is an additional header of every request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty" secret:"true"`
}

const (
	secretPrefix = "whsec_"
	newSecret    = 32 // bytes
	minSecret    = 24
	maxSecret    = 64
	maxHeaders   = 20
	maxValue     = 4096
	maxFilter    = 100
)

// Events returns the event types that a webhook may select.
func Events() []string { return append([]string{"*"}, Types()...) }

// Types returns all event types.
func Types() []string {
	return []string{
		"notification.accepted", "message.sent", "message.delivered", "message.read", "message.clicked", "message.failed",
		"message.canceled", "message.skipped", "message.received", "call.started", "call.completed", "call.failed",
		"template.approved", "template.rejected", "template.paused", "conversation.started", "conversation.handoff",
		"conversation.resolved", "conversation.reviewed", "feedback.received",
	}
}

// Kind returns the resource kind of webhooks.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "webhook", Plural: "webhooks", Phrase: "a webhook", NewSecret: NewSecret,
		New: func() resource.Resource { return &Webhook{} },
	}
}

// NewSecret generates a signing secret.
func NewSecret() string {
	var b [newSecret]byte
	rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// Key implements resource.Resource.
func (w *Webhook) Key() (id, name *string) { return &w.ID, &w.URL }

// Secrets implements resource.Secretive. The values of headers are bound to one server.
func (w *Webhook) Secrets() []resource.Secret {
	all := []resource.Secret{{Value: &w.SigningSecret}, {Name: "previous_secret", Value: &w.PreviousSecret}}
	server := ""
	if u, err := url.Parse(w.URL); err == nil {
		server = u.Scheme + "://" + u.Host
	}
	for i := range w.Headers {
		all = append(all, resource.Secret{Name: "headers." + strings.ToLower(w.Headers[i].Name), Value: &w.Headers[i].Value, Use: server})
	}
	return all
}

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
	c.That(len(w.Events) > 0, "events", "Must name a type of events, or *")
	checkFilter(&c, "campaigns", w.Campaigns)
	checkFilter(&c, "senders", w.Senders)
	w.checkHeaders(&c)
	c.That(w.SigningSecret == "" || validSecret(w.SigningSecret), "secret", badSecret)
	c.That(w.PreviousSecret == "" || validSecret(w.PreviousSecret), "previous_secret", badSecret)
	if w.PreviousUntil != "" {
		_, err := time.Parse(time.RFC3339, w.PreviousUntil)
		c.That(err == nil, "previous_secret_until", "Must be an instant in RFC 3339")
	}
	return c.Err()
}

const badSecret = "Must be whsec_ and the base64 of 24 to 64 bytes" //nolint:gosec // describes the form of a secret

func validSecret(s string) bool {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, secretPrefix))
	return err == nil && strings.HasPrefix(s, secretPrefix) && minSecret <= len(raw) && len(raw) <= maxSecret
}

func checkFilter(c *resource.Check, field string, values []string) {
	c.That(len(values) <= maxFilter, field, "Must name at most 100")
	for i, v := range values {
		c.That(v != "" && len(v) <= maxValue, resource.Index(field, i), "Must not be empty")
	}
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,100}$`)

// ownHeaders are set by the program or by the connection.
var ownHeaders = []string{ //nolint:gochecknoglobals // read-only
	"Host", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Trailer", "Te", "Upgrade",
	"Expect", "Keep-Alive", "Proxy-Connection",
	"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature",
}

func (w *Webhook) checkHeaders(c *resource.Check) {
	c.That(len(w.Headers) <= maxHeaders, "headers", "Must be at most 20")
	seen := map[string]bool{}
	for i := range w.Headers {
		h := &w.Headers[i]
		at := resource.Index("headers", i)
		name := textproto.CanonicalMIMEHeaderKey(h.Name)
		c.That(headerName.MatchString(h.Name), at+".name", "Must be the name of an HTTP header")
		c.That(!slices.Contains(ownHeaders, name), at+".name", "Is set by Carillon")
		c.That(!seen[name], at+".name", "Stands there twice")
		seen[name] = true
		c.That(len(h.Value) <= maxValue && !strings.ContainsAny(h.Value, "\r\n\x00"), at+".value", "Must be one line of at most 4096 bytes")
	}
}

// Rotate sets a new signing secret. The previous one also signs until an instant.
func (w *Webhook) Rotate(secret string, until time.Time) {
	w.PreviousSecret, w.PreviousUntil = w.SigningSecret, carillon.FormatTime(until)
	w.SigningSecret = secret
}

// secrets returns the secrets that sign at an instant.
func (w *Webhook) secrets(now time.Time) []string {
	all := []string{w.SigningSecret}
	if w.PreviousSecret != "" {
		if until, err := time.Parse(time.RFC3339, w.PreviousUntil); w.PreviousUntil == "" || err == nil && now.Before(until) {
			all = append(all, w.PreviousSecret)
		}
	}
	return all
}
