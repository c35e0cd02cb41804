package auth

import "slices"

// Scope is a permitted use of an access key (docs/reference/signing-in.md).
type Scope string

// The scopes.
const (
	All               Scope = "*"
	NotifySend        Scope = "notify:send"
	NotifyRead        Scope = "notify:read"
	VoiceSend         Scope = "voice:send"
	MessagesWrite     Scope = "messages:write"
	TemplatesRead     Scope = "templates:read"
	TemplatesWrite    Scope = "templates:write"
	WidgetUse         Scope = "widget:use"
	SuppressionsWrite Scope = "suppressions:write"
	UsageRead         Scope = "usage:read"
	EventsRead        Scope = "events:read"
	WebhooksWrite     Scope = "webhooks:write"
)

// Scopes lists every scope.
func Scopes() []Scope {
	return []Scope{
		All, NotifySend, NotifyRead, VoiceSend, MessagesWrite, TemplatesRead, TemplatesWrite, WidgetUse, SuppressionsWrite, UsageRead,
		EventsRead, WebhooksWrite,
	}
}

// ValidScope reports whether s names a scope.
func ValidScope(s string) bool { return slices.Contains(Scopes(), Scope(s)) }
