package sip

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"carillon"
)

// settings are the settings of a line with a trunk.
type settings struct {
	Trunk    string `json:"trunk"` // sip:host[:port][;transport=udp|tcp|tls]
	Domain   string `json:"domain"`
	Username string `json:"username"`
	Password string `json:"password"`
	Realm    string `json:"realm"`
	CallerID string `json:"caller_id"`
	Encrypt  flag   `json:"encrypt"`
	Agent    string `json:"agent"`
	Public   flag   `json:"public"`  // the trunk must be at a public address
	Claimed  flag   `json:"claimed"` // a member of the company entered the number or the trunk

	Authenticate flag `json:"authenticate"`
	Register     flag `json:"register"`

	Transfer string `json:"transfer"` // bridge (the default) or refer
	Port     string `json:"port"`     // of ours, where the channel calls; shown with domain
	WhatsApp string `json:"whatsapp"` // id of the messaging sender that calls over WhatsApp belong to
}

// flag is a boolean, which set-ups write as text.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(b []byte) error {
	on, err := strconv.ParseBool(strings.Trim(string(b), `"`))
	*f = flag(on)
	return err
}

const maxSetting = 255

var (
	trunkForm = regexp.MustCompile(`^(sips?):(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::([0-9]{1,5}))?(?:;transport=([A-Za-z]+))?$`)
	hostForm  = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)
	callerID  = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)
)

// ShownSettings returns the names of the settings that are not secret.
func ShownSettings() []string {
	return []string{
		"trunk", "domain", "username", "realm", "caller_id", "encrypt", "authenticate", "register", "agent", "transfer",
		"public", "claimed", "whatsapp", "port",
	}
}

// CheckSettings checks the settings of a line with a trunk. The error is a *carillon.Error with the field
// settings.<key>. It never contains the password.
func CheckSettings(raw json.RawMessage) error {
	_, err := TrunkOf(raw)
	return err
}

// TrunkOf parses the settings of a line.
func TrunkOf(raw json.RawMessage) (Trunk, error) {
	s, err := parseSettings(raw)
	if err != nil {
		return Trunk{}, err
	}
	for name, text := range map[string]string{"trunk": s.Trunk, "domain": s.Domain, "username": s.Username, "password": s.Password} {
		if len(text) > maxSetting || strings.ContainsFunc(text, func(r rune) bool {
			return r <= ' ' || r == 0x7f || strings.ContainsRune(`<>"`, r)
		}) {
			return Trunk{}, carillon.Invalid("settings."+name, "Must be at most 255 characters without spaces")
		}
	}
	switch {
	case s.Trunk == "":
		return Trunk{}, carillon.Missing("settings.trunk")
	case s.Domain != "" && !hostForm.MatchString(s.Domain):
		return Trunk{}, carillon.Invalid("settings.domain", "Must be a host such as example.com")
	case s.CallerID != "" && !callerID.MatchString(s.CallerID):
		return Trunk{}, carillon.Invalid("settings.caller_id", "Must be a number such as 15555550101")
	case len(s.Realm) > maxSetting || oneLine(s.Realm) != s.Realm:
		return Trunk{}, carillon.Invalid("settings.realm", "Must be at most 255 characters in one line")
	case s.Username == "" && (s.Password != "" || bool(s.Authenticate || s.Register)):
		return Trunk{}, carillon.Missing("settings.username")
	case s.Password == "" && bool(s.Authenticate || s.Register):
		return Trunk{}, carillon.Missing("settings.password")
	case s.Agent != "" && !carillon.ValidUUID(s.Agent):
		return Trunk{}, carillon.Invalid("settings.agent", "Must be the id of an agent")
	case s.Transfer != "" && s.Transfer != "bridge" && s.Transfer != "refer":
		return Trunk{}, carillon.Invalid("settings.transfer", "Must be one of bridge, refer")
	case s.WhatsApp != "" && s.Domain == "":
		return Trunk{}, carillon.Missing("settings.domain")
	case s.WhatsApp != "" && s.Password == "":
		return Trunk{}, carillon.Missing("settings.password")
	}
	t := Trunk{
		Domain: s.Domain, Username: s.Username, Password: s.Password, Realm: s.Realm, CallerID: s.CallerID, Encrypt: bool(s.Encrypt),
		Authenticate: bool(s.Authenticate), Register: bool(s.Register), Agent: s.Agent, Public: bool(s.Public),
		Refer:   s.Transfer == "refer",
		Claimed: bool(s.Claimed) || bool(s.Public), WhatsApp: s.WhatsApp,
	}
	if err := t.parse(s.Trunk); err != nil || t.WhatsApp == "" {
		return t, err
	}
	// Its peer demands the first two, and knows neither of the others.
	t.Transport, t.Encrypt, t.Authenticate, t.Register, t.Refer = "tls", true, true, false, false
	return t, nil
}

func parseSettings(raw json.RawMessage) (s settings, err error) {
	var given map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return s, carillon.Invalid("settings", "This must be an object")
	}
	to := map[string]any{
		"trunk": &s.Trunk, "domain": &s.Domain, "username": &s.Username, "password": &s.Password, "realm": &s.Realm,
		"caller_id": &s.CallerID,
		"encrypt":   &s.Encrypt, "agent": &s.Agent, "public": &s.Public, "claimed": &s.Claimed, "authenticate": &s.Authenticate,
		"register": &s.Register, "transfer": &s.Transfer, "whatsapp": &s.WhatsApp,
		"port": &s.Port,
	}
	for name, value := range given {
		field, known := to[name]
		if !known {
			return s, carillon.Invalid("settings."+carillon.Shorten(name), "This setting is unknown")
		}
		if json.Unmarshal(value, field) != nil {
			return s, carillon.Invalid("settings."+name,
				"This must be a text, and encrypt, authenticate, register and public true or false")
		}
	}
	return s, nil
}

// parse parses the address of a trunk.
func (t *Trunk) parse(address string) error {
	form := trunkForm.FindStringSubmatch(address)
	if form == nil {
		return carillon.Invalid("settings.trunk", "Must be an address such as sip:sip.example.com:5060;transport=udp")
	}
	t.Host, t.Transport = form[2], strings.ToLower(form[4])
	if form[3] != "" {
		if n, err := strconv.ParseUint(form[3], 10, 16); err != nil || n == 0 {
			return carillon.Invalid("settings.trunk", "Must have a port from 1 to 65535")
		}
		t.Host += ":" + form[3]
	}
	switch {
	case t.Transport == "" && form[1] == "sips":
		t.Transport = "tls"
	case t.Transport == "":
		t.Transport = "udp"
	case t.Transport != "udp" && t.Transport != "tcp" && t.Transport != "tls", form[1] == "sips" && t.Transport != "tls":
		return carillon.Invalid("settings.trunk", "Must have the transport udp, tcp or tls; sips means tls")
	}
	return nil
}
