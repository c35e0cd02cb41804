package config

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	colorForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
	wordForm  = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)
)

func (c *company) widget(f *form) {
	d := Document{Kind: KindWidget, ID: uuid(f), Name: short(f, "name")}
	origins := []string{}
	for _, x := range f.items("allowed_origins") {
		origin, ok := f.textOf(x)
		if ok && !validOrigin(origin) {
			f.wrong(x, "must hold origins such as https://www.example.com")
		}
		origins = append(origins, origin)
	}
	look := map[string]any{}
	f.inner("appearance", func(f *form) { appearance(f, look) })
	d.Doc = map[string]any{
		"kind": f.choice("kind", "chat", "voice"), "name": d.Name, "welcome": f.text("welcome"), "translations": translations(f),
		"language": language(f), "appearance": look, "allowed_origins": origins,
	}
	if secret := f.secret("identity_secret"); secret != "" {
		if len(secret) < minIdentitySecret || len(secret) > maxIdentitySecret {
			f.r.problem(f.place("identity_secret"), "identity_secret must have 24 to 256 bytes")
		}
		d.Doc["identity_secret"] = secret
	}
	if agent := f.text("agent"); agent != "" {
		d.Doc["agent"] = agent
		d.Refers = []Reference{{At: f.place("agent"), Kind: KindAgent, Name: agent, Field: "agent"}}
	}
	c.add(f, d)
}

// The bounds of a secret with which a host signs who its visitor is (HS256).
const (
	minIdentitySecret = 24
	maxIdentitySecret = 256
)

func appearance(f *form, look map[string]any) {
	keep := func(name, value string) {
		if value != "" {
			look[name] = value
		}
	}
	keep("primary_color", f.checked("primary_color", colorForm.MatchString, "must be a colour such as #0b6e4f"))
	keep("position", f.checked("position", isCorner, "must be one of "+strings.Join(corners, ", ")))
	keep("animation", f.checked("animation", wordForm.MatchString, "must be a word such as pulse or wave"))
	keep("title", f.text("title"))
}

var corners = []string{"bottom-right", "bottom-left", "top-right", "top-left"} //nolint:gochecknoglobals // read only

func isCorner(s string) bool { return slices.Contains(corners, s) }

// translations are texts by language.
func translations(f *form) map[string]any {
	out := map[string]any{}
	f.inner("translations", func(f *form) {
		for _, x := range f.fields {
			if !validTag(x.name) {
				f.r.problem(x.at, "translations stand under languages such as es or pt-BR")
			}
			out[x.name] = f.needed(x.name)
		}
	})
	return out
}

func validOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && s == u.Scheme+"://"+u.Host
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && len(s) <= 2000
}

// Events are the types of events out (decisions.md, section 7).
func Events() []string {
	return []string{
		"*", "notification.accepted", "message.sent", "message.delivered", "message.read", "message.failed",
		"message.canceled", "message.skipped", "message.received", "call.started", "call.completed", "call.failed",
		"template.approved", "template.rejected", "template.paused", "conversation.started", "conversation.handoff",
		"conversation.resolved", "feedback.received",
	}
}

// WebhookSecret is the prefix that Standard Webhooks gives a signing secret in text.
const WebhookSecret = "whsec_"

func (c *company) webhook(f *form) {
	d := Document{Kind: KindWebhook, Name: f.needed("url")}
	if d.Name != "" && !webAddress(d.Name) {
		f.r.problem(f.place("url"), "url must be an http or https address")
	}
	events := f.words("events", Events()...)
	if events == nil {
		events = []string{"*"}
	}
	d.Doc = map[string]any{"url": d.Name, "events": events}
	if secret := f.secret("secret"); secret != "" {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, WebhookSecret))
		if err != nil || !strings.HasPrefix(secret, WebhookSecret) || len(raw) < 24 || len(raw) > 64 {
			f.r.problem(f.place("secret"), "secret must be whsec_ and the base64 of 24 to 64 bytes")
		}
		d.Doc["secret"] = secret
	}
	c.add(f, d)
}
