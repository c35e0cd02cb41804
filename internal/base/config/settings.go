package config

import (
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"carillon/internal/base/destination"
)

// defaultDenied are the prefixes of expensive numbers that are hardly ever called for a legitimate reason
// (docs/reference/calls.md).
const defaultDenied = "808,870,878,881,882,883,888,979," + // international
	"1900," + // North America
	"3290,31900,31906,31909,3389,34803,34806,34807,34905,34907,351601,351607,351760,351761,351762,3989," +
	"41900,41901,41906,43900,43901,43930,43931,43939,449,4470,44871,44872,44873,4870,49137,49900," + // Europe
	"52900,54600,54609,55900,61190" // Latin America, Australia

// Setting is one row of the table of settings.
type Setting struct {
	Name    string // the flag without dashes
	Default string // as written on the command line
	Unit    string // kind of value, for documentation and help
	Doc     string
	Secret  bool // may also be read from the file given by NAME-file
	List    bool // may be repeated; comma-separated in the environment
	Switch  bool // a flag without a value; true or false in the environment

	set func(c *Config, values []string) error
}

// Env returns the setting's environment variable.
func (s Setting) Env() string {
	return "CARILLON_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Settings returns the table behind flags, environment variables, defaults and documentation.
func Settings() []Setting { //nolint:funlen // a table
	return []Setting{
		{
			Name: "addr", Default: "127.0.0.1:8080", Unit: "host:port",
			Doc: "Where to listen. Port 0 takes a free one; an empty host is every interface.",
			set: one(address, func(c *Config) *string { return &c.Addr }),
		},
		{
			Name: "base-url", Unit: "url",
			Doc: "The public address of this installation, as clients and providers reach it, without a path: it has a host name of " +
				"its own. Empty: made from the address it listens on.",
			set: one(siteURL, func(c *Config) *string { return &c.BaseURL }),
		},
		{
			Name: "widget-url", Unit: "url",
			Doc: "The public address that serves the widgets' pages. Empty: the base URL.",
			set: one(siteURL, func(c *Config) *string { return &c.WidgetURL }),
		},
		{
			Name: "data", Default: "./data", Unit: "folder",
			Doc: "Data folder: the SQLite database, and the master key when no file is set. One process owns it.",
			set: one(text, func(c *Config) *string { return &c.Data }),
		},
		{
			Name: "database-url", Unit: "postgres url", Secret: true,
			Doc: "PostgreSQL, as postgres://user@host/name, with a password where it needs one. Empty: SQLite in the data folder.",
			set: one(databaseURL, func(c *Config) *Secret { return &c.DatabaseURL }),
		},
		{
			Name: "require-synchronous", Default: "false", Switch: true,
			Doc: "Accept and start nothing (503) while no synchronous standby of PostgreSQL confirms commits. The role needs " +
				"pg_read_all_stats.",
			set: one(boolean, func(c *Config) *bool { return &c.RequireSynchronous }),
		},
		{
			Name: "events-only", Default: "false", Switch: true,
			Doc: "Set this node apart for events to webhooks: the other nodes deliver none, and this one starts messages and calls " +
				"only while there is no other. Needs database-url.",
			set: one(boolean, func(c *Config) *bool { return &c.EventsOnly }),
		},
		{
			Name: "nats-url", Unit: "nats url", Secret: true,
			Doc: "Your NATS servers, as tls://user:password@nats1:4222,tls://nats2:4222 (nats:// is encrypted only if the server " +
				"requires it). Between nodes, live events such as typing, and the sound of teammates, go over them. Every node needs " +
				"this setting. Empty: they go over PostgreSQL.",
			set: one(natsURL, func(c *Config) *Secret { return &c.NATSURL }),
		},
		{
			Name: "nats-credentials-file", Unit: "file",
			Doc: "The node's credentials for NATS, a file in NATS's format .creds, read at each connection. Empty: none but those in " +
				"nats-url.",
			set: one(text, func(c *Config) *string { return &c.NATSCredentials }),
		},
		{
			Name: "nats-ca-file", Unit: "file",
			Doc: "The authorities that sign the certificates of the NATS servers, in PEM; connections must then be encrypted. Empty: " +
				"those of the system.",
			set: one(text, func(c *Config) *string { return &c.NATSCA }),
		},
		{
			Name: "master-key-file", Unit: "file",
			Doc: "File with the master key, 32 bytes (raw or base64), which encrypts stored keys and provider settings. Without it " +
				"one is created in the data folder; on PostgreSQL it is required.",
			set: one(text, func(c *Config) *string { return &c.MasterKeyFile }),
		},
		{
			Name: "cell", Unit: "number",
			Doc: "The number of this installation, 0 to 15, among those between which companies can move: it is in the ids of " +
				"notifications, messages and calls. All nodes have the same. Empty: the number of the first start, which is 0 " +
				"by default. It cannot be changed once the installation has companies.",
			set: one(cellNumber, func(c *Config) **int { return &c.Cell }),
		},
		{
			Name: "zones-file", Unit: "file",
			Doc: "A zip with a release of the IANA time zones that replaces the program's own, for a change of clocks before the " +
				"next version. It is read at the start. Empty: the program's own.",
			set: one(text, func(c *Config) *string { return &c.ZonesFile }),
		},
		{
			Name: "provision", Unit: "file", List: true,
			Doc: "Declarative set-up file to apply at the start, whole or not at all. May be repeated.",
			set: many(text, func(c *Config) *[]string { return &c.Provision }),
		},
		{
			Name: "demo", Default: "false", Switch: true,
			Doc: "Set up the demo company on the sandbox channel. Never on an installation that others can reach, because its " +
				"password and key are public.",
			set: one(boolean, func(c *Config) *bool { return &c.Demo }),
		},
		{
			Name: "ready-file", Unit: "file",
			Doc: "File to write when the program is ready: JSON with its addresses and, in the demo, credentials.",
			set: one(text, func(c *Config) *string { return &c.ReadyFile }),
		},
		{
			Name: "log-format", Default: "text", Unit: "text|json",
			Doc: "Format of the log on standard error.",
			set: one(oneOf("text", "json"), func(c *Config) *string { return &c.LogFormat }),
		},
		{
			Name: "log-level", Default: "info", Unit: "debug|info|warn|error",
			Doc: "Lowest level that is logged.",
			set: one(level, func(c *Config) *slog.Level { return &c.LogLevel }),
		},
		{
			Name: "log-slow", Default: "1s", Unit: "duration",
			Doc: "From how long on a request is logged although it succeeded. Requests that fail are always logged, all others at " +
				"the level debug.",
			set: one(duration, func(c *Config) *time.Duration { return &c.LogSlow }),
		},
		{
			Name: "ops-addr", Unit: "host:port",
			Doc: "A private address for /metrics and /debug/pprof. Empty: off. Never a public one.",
			set: one(address, func(c *Config) *string { return &c.OpsAddr }),
		},
		{
			Name: "traces-url", Unit: "url",
			Doc: "An OpenTelemetry collector that accepts OTLP over HTTP, as http://127.0.0.1:4318; /v1/traces is added. Empty: the " +
				"standard variable OTEL_EXPORTER_OTLP_ENDPOINT applies; without it, off. The other OTEL_… variables apply too.",
			set: one(baseURL, func(c *Config) *string { return &c.TracesURL }),
		},
		{
			Name: "trusted-proxies", Unit: "cidr", List: true,
			Doc: "Networks of reverse proxies whose X-Forwarded-For is used. May be repeated.",
			set: many(prefix, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies }),
		},
		{
			Name: "max-connections", Default: "8192", Unit: "connections",
			Doc: "Open connections. Near the limit the connection that has been idle longest is closed; while none is idle, more " +
				"wait to be accepted. 0: no limit.",
			set: one(whole(0, 1_000_000), func(c *Config) *int { return &c.MaxConnections }),
		},
		{
			Name: "max-connections-per-address", Default: "0", Unit: "connections",
			Doc: "Open connections from one address, or from one IPv6 network of 64 bits. Beyond it the address's longest idle " +
				"connection is closed, or the new one when none is idle. Trusted proxies have no such limit. 0: a quarter of " +
				"max-connections.",
			set: one(whole(0, 1_000_000), func(c *Config) *int { return &c.ConnectionsEach }),
		},
		{
			Name: "shutdown-delay", Default: "0s", Unit: "duration",
			Doc: "How long a stopping program still serves requests while /readyz responds with 503, so that load balancers stop " +
				"sending requests first.",
			set: one(duration, func(c *Config) *time.Duration { return &c.ShutdownDelay }),
		},
		{
			Name: "shutdown-timeout", Default: "25s", Unit: "duration",
			Doc: "How long a stopping program waits for requests and sends in flight. The sum with the delay must be less than the " +
				"time after which the supervisor kills.",
			set: one(duration, func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
		{
			Name: "call-drain", Default: "5m", Unit: "duration",
			Doc: "How long a stopping program lets calls under way go on before it hangs up. Meanwhile it places no new ones and " +
				"accepts no requests; a second signal ends it at once. The sum with the shutdown delay and timeout must be less " +
				"than the time after which the supervisor kills.",
			set: one(duration, func(c *Config) *time.Duration { return &c.CallDrain }),
		},
		{
			Name: "max-calls", Default: "200", Unit: "calls",
			Doc: "How many telephone calls this node places at once: further ones stay queued until one ends. A call to a line is " +
				"taken while those that were placed and taken together are fewer, else it gets 503.",
			set: one(whole(1, 4000), func(c *Config) *int { return &c.MaxCalls }),
		},
		{
			Name: "sip-addr", Default: "127.0.0.1:0", Unit: "host:port",
			Doc: "Where calls over SIP are placed from and taken, over UDP and TCP. The default reaches the sandbox's phone alone; " +
				"with a trunk it is 0.0.0.0:5060, say. Port 0 takes a free one.",
			set: one(address, func(c *Config) *string { return &c.SIPAddr }),
		},
		{
			Name: "sip-tls-addr", Unit: "host:port",
			Doc: "Where calls over SIP are taken over TLS, as 0.0.0.0:5061. It needs sip-certificate and sip-key. Empty: nowhere.",
			set: one(address, func(c *Config) *string { return &c.SIPTLSAddr }),
		},
		{
			Name: "sip-certificate", Unit: "path",
			Doc: "The certificate of this node for SIP over TLS, with its chain, in PEM.",
			set: one(text, func(c *Config) *string { return &c.SIPCertificate }),
		},
		{
			Name: "sip-key", Unit: "path",
			Doc: "The private key of sip-certificate, in PEM.",
			set: one(text, func(c *Config) *string { return &c.SIPKey }),
		},
		{
			Name: "sip-external-ip", Unit: "ip",
			Doc: "The address by which telephone companies reach this node, where that is another than its own: behind a NAT.",
			set: one(ip, func(c *Config) *netip.Addr { return &c.SIPExternal }),
		},
		{
			Name: "sip-ports", Unit: "ports",
			Doc: "The UDP ports of the sound of calls, as 10000-19999: what a firewall lets through. Two for each call. Empty: any " +
				"free port.",
			set: one(portRange, func(c *Config) *[2]uint16 { return &c.SIPPorts }),
		},
		{
			Name: "sip-allow-private", Unit: "cidr", List: true,
			Doc: "Private networks that trunks may be in which administrators enter in the panel. Trunks of set-up files may be " +
				"anywhere. May be repeated.",
			set: many(prefix, func(c *Config) *[]netip.Prefix { return &c.SIPAllowPrivate }),
		},
		{
			Name: "calls-denied", Default: defaultDenied, Unit: "prefixes", List: true,
			Doc: "Beginnings of telephone numbers that are never called, by no company: not by requests, redials, flows, transfers " +
				"or test calls. " +
				"The default has satellites, premium-rate and personal numbers, which the reference of calls lists; " +
				"naming any replaces it. none: every number may be called. May be repeated.",
			set: func(c *Config, values []string) (err error) {
				c.CallsDenied, err = destination.Parse(values)
				return err
			},
		},
		{
			Name: "password-memory", Default: "19", Unit: "MiB",
			Doc: "Memory of one argon2id password hash. A stored hash with another value is recomputed at its user's next sign-in.",
			set: one(whole(8, 1024), func(c *Config) *int { return &c.PasswordMemory }),
		},
		{
			Name: "password-passes", Default: "2", Unit: "passes",
			Doc: "Passes of one argon2id password hash.",
			set: one(whole(1, 20), func(c *Config) *int { return &c.PasswordPasses }),
		},
		{
			Name: "smtp-url", Unit: "smtp url", Secret: true,
			Doc: "The server that sends e-mails (invitations, password links, notices about conversations, replies to " +
				"visitors who left), " +
				"as smtp://user:password@mail.example.com:587 " +
				"(encrypted by STARTTLS; with ?tls=none not at all) or smtps://…. Empty: no e-mails are sent, and the panel shows " +
				"such links to who made them.",
			set: one(smtpURL, func(c *Config) *Secret { return &c.SMTPURL }),
		},
		{
			Name: "mail-from", Unit: "e-mail", Default: "Carillon <carillon@localhost>",
			Doc: "The sender of these e-mails, with or without a name.",
			set: one(mailbox, func(c *Config) *string { return &c.MailFrom }),
		},
		{
			Name: "oidc-issuer", Unit: "url",
			Doc: "The OpenID Connect server by which people sign in to the panel, as in its tokens, for example " +
				"https://login.example.com or https://example.auth0.com/. It sends them back to <base-url>/panel/v1/sso/callback. " +
				"Empty: no single sign-on.",
			set: one(issuer, func(c *Config) *string { return &c.OIDCIssuer }),
		},
		{
			Name: "oidc-client-id", Unit: "text", Default: "carillon",
			Doc: "The program's name at that server.",
			set: one(text, func(c *Config) *string { return &c.OIDCClientID }),
		},
		{
			Name: "oidc-client-secret", Unit: "text", Secret: true,
			Doc: "Its secret there. Empty: none, as of a public client.",
			set: one(secret, func(c *Config) *Secret { return &c.OIDCClientSecret }),
		},
		{
			Name: "oidc-name", Unit: "text", Default: "single sign-on",
			Doc: "What the button on the page of the sign-in calls the server.",
			set: one(text, func(c *Config) *string { return &c.OIDCName }),
		},
		{
			Name: "oidc-trust-email", Default: "false", Switch: true,
			Doc: "Takes an e-mail of that server for verified where it does not say whether it is, as Entra ID never does. Only for " +
				"a server of your own in which nobody can enter the address of somebody else: they would sign in as that person.",
			set: one(boolean, func(c *Config) *bool { return &c.OIDCTrustEmail }),
		},
		{
			Name: "meta-app-id", Unit: "digits",
			Doc: "The id of your app at Meta, with which administrators connect WhatsApp numbers in Facebook's dialog. It needs " +
				"meta-app-secret and meta-config-id. Empty: numbers are connected by hand only.",
			set: one(digits, func(c *Config) *string { return &c.MetaAppID }),
		},
		{
			Name: "meta-app-secret", Unit: "text", Secret: true,
			Doc: "The secret of this app.",
			set: one(metaSecret, func(c *Config) *Secret { return &c.MetaAppSecret }),
		},
		{
			Name: "meta-config-id", Unit: "digits",
			Doc: "The id of the app's configuration of Facebook Login for Business, with Embedded Sign-up v4.",
			set: one(digits, func(c *Config) *string { return &c.MetaConfigID }),
		},
		{
			Name: "translate-url", Unit: "url",
			Doc: "A LibreTranslate server, which translates a widget's welcome into the languages that it has no translation for. " +
				"Empty: the original is shown.",
			set: one(baseURL, func(c *Config) *string { return &c.TranslateURL }),
		},
		{
			Name: "translate-key", Unit: "key", Secret: true,
			Doc: "The key that the LibreTranslate server wants. Empty: none.",
			set: one(secret, func(c *Config) *Secret { return &c.TranslateKey }),
		},
		{
			Name: "file-size", Default: "10", Unit: "MiB",
			Doc: "The largest file that visitors and teammates may send in a conversation.",
			set: one(whole(1, 200), func(c *Config) *int { return &c.FileSize }),
		},
		{
			Name: "company-files", Default: "5120", Unit: "MiB",
			Doc: "How much the files of one company may occupy in the database.",
			set: one(whole(1, 10_000_000), func(c *Config) *int { return &c.CompanyFiles }),
		},
		{
			Name: "media-allow-private", Unit: "cidr", List: true,
			Doc: "Private networks that addresses given by users (media, webhooks, agents' engines, pages to import) may be in. For " +
				"tests, and for servers on your own network. May be repeated.",
			set: many(prefix, func(c *Config) *[]netip.Prefix { return &c.MediaAllowPrivate }),
		},
	}
}
