// Package config reads and validates what an operator writes: the program's settings (one table of flags, environment
// variables, defaults and documentation) and the declarative set-up of companies, senders and templates. It opens no
// database and no connection. docs/reference/set-up.md describes the declarative form.
package config

import (
	"log/slog"
	"net/netip"
	"time"

	"carillon/internal/base/destination"
)

// Config is the program's validated settings. The table in settings.go documents its fields; docs/settings.md is generated
// from it.
type Config struct {
	Addr              string
	BaseURL           string // no trailing slash; empty: made from the address it listens on
	WidgetURL         string // no trailing slash; empty: the base URL
	Data              string
	DatabaseURL       Secret // empty: SQLite in Data
	MasterKeyFile     string // empty: a key created in Data, on SQLite only
	ZonesFile         string // empty: the program's own time zones
	Provision         []string
	Demo              bool
	ReadyFile         string
	LogFormat         string // text or json
	LogLevel          slog.Level
	LogSlow           time.Duration
	OpsAddr           string // empty: off
	TracesURL         string // empty: by the standard variables, else off
	TrustedProxies    []netip.Prefix
	MaxConnections    int
	ConnectionsEach   int // from one address; 0: a quarter of MaxConnections
	ShutdownDelay     time.Duration
	ShutdownTimeout   time.Duration
	CallDrain         time.Duration
	MaxCalls          int        // of this node at once
	SIPAddr           string     // for calls over UDP and TCP
	SIPTLSAddr        string     // for calls over TLS; empty: none
	SIPCertificate    string     // file
	SIPKey            string     // file
	SIPExternal       netip.Addr // zero: the way's
	SIPPorts          [2]uint16  // of sound; zero: any
	SIPAllowPrivate   []netip.Prefix
	CallsDenied       destination.Denied // numbers that are never called
	PasswordMemory    int                // MiB a hash
	PasswordPasses    int
	SMTPURL           Secret // empty: no e-mails are sent
	MailFrom          string
	OIDCIssuer        string // empty: no single sign-on
	OIDCClientID      string
	OIDCClientSecret  Secret
	OIDCName          string
	OIDCTrustEmail    bool   // e-mails of which the server does not say whether they are verified
	TranslateURL      string // LibreTranslate, no trailing slash; empty: nothing is translated
	TranslateKey      Secret
	FileSize          int // MiB of a file that people send
	CompanyFiles      int // MiB of all files of a company
	MediaAllowPrivate []netip.Prefix
}

// Secret is a text that must not be shown: printing it in any way shows only whether it is set.
type Secret string

const hidden = "[hidden]"

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return `config.Secret("` + s.String() + `")` }

// LogValue hides the text from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the text from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
