package config

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"carillon"
)

// Roles returns the roles of members; the first is the default.
func Roles() []string {
	return []string{"viewer", "teammate", "marketer", "developer", "admin", "owner"}
}

// Scopes returns the scopes of access keys (docs/reference/signing-in.md).
func Scopes() []string {
	return []string{
		"*", "notify:send", "notify:read", "voice:send", "templates:read", "templates:write", "widget:use",
		"suppressions:write", "usage:read",
	}
}

const (
	maxLimit     = 1_000_000_000
	maxRetention = 36_500 // days: a hundred years
)

func limits(f *form, l *Limits) {
	for _, x := range []struct {
		name string
		to   **int
	}{
		{"sends_per_minute", &l.SendsPerMinute},
		{"template_lists_per_minute", &l.TemplateListsPerMinute},
		{"daily_recipients", &l.DailyRecipients},
		{"templates_per_day", &l.TemplatesPerDay},
		{"widget_calls_per_minute", &l.WidgetCallsPerMinute},
	} {
		if n := f.number(x.name, -1, maxLimit); n >= 0 {
			*x.to = &n
		}
	}
}

var days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} //nolint:gochecknoglobals // read only

func callingHours(f *form) *carillon.CallingHours {
	h := &carillon.CallingHours{Timezone: "UTC", From: "00:00", To: "24:00", Days: days}
	if zone := f.checked("timezone", validZone, "must be an IANA time zone such as Europe/Madrid"); zone != "" {
		h.Timezone = zone
	}
	if from := f.checked("from", hourForm.MatchString, "must be a time of day such as 09:00"); from != "" {
		h.From = from
	}
	if to := f.checked("to", validEnd, "must be a time of day such as 21:00"); to != "" {
		h.To = to
	}
	if named := f.words("days", days...); named != nil {
		h.Days = slices.SortedFunc(slices.Values(named), func(a, b string) int { return slices.Index(days, a) - slices.Index(days, b) })
	}
	return h
}

func validZone(s string) bool {
	_, err := carillon.ParseZone(s)
	return err == nil
}

var hourForm = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

func validEnd(s string) bool { return hourForm.MatchString(s) || s == "24:00" }

// Bounds of a redial policy.
const (
	maxRedials     = 10
	minRedialAfter = time.Minute
	maxRedialAfter = 24 * time.Hour
)

// redial reads a policy. Absent fields are those of a new company; an empty list of outcomes disables redialing.
func redial(f *form) *carillon.Redial {
	p := carillon.NewCompany("").Redial
	all := []string{string(carillon.StateBusy), string(carillon.StateNoAnswer), string(carillon.StateRejected), string(carillon.StateVoicemail)}
	if _, given := f.find("outcomes"); given {
		p.Outcomes = []carillon.State{}
		named := f.words("outcomes", all...)
		for _, outcome := range all {
			if slices.Contains(named, outcome) {
				p.Outcomes = append(p.Outcomes, carillon.State(outcome))
			}
		}
	}
	p.Attempts = f.number("attempts", p.Attempts, maxRedials)
	p.After = f.durationBetween("after", p.After, minRedialAfter, maxRedialAfter)
	return &p
}

const (
	minPassword = 8
	maxPassword = 1024
)

func (c *company) user(f *form) {
	u := User{At: f.at, Email: strings.ToLower(f.needed("email")), Name: label(f, "name"), Password: f.secret("password")}
	if u.Email != "" && !ValidEmail(u.Email) {
		f.r.problem(f.place("email"), "email must be an address such as ana@example.com")
	}
	if n := len(u.Password); n > maxPassword || n > 0 && n < minPassword {
		f.r.problem(f.place("password"), "password must have 8 to 1,024 bytes")
	}
	u.Role = f.optionalChoice("role", Roles()...)
	f.r.once(f.at, "a user of this e-mail", c.scope, u.Email)
	c.Users = append(c.Users, u)
}

// ValidEmail reports whether s is a bare address of a mailbox.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 254 && !strings.ContainsAny(s, " \"")
}

const (
	minKey = 8
	maxKey = 255
)

func (c *company) key(f *form) {
	k := Key{At: f.at, Key: f.secret("key"), Label: label(f, "label")}
	if _, given := f.find("key"); given && !validKey(k.Key) {
		f.r.problem(f.place("key"), "key must be 8 to 255 characters of A-Z, a-z, 0-9, _ and -")
	}
	k.Scopes = f.words("scopes", Scopes()...)
	if k.Scopes == nil {
		k.Scopes = []string{"*"}
	}
	k.ExpiresAt = f.instant("expires_at").Truncate(time.Millisecond)
	k.Revoked, _ = f.flag("revoked")
	if k.Key == "" {
		if k.Label == "" {
			k.Label = "default"
		}
		f.r.once(f.at, "a made key of this label", c.scope, k.Label)
	} else {
		f.r.once(f.at, "this key", k.Key)
	}
	c.Keys = append(c.Keys, k)
}

// validKey accepts characters that need no escaping in a query string.
func validKey(s string) bool {
	if len(s) < minKey || len(s) > maxKey {
		return false
	}
	for _, b := range []byte(s) {
		if (b|0x20 < 'a' || b|0x20 > 'z') && (b < '0' || b > '9') && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

func (c *company) suppress(f *form) {
	for _, x := range f.items("suppressions") {
		number, ok := f.textOf(x)
		if ok && !carillon.ValidNumber(number) {
			f.wrong(x, "must hold numbers of 7 to 15 digits, no + or spaces")
		}
		if !slices.Contains(c.Suppressions, number) {
			c.Suppressions = append(c.Suppressions, number)
		}
	}
}
