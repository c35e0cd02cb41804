package whatsapp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"carillon"
)

// Defaults of settings.
const (
	DefaultBaseURL = "https://graph.facebook.com"
	DefaultVersion = "v23.0"
)

// maxSecret bounds tokens and secrets. The channel's own have a few hundred characters.
const maxSecret = 4096

var (
	idForm      = regexp.MustCompile(`^[0-9]{1,32}$`)
	versionForm = regexp.MustCompile(`^v[0-9]{1,3}\.[0-9]{1,2}$`)
	agentForm   = regexp.MustCompile(`^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)
	secretForm  = regexp.MustCompile(`^[!-~]*$`)
	flagForm    = regexp.MustCompile(`^(true|false)$`)
)

// settings are a sender's parsed settings.
type settings struct {
	baseURL       string
	version       string
	phoneNumberID string
	wabaID        string
	accessToken   string
	appSecret     string
	verifyToken   string
	agent         string // the agent that answers people
	public        string // "true" if a member of the company chose base_url, which must then be a public address
}

// CheckSettings checks a sender's settings. The error is a *carillon.Error whose field is settings.<key>. It never
// contains a secret.
func CheckSettings(raw json.RawMessage) error {
	_, err := parseSettings(raw)
	return err
}

// ShownSettings returns the settings that are not secret.
func ShownSettings() []string {
	return []string{"base_url", "version", "phone_number_id", "waba_id", "agent"}
}

// SecretSettings returns the settings that are secret.
func SecretSettings() []string { return []string{"access_token", "app_secret", "verify_token"} }

// PhoneNumberID returns the channel's id of a sender's number, as callbacks contain it. It is empty if the settings
// are invalid.
func PhoneNumberID(raw json.RawMessage) string {
	s, err := parseSettings(raw)
	if err != nil {
		return ""
	}
	return s.phoneNumberID
}

// BaseURL returns the base URL in a sender's settings, and whether a member of the company chose it. Errors: those of
// CheckSettings.
func BaseURL(raw json.RawMessage) (base *url.URL, chosen bool, err error) {
	s, err := parseSettings(raw)
	if err != nil {
		return nil, false, err
	}
	base, err = url.Parse(s.baseURL)
	return base, s.public == "true", err
}

func parseSettings(raw json.RawMessage) (settings, error) {
	var given map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return settings{}, carillon.Invalid("settings", "This must be an object")
		}
	}
	s := settings{baseURL: DefaultBaseURL, version: DefaultVersion}
	keys := s.keys()
	if err := refuseUnknown(given, keys); err != nil {
		return settings{}, err
	}
	for _, k := range keys {
		if err := k.read(given[k.name]); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// setting is one key of the settings: its destination, whether it is required, and its format.
type setting struct {
	name     string
	to       *string
	required bool
	empty    bool // an empty value counts as absent
	check    func(string) (reason string)
}

func (s *settings) keys() []setting {
	return []setting{
		{"base_url", &s.baseURL, false, false, checkBaseURL},
		{"version", &s.version, false, false, matches(versionForm, "This must be a version such as v23.0")},
		{"phone_number_id", &s.phoneNumberID, true, false, matches(idForm, "This must be the channel's id of the number, digits only")},
		{"waba_id", &s.wabaID, true, false, matches(idForm, "This must be the id of the business account, digits only")},
		{"access_token", &s.accessToken, true, false, checkSecret},
		{"app_secret", &s.appSecret, true, false, checkSecret},
		{"verify_token", &s.verifyToken, true, false, checkSecret},
		{"agent", &s.agent, false, true, matches(agentForm, "This must be the id of an agent, a UUID")},
		{"public", &s.public, false, true, matches(flagForm, "This must be true or false")},
	}
}

func refuseUnknown(given map[string]json.RawMessage, known []setting) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(known, func(k setting) bool { return k.name == name }) {
			return carillon.Invalid("settings."+name, "There is no such setting for provider whatsapp")
		}
	}
	return nil
}

func (k setting) read(raw json.RawMessage) error {
	field := "settings." + k.name
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, k.to); err != nil {
			return carillon.Invalid(field, "This must be a string")
		}
	}
	if strings.TrimSpace(*k.to) == "" {
		if k.empty {
			return nil
		}
		if k.required {
			return carillon.Missing(field)
		}
		return carillon.Invalid(field, "This must not be empty; leave it out for the default")
	}
	if reason := k.check(*k.to); reason != "" {
		return carillon.Invalid(field, reason)
	}
	if k.name == "base_url" {
		*k.to = strings.TrimRight(*k.to, "/")
	}
	return nil
}

func matches(form *regexp.Regexp, otherwise string) func(string) string {
	return func(s string) string {
		if form.MatchString(s) {
			return ""
		}
		return otherwise
	}
}

func checkBaseURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return "This must be an http or https address"
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "This must be an address without user, query or fragment"
	}
	return ""
}

// checkSecret refuses characters that a header cannot contain, in particular a line end from the end of a file.
func checkSecret(s string) string {
	switch {
	case len(s) > maxSecret:
		return "This is too long"
	case !secretForm.MatchString(s):
		return "This must be printable ASCII without spaces"
	}
	return ""
}

// account holds a sender's settings, ready for requests.
type account struct {
	settings
	messages *url.URL    // URL to which messages are posted
	header   http.Header // shared by all requests; read-only
}

func newAccount(raw json.RawMessage) (*account, error) {
	s, err := parseSettings(raw)
	if err != nil {
		// Not wrapped, because the caller's request did not cause it.
		return nil, errors.New("settings cannot be used: " + err.Error())
	}
	a := &account{settings: s}
	if a.messages, err = url.Parse(a.address(s.phoneNumberID + "/messages")); err != nil {
		return nil, fmt.Errorf("address of the number: %w", err)
	}
	a.header = http.Header{
		"Authorization": {"Bearer " + s.accessToken},
		"Content-Type":  {"application/json"},
		"Accept":        {"application/json"},
		"User-Agent":    {"carillon"},
	}
	return a, nil
}

// address returns the URL of a node or edge of the channel's graph.
func (a *account) address(path string) string { return a.baseURL + "/" + a.version + "/" + path }
