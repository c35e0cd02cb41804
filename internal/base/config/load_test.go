package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, set := pairs[name]
		return v, set
	}
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDefaultsAreThoseOfTheTable(t *testing.T) {
	c, err := Load(nil, environment(map[string]string{"CARILLON_ADDR": ""}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.CallsDenied) < 20 {
		t.Errorf("numbers that begin with %v are never called", c.CallsDenied)
	}
	c.CallsDenied = nil // see TestCostlyNumbersAreNeverCalledByDefault
	want := Config{
		Addr: "127.0.0.1:8080", Data: "./data", LogFormat: "text", LogLevel: slog.LevelInfo, LogSlow: time.Second, MaxConnections: 8192,
		ShutdownTimeout: 25 * time.Second, CallDrain: 5 * time.Minute, MaxCalls: 200, PasswordMemory: 19, PasswordPasses: 2,
		FileSize: 10, CompanyFiles: 5120, SIPAddr: "127.0.0.1:0",
		MailFrom: "Carillon <carillon@localhost>", OIDCClientID: "carillon", OIDCName: "single sign-on",
	}
	if diff := cmp.Diff(want, c, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}

func TestCostlyNumbersAreNeverCalledByDefault(t *testing.T) {
	load := func(env string, flags ...string) Config {
		t.Helper()
		c, err := Load(map[string][]string{"calls-denied": flags}, environment(map[string]string{"CARILLON_CALLS_DENIED": env}))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := load("")
	for number, want := range map[string]bool{
		"19005550100": true, "8816123456": true, "97912345678": true, "449012345678": true, "34806123456": true, "33899123456": true,
		"5590012345":  true,
		"34600111222": false, "15555550100": false, "5511987654321": false, "5215512345678": false, "442071234567": false,
		"447700900123": false,
		"3491123456":   false, "351912345678": false, "33612345678": false, "4915112345678": false, "393331234567": false,
		"390891234567": false,
		"3292345678":   false, "31201234567": false, "41441234567": false, "4319876543": false, "48221234567": false,
		"5491112345678": false,
		"61291234567":   false, "80012345678": false,
	} {
		if c.CallsDenied.Has(number) != want {
			t.Errorf("%s: never called: %v", number, !want)
		}
	}
	for _, c := range []Config{load("none"), load("881", "none")} {
		if c.CallsDenied.Has("8816123456") {
			t.Error("none does not take the list off")
		}
	}
	if c := load("881, 979"); !c.CallsDenied.Has("8816123456") || c.CallsDenied.Has("19005550100") {
		t.Errorf("%v", c.CallsDenied)
	}
	_, err := Load(map[string][]string{"calls-denied": {"09"}}, environment(nil))
	if err == nil || !strings.Contains(err.Error(), "--calls-denied") {
		t.Error(err)
	}
}

func TestFlagWinsOverEnvironmentOverDefault(t *testing.T) {
	env := environment(map[string]string{
		"CARILLON_ADDR": "0.0.0.0:1", "CARILLON_BASE_URL": "https://a.test/", "CARILLON_DEMO": "true", "CARILLON_LOG_LEVEL": "warn",
		"CARILLON_TRUSTED_PROXIES": "10.0.0.1/8, 192.0.2.7,", "CARILLON_PROVISION": "a.yaml,b.yaml",
	})
	c, err := Load(map[string][]string{"addr": {"0.0.0.0:2"}, "provision": {"c,d.yaml"}, "demo": {"false"}}, env)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.Addr, c.BaseURL, c.Demo, c.LogLevel, c.TrustedProxies, c.Provision}
	want := []any{
		"0.0.0.0:2", "https://a.test", false, slog.LevelWarn,
		[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32")},
		[]string{"c,d.yaml"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsHaveTwins(t *testing.T) {
	key := []string{"key"}
	const url = "postgres://u:hunter2@db/x"
	for _, c := range []struct {
		name  string
		flags map[string][]string
		env   map[string]string
		want  string // expected part of the database URL, or of the error
	}{
		{"flag", map[string][]string{"database-url": {url}}, nil, url},
		{"flag's file", map[string][]string{"database-url-file": {secretFile(t, url+"\r\n")}}, nil, url},
		{"variable", nil, map[string]string{"CARILLON_DATABASE_URL": url}, url},
		{"variable's file", nil, map[string]string{"CARILLON_DATABASE_URL_FILE": secretFile(t, url)}, url},
		{
			"flag's file over variable",
			map[string][]string{"database-url-file": {secretFile(t, url)}},
			map[string]string{"CARILLON_DATABASE_URL": "postgres://other"},
			url,
		},
		{
			"both variables", nil,
			map[string]string{"CARILLON_DATABASE_URL": url, "CARILLON_DATABASE_URL_FILE": "x"},
			"CARILLON_DATABASE_URL and CARILLON_DATABASE_URL_FILE are both set: set one of them",
		},
		{
			"both flags",
			map[string][]string{"database-url": {url}, "database-url-file": {"x"}},
			nil,
			"--database-url and --database-url-file are both set",
		},
		{
			"empty file", nil,
			map[string]string{"CARILLON_DATABASE_URL_FILE": secretFile(t, "\n")},
			"CARILLON_DATABASE_URL_FILE: the secret's file",
		},
		{"no file", nil, map[string]string{"CARILLON_DATABASE_URL_FILE": "nowhere"}, "CARILLON_DATABASE_URL_FILE: read the secret's file"},
		{
			"not a URL", nil,
			map[string]string{"CARILLON_DATABASE_URL": "host=db password=hunter2"},
			"CARILLON_DATABASE_URL: is not of the form postgres://",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags := map[string][]string{"master-key-file": key}
			maps.Copy(flags, c.flags)
			got, err := Load(flags, environment(c.env))
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if got.DatabaseURL.Reveal() != c.want {
				t.Errorf("got %s, want %s", got.DatabaseURL.Reveal(), c.want)
			}
		})
	}
}

// The base URL must not have a path, because the program serves nothing below one. Addresses of other servers may have
// one.
func TestAddressesOfTheProgramHaveNoPath(t *testing.T) {
	for _, name := range []string{"base-url", "widget-url"} {
		for value, good := range map[string]bool{
			"https://a.test": true, "https://a.test/": true, "http://a.test:8080": true, "": true,
			"https://a.test/carillon": false, "https://a.test/carillon/": false, "https://a.test//x": false, "https://a.test/%20": false,
		} {
			_, err := Load(map[string][]string{name: {value}}, environment(nil))
			if (err == nil) != good || !good &&
				!strings.Contains(err.Error(), "--"+name+": must have no path: give the program a host name") {
				t.Errorf("%s %s: %v", name, value, err)
			}
		}
	}
	for _, value := range []string{
		"https://a.test", "https://a.auth0.test/", "https://a.test:8443/application/o/carillon/", "https://a.test/realms/acme",
	} {
		c, err := Load(map[string][]string{"oidc-issuer": {value}}, environment(nil))
		if err != nil || c.OIDCIssuer != value {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{"a.test", "https://a.test/?tenant=x", "https://u:p@a.test/", "ldap://a.test/"} {
		if _, err := Load(map[string][]string{"oidc-issuer": {value}}, environment(nil)); err == nil {
			t.Errorf("%s is an issuer", value)
		}
	}
}

func TestFaultsNameTheirSetting(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"addr":                {"8080", `--addr: "8080" is not of the form host:port`},
		"base-url":            {"carillon.test", "--base-url: is not an http or https address"},
		"widget-url":          {"https://u@a.test", "--widget-url: must have no user"},
		"data":                {"", "--data: must not be empty"},
		"demo":                {"yes", `--demo: "yes" is neither true nor false`},
		"log-format":          {"xml", `--log-format: "xml" is not one of text, json`},
		"log-level":           {"trace", `--log-level: "trace" is not one of debug, info, warn, error`},
		"ops-addr":            {"127.0.0.1:8080", "--ops-addr: must differ from --addr"},
		"trusted-proxies":     {"10.0.0.0/40", `--trusted-proxies: "10.0.0.0/40" is not a network such as 10.0.0.0/8`},
		"max-connections":     {"-1", `--max-connections: "-1" is not a whole number from 0 to 1000000`},
		"shutdown-delay":      {"-1s", `--shutdown-delay: "-1s" is not a duration such as 25s or 2m`},
		"shutdown-timeout":    {"25", `--shutdown-timeout: "25" is not a duration such as 25s or 2m`},
		"password-memory":     {"4", `--password-memory: "4" is not a whole number from 8 to 1024`},
		"password-passes":     {"0", `--password-passes: "0" is not a whole number from 1 to 20`},
		"media-allow-private": {"home", `--media-allow-private: "home" is not a network`},
		"nats-url":            {"nats://nats:4222", "--nats-url: needs --database-url"},
		"nats-ca-file":        {"ca.pem", "--nats-ca-file: need --nats-url"},
		"database-url":        {"postgres://db/x", "--master-key-file: is required with --database-url"},
	} {
		_, err := Load(map[string][]string{name: {c.value}}, environment(nil))
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	_, err := Load(map[string][]string{"addr": {"x"}}, environment(map[string]string{"CARILLON_LOG_FORMAT": "y"}))
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], "CARILLON_LOG_FORMAT: ") {
		t.Errorf("two faults are reported as %q", lines)
	}
}

func TestAddressesOfNATSAreCheckedAndNotShown(t *testing.T) {
	for value, good := range map[string]bool{
		"nats://nats:4222": true, "tls://u:hunter2@a:4222, tls://b:4222": true, "nats://hunter2@127.0.0.1": true,
		"http://u:hunter2@nats:4222": false, "nats://u:hunter2@": false, "nats://u:hunter2@a:4222/path": false, "hunter2": false,
		"nats://a:4222,": false, "nats://u:hunter2@a:b": false, "ws://u:hunter2@a": false, "nats://a?x=hunter2": false,
	} {
		c, err := Load(map[string][]string{
			"nats-url": {value}, "database-url": {"postgres://db/x"}, "master-key-file": {"key"},
		}, environment(nil))
		if (err == nil) != good || strings.Contains(fmt.Sprint(err, c), "hunter2") || good && c.NATSURL.Reveal() != value {
			t.Errorf("%s: %v %v", value, c, err)
		}
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	c := Config{DatabaseURL: "postgres://u:hunter2@db/x"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "config", c, "url", c.DatabaseURL)
	body, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		log.String(), string(body), fmt.Sprint(c), fmt.Sprintf("%+v %#v %s %q", c, c, c.DatabaseURL, c.DatabaseURL),
	} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, hidden) {
			t.Errorf("printed as %s", text)
		}
	}
}

func TestMasterKeyIsMadeOnceAndKept(t *testing.T) {
	c := Config{Data: filepath.Join(t.TempDir(), "data")}
	first, err := c.MasterKey()
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.MasterKey()
	if err != nil || first != second || first == [32]byte{} {
		t.Errorf("%v: the second key differs: %v", err, first != second)
	}
	info, err := os.Stat(filepath.Join(c.Data, "master.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(c.Data, ".master-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestMasterKeyIsNotMadeBesideADatabase(t *testing.T) {
	c := Config{Data: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.Data, "carillon.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.MasterKey(); err == nil || !strings.Contains(err.Error(), "--master-key-file") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.Data, "master.key")); err == nil {
		t.Error("a key was made")
	}
}

func TestMasterKeyIsReadRawOrBase64(t *testing.T) {
	raw := "0123456789abcdef0123456789abcde\n" // a raw key may end with a newline byte
	for _, text := range []string{raw, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZQo=\n", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZQo"} {
		c := Config{MasterKeyFile: secretFile(t, text)}
		key, err := c.MasterKey()
		if err != nil || string(key[:]) != raw {
			t.Errorf("%q: %v, %q", text, err, key)
		}
	}
	c := Config{MasterKeyFile: secretFile(t, "too-short")}
	if _, err := c.MasterKey(); err == nil || strings.Contains(err.Error(), "too-short") {
		t.Errorf("a short key: %v", err)
	}
	c = Config{DatabaseURL: "postgres://db/x", Data: t.TempDir()}
	if _, err := c.MasterKey(); err == nil {
		t.Error("no key file on PostgreSQL, and no error")
	}
}

func TestReadyFileIsWrittenWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "ready.json")
	want := Ready{BaseURL: "http://127.0.0.1:1", WidgetURL: "w", PanelURL: "p", Version: "v", DemoFacts: &DemoFacts{AccessKey: "ck_demo"}}
	for range 2 {
		if err := want.WriteFile(name); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadReady(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Error(diff)
	}
	plain, _ := json.Marshal(Ready{BaseURL: "b"})
	if strings.Contains(string(plain), "access_key") {
		t.Errorf("without the demo: %s", plain)
	}
}
