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

// Config is the program's validated settings. The table in settings.go documents its fields; docs/settings.md is
// generated from it.
type Config struct {
	Addr               string
	BaseURL            string // no trailing slash; empty means derived from the listen address
	WidgetURL          string // no trailing slash; empty means BaseURL
	Data               string
	DatabaseURL        Secret // empty: SQLite in Data
	RequireSynchronous bool   // of PostgreSQL's standbys
	EventsOnly         bool   // this node is set apart for events
	NATSURL            Secret // empty: nodes use only the database between them
	NATSCredentials    string // file name
	NATSCA             string // file name; default: the authorities of the system
	MasterKeyFile      string // empty: a key created in Data, with SQLite only
	Cell               *int   // nil: the stored one
	ZonesFile          string // empty: the built-in time zones
	Provision          []string
	Demo               bool
	ReadyFile          string
	LogFormat          string // text or json
	LogLevel           slog.Level
	LogSlow            time.Duration
	OpsAddr            string // empty: disabled
	TracesURL          string // empty: the standard OTEL_ variables apply; without them, disabled
	TrustedProxies     []netip.Prefix
	MaxConnections     int
	ConnectionsEach    int // maximum per address; 0 means a quarter of MaxConnections
	ShutdownDelay      time.Duration
	ShutdownTimeout    time.Duration
	CallDrain          time.Duration
	MaxCalls           int        // concurrent calls that this node places
	SIPAddr            string     // for calls over UDP and TCP
	SIPTLSAddr         string     // for calls over TLS; empty means disabled
	SIPCertificate     string     // file name
	SIPKey             string     // file name
	SIPExternal        netip.Addr // zero value: the local address of the route
	SIPPorts           [2]uint16  // for RTP; zero value: any free port
	SIPAllowPrivate    []netip.Prefix
	CallsDenied        destination.Denied // numbers that are never called
	PasswordMemory     int                // MiB per hash
	PasswordPasses     int
	SMTPURL            Secret // empty: no e-mail is sent
	MailFrom           string
	OIDCIssuer         string // empty: no single sign-on
	OIDCClientID       string
	OIDCClientSecret   Secret
	OIDCName           string
	OIDCTrustEmail     bool   // treat an e-mail address as verified if the server does not state it
	MetaAppID          string // empty: no sign-up by Facebook's dialog
	MetaAppSecret      Secret
	MetaConfigID       string
	TranslateURL       string // LibreTranslate, no trailing slash; empty means no translation
	TranslateKey       Secret
	FileSize           int // MiB per file that people send
	CompanyFiles       int // MiB of all files per company
	MediaAllowPrivate  []netip.Prefix
}

// Secret is a text that must not be shown. Printing it shows only whether it is set.
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
