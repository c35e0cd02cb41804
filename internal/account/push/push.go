// Package push sends web push messages to browsers of members (RFC 8030): encrypted for the browser (RFC 8291) and signed with
// the installation's key pair (RFC 8292). It does not decide who gets which message.
package push

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/store/accounts"
)

const (
	timeout = 5 * time.Second
	maxBody = 4 << 10 // bytes of a push service's response
	// slowFor is the time for which an endpoint that did not respond gets no messages, because it would hold up the
	// others.
	slowFor = 5 * time.Minute
	maxSlow = 1000
	// maxEndpoint bounds the characters of an endpoint.
	maxEndpoint = 1000
	// MaxText bounds the characters of a message's title and text.
	MaxText = 160
)

// ErrGone means that the browser no longer accepts messages, so the subscription is useless.
var ErrGone = errors.New("the push subscription has ended")

// ErrSlow means that an endpoint has not responded recently and is skipped for a while.
var ErrSlow = errors.New("the push service did not respond lately")

// NewClient returns a client for push services: HTTPS to public addresses, without redirects.
func NewClient(o egress.Options) *egress.Client {
	o.Timeout, o.MaxBody, o.Redirects = timeout, maxBody, -1
	return egress.New(o)
}

// Options configure a Pusher.
type Options struct {
	Notices *accounts.Notices
	Client  *egress.Client // see NewClient
	// Contact returns the address at which push services reach the operator: an HTTPS URL or an e-mail address.
	Contact func() string
	Now     func() time.Time // default time.Now
}

// Pusher sends messages. Its methods are safe for concurrent use.
type Pusher struct {
	o    Options
	mu   sync.Mutex
	slow map[string]time.Time // by subscription
}

// New returns a pusher.
func New(o Options) *Pusher {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Pusher{o: o, slow: map[string]time.Time{}}
}

// Message is the content of a notification. URL is the path of the panel that opens; messages with the same Tag replace each other.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body,omitempty"`
	Tag   string `json:"tag"`
	URL   string `json:"url"`
}

// PublicKey returns the public key with which browsers subscribe, base64url. It makes the pair at the first call.
func (p *Pusher) PublicKey(ctx context.Context) (string, error) {
	_, public, err := p.o.Notices.PushKey(ctx, p.o.Now(), webpush.GenerateVAPIDKeys)
	return public, err
}

// Check refuses a subscription with an endpoint that may not be reached, or without valid keys. Errors: validation_failed.
func (p *Pusher) Check(ctx context.Context, x *accounts.Subscription) error {
	u, err := endpoint(x.Endpoint)
	if err != nil {
		return err
	}
	var denied *egress.DeniedError
	if err := p.o.Client.Admit(ctx, u); errors.As(err, &denied) {
		return carillon.Invalid("endpoint", "Must be a public address")
	} else if err != nil {
		return carillon.Invalid("endpoint", "Must be the address of a push service")
	}
	if raw, err := base64.RawURLEncoding.DecodeString(x.P256DH); err != nil || len(raw) != 65 || raw[0] != 4 {
		return carillon.Invalid("p256dh", "Must be a public key, in base64url")
	}
	if raw, err := base64.RawURLEncoding.DecodeString(x.Auth); err != nil || len(raw) != 16 {
		return carillon.Invalid("auth", "Must be a secret of 16 bytes, in base64url")
	}
	return nil
}

func endpoint(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || len(address) > maxEndpoint {
		return nil, carillon.Invalid("endpoint", "Must be an HTTPS URL")
	}
	return u, nil
}

// Send sends a message, which the push service keeps for life while the browser is away. Errors: ErrGone, ErrSlow. No error
// contains the endpoint.
func (p *Pusher) Send(ctx context.Context, x *accounts.Subscription, m Message, life time.Duration) error {
	if _, err := endpoint(x.Endpoint); err != nil {
		return ErrGone // a stored one was checked
	}
	if p.isSlow(x.ID) {
		return ErrSlow
	}
	private, public, err := p.o.Notices.PushKey(ctx, p.o.Now(), webpush.GenerateVAPIDKeys)
	if err != nil {
		return err
	}
	m.Title, m.Body = cut(m.Title), cut(m.Body)
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	response, err := webpush.SendNotificationWithContext(ctx, text, &webpush.Subscription{
		Endpoint: x.Endpoint, Keys: webpush.Keys{Auth: x.Auth, P256dh: x.P256DH},
	}, &webpush.Options{
		HTTPClient: p.o.Client, Subscriber: p.o.Contact(), TTL: int(life / time.Second), Urgency: webpush.UrgencyHigh,
		Topic: topic(m.Tag), VAPIDPublicKey: public, VAPIDPrivateKey: private,
	})
	if err != nil {
		p.setSlow(x.ID)
		return fmt.Errorf("send a push message: %w", err)
	}
	_ = response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone:
		return ErrGone
	case response.StatusCode == http.StatusTooManyRequests:
		p.setSlow(x.ID)
		return ErrSlow
	case response.StatusCode/100 != 2:
		return fmt.Errorf("send a push message: the push service responded %d", response.StatusCode)
	}
	return nil
}

// topic returns the topic of a tag, under which a push service keeps one message: at most 32 characters of base64url.
func topic(tag string) string {
	tag = strings.ReplaceAll(tag, "-", "")
	return tag[:min(len(tag), 32)]
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > MaxText {
		return string(runes[:MaxText-1]) + "…"
	}
	return text
}

func (p *Pusher) isSlow(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, slow := p.slow[id]
	return slow && p.o.Now().Before(until)
}

func (p *Pusher) setSlow(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.slow) >= maxSlow {
		clear(p.slow)
	}
	p.slow[id] = p.o.Now().Add(slowFor)
}
