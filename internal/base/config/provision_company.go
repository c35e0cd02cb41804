package config

import (
	"cmp"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"carillon"
	"carillon/internal/base/schedule"
)

// Roles returns the roles of members; the first is the default.
func Roles() []string {
	return []string{"viewer", "teammate", "marketer", "developer", "admin", "owner"}
}

// Scopes returns the scopes of access keys (docs/reference/signing-in.md).
func Scopes() []string {
	return []string{
		"*", "notify:send", "notify:read", "voice:send", "messages:write", "templates:read", "templates:write", "widget:use",
		"suppressions:write", "usage:read",
	}
}

const (
	maxLimit     = 1_000_000_000
	maxBytes     = 1_000_000_000_000_000
	maxRetention = 36_500 // days, which is a hundred years
)

// change records a change of a company field, for Over.
func (c *company) change(set func(*carillon.Company)) { c.changes = append(c.changes, set) }

// fields reads the company's own fields.
func (c *company) fields(f *form) {
	if status := f.choice("status", "active", "suspended"); status != "" {
		c.change(func(x *carillon.Company) { x.Suspended = status == "suspended" })
	}
	c.settings(f)
}

// settings reads the fields that members of the company may also change.
func (c *company) settings(f *form) {
	if strict, given := f.flag("strict_recipient_id"); given {
		c.change(func(x *carillon.Company) { x.StrictRecipientID = strict })
	}
	c.number(f, "retention_days", maxRetention, func(x *carillon.Company) *int { return &x.RetentionDays })
	c.number(f, "recording_days", maxRetention, func(x *carillon.Company) *int { return &x.RecordingDays })
	f.inner("limits", func(f *form) {
		c.number(f, "sends_per_minute", maxLimit, func(x *carillon.Company) *int { return &x.Limits.SendsPerMinute })
		c.number(f, "template_lists_per_minute", maxLimit, func(x *carillon.Company) *int { return &x.Limits.TemplateListsPerMinute })
		c.number(f, "lists_per_minute", maxLimit, func(x *carillon.Company) *int { return &x.Limits.ListsPerMinute })
		c.number(f, "daily_recipients", maxLimit, func(x *carillon.Company) *int { return &x.Limits.DailyRecipients })
		c.number(f, "daily_calls", maxLimit, func(x *carillon.Company) *int { return &x.Limits.DailyCalls })
		c.number(f, "daily_bytes", maxBytes, func(x *carillon.Company) *int { return &x.Limits.DailyBytes })
		c.number(f, "templates_per_day", maxLimit, func(x *carillon.Company) *int { return &x.Limits.TemplatesPerDay })
		c.number(f, "widget_calls_per_minute", maxLimit, func(x *carillon.Company) *int { return &x.Limits.WidgetCallsPerMinute })
		c.number(f, "engine_turns_per_day", maxLimit, func(x *carillon.Company) *int { return &x.Limits.EngineTurnsPerDay })
	})
	f.inner("calling_hours", func(f *form) {
		hours := callingHours(f)
		c.change(func(x *carillon.Company) { x.CallingHours = hours })
	})
	f.inner("redial", func(f *form) {
		policy := redial(f)
		c.change(func(x *carillon.Company) { x.Redial = policy })
	})
}

func (c *company) number(f *form, name string, most int, to func(*carillon.Company) *int) {
	if n := f.number(name, -1, most); n >= 0 {
		c.change(func(x *carillon.Company) { *to(x) = n })
	}
}

var days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} //nolint:gochecknoglobals // read-only

func callingHours(f *form) *carillon.CallingHours {
	h := &carillon.CallingHours{
		Timezone: cmp.Or(f.checked("timezone", validZone, "must be an IANA time zone such as Europe/Madrid"), "UTC"),
		From:     cmp.Or(f.checked("from", hourForm.MatchString, "must be a time of day such as 09:00"), "00:00"),
		To:       cmp.Or(f.checked("to", validEnd, "must be a time of day such as 21:00"), "24:00"),
		Days:     days,
	}
	if named := f.words("days", days...); named != nil {
		h.Days = slices.SortedFunc(slices.Values(named), func(a, b string) int { return slices.Index(days, a) - slices.Index(days, b) })
	}
	return h
}

func validZone(s string) bool {
	_, err := schedule.Zone(s)
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

// redial reads a redial policy. Absent fields get the values of a new company. An empty list of outcomes disables
// redialing.
func redial(f *form) carillon.Redial {
	p := carillon.NewCompany("").Redial
	all := []string{
		string(carillon.StateBusy), string(carillon.StateNoAnswer), string(carillon.StateRejected), string(carillon.StateVoicemail),
	}
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
	p.After = f.duration("after", p.After, minRedialAfter, maxRedialAfter)
	return p
}

const (
	minPassword = 8
	maxPassword = 1024
)

func (c *company) user(f *form) {
	u := User{
		At: f.at, Name: f.checked("name", oneLine, oneLineRule), Password: f.secret("password"), Role: f.choice("role", Roles()...),
		Email: FoldEmail(f.neededAs("email", ValidEmail, "must be an address such as ana@example.com")),
	}
	if n := len(u.Password); n > maxPassword || n > 0 && n < minPassword {
		f.fault("password", "must have 8 to 1,024 bytes")
	}
	f.r.once(f.at, "a user of this e-mail", c.scope, u.Email)
	c.Users = append(c.Users, u)
}

// ValidEmail reports whether s is a bare address of a mailbox.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 254 && !strings.ContainsAny(s, " \"")
}

// FoldEmail returns an e-mail address in lower case. A letter stays unchanged if its lower case is the letter of a
// different address: the Kelvin sign becomes a k, but the two mailboxes differ.
func FoldEmail(s string) string {
	return strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); unicode.ToUpper(lower) == r {
			return lower
		}
		return r
	}, s)
}

// keyForm allows only characters that need no escaping in a query string.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,255}$`)

func (c *company) key(f *form) {
	k := Key{At: f.at, Key: f.secret("key"), Label: f.checked("label", oneLine, oneLineRule)}
	if _, given := f.find("key"); given && !keyForm.MatchString(k.Key) {
		f.fault("key", "must be 8 to 255 characters of A-Z, a-z, 0-9, _ and -")
	}
	k.Scopes = f.words("scopes", Scopes()...)
	if k.Scopes == nil {
		k.Scopes = []string{"*"}
	}
	k.ExpiresAt = f.instant("expires_at").Truncate(time.Millisecond)
	k.Revoked, _ = f.flag("revoked")
	if k.Key == "" {
		k.Label = cmp.Or(k.Label, "default")
		f.r.once(f.at, "a made key of this label", c.scope, k.Label)
	} else {
		f.r.once(f.at, "this key", k.Key)
	}
	c.Keys = append(c.Keys, k)
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
