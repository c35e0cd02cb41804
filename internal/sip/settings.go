package sip

import (
	"encoding/json"
	"net"
	"regexp"
	"strings"

	"carillon"
)

// settings are those of a line whose calls a trunk carries.
type settings struct {
	Host      string `json:"host"`
	Transport string `json:"transport"`
	Domain    string `json:"domain"`
	Username  string `json:"username"`
	Password  string `json:"password"`
	Encrypt   bool   `json:"encrypt"`
}

const maxSetting = 255

var hostForm = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?$`)

// CheckSettings checks the settings of a line with a trunk. The error is a *carillon.Error whose field is settings.<key>; it never
// holds the password.
func CheckSettings(raw json.RawMessage) error {
	_, err := TrunkOf(raw)
	return err
}

// ShownSettings are the settings that are no secrets.
func ShownSettings() []string { return []string{"host", "transport", "domain", "username", "encrypt"} }

// TrunkOf reads the settings of a line.
func TrunkOf(raw json.RawMessage) (Trunk, error) {
	var given map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return Trunk{}, carillon.Invalid("settings", "This must be an object")
	}
	var s settings
	to := map[string]any{
		"host": &s.Host, "transport": &s.Transport, "domain": &s.Domain, "username": &s.Username, "password": &s.Password, "encrypt": &s.Encrypt,
	}
	for name, value := range given {
		field, known := to[name]
		if !known {
			return Trunk{}, carillon.Invalid("settings."+carillon.Shorten(name), "This setting is unknown")
		}
		if json.Unmarshal(value, field) != nil {
			return Trunk{}, carillon.Invalid("settings."+name, "This must be a text, and encrypt true or false")
		}
	}
	for name, text := range map[string]string{"host": s.Host, "domain": s.Domain, "username": s.Username, "password": s.Password} {
		if len(text) > maxSetting || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '<' || r == '>' || r == '"' }) {
			return Trunk{}, carillon.Invalid("settings."+name, "Must be at most 255 characters without spaces")
		}
	}
	if s.Transport == "" {
		s.Transport = "udp"
	}
	switch {
	case s.Host == "":
		return Trunk{}, carillon.Missing("settings.host")
	case !hostForm.MatchString(s.Host) || portOf(s.Host) == "0":
		return Trunk{}, carillon.Invalid("settings.host", "Must be a host, or host:port, such as sip.example.com:5060")
	case s.Transport != "udp" && s.Transport != "tcp" && s.Transport != "tls":
		return Trunk{}, carillon.Invalid("settings.transport", "Must be udp, tcp or tls")
	case s.Domain != "" && !hostForm.MatchString(s.Domain):
		return Trunk{}, carillon.Invalid("settings.domain", "Must be a host such as example.com")
	case s.Password != "" && s.Username == "":
		return Trunk{}, carillon.Missing("settings.username")
	}
	return Trunk{Host: s.Host, Transport: s.Transport, Domain: s.Domain, Username: s.Username, Password: s.Password, Encrypt: s.Encrypt}, nil
}

func portOf(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return ""
	}
	return strings.TrimLeft(port, "0") + map[bool]string{true: "0"}[strings.Trim(port, "0") == ""]
}
