package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"carillon"
)

const (
	maxRate     = 10_000
	maxInterval = 24 * time.Hour
	maxUnknown  = 7 * 24 * time.Hour
	minUnknown  = time.Second
	maxCalls    = 100_000

	defaultRing = 45 * time.Second
	minRing     = 5 * time.Second
	maxRing     = 2 * time.Minute
)

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const idRule = "must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -"

func (c *company) sender(f *form) {
	s := Sender{At: f.at}
	s.Number = f.neededAs("number", carillon.ValidNumber, "must be 7 to 15 digits, no + or spaces")
	s.Channel = carillon.Channel(f.neededChoice("channel", string(carillon.Messaging), string(carillon.Voice)))
	if s.Channel == carillon.Voice {
		s.Provider = f.neededChoice("provider", "sip", "sandbox", "twilio", "elevenlabs")
	} else {
		s.Provider = f.neededChoice("provider", "whatsapp", "sandbox")
	}
	if s.ID = f.checked("id", idForm.MatchString, idRule); s.ID == "" {
		s.ID = defaultSenderID(&s.Sender)
	}
	s.Default, _ = f.flag("default")
	c.pace(f, &s.Sender)
	s.Unknown = carillon.DefaultUnknownPolicy()
	f.inner("unknown_outcome", func(f *form) { unknownPolicy(f, &s.Unknown) })
	s.Settings = settings(f, s.Provider)
	c.onceSender(f, &s)
	c.Senders = append(c.Senders, s)
}

// defaultSenderID returns the number, by which requests can name the sender anyway. A voice line gets a prefix,
// because one number may be both a voice line and a messaging sender.
func defaultSenderID(s *carillon.Sender) string {
	if s.Channel == carillon.Voice {
		return "voice-" + s.Number
	}
	return s.Number
}

// pace reads the fields whose defaults depend on the provider. The sandbox is not paced and does not check media.
func (c *company) pace(f *form, s *carillon.Sender) {
	rate, interval, check := 80, 6*time.Second, "full"
	if s.Provider == "sandbox" {
		rate, interval, check = 0, 0, "syntax"
	}
	if s.Channel == carillon.Voice {
		rate, interval = 0, 0
	}
	s.PerSecond = f.number("per_second", rate, maxRate)
	s.PerRecipient = f.duration("per_recipient_interval", interval, 0, maxInterval)
	s.MaxConcurrent = f.number("max_concurrent", 0, maxCalls)
	s.MediaCheck = cmp.Or(f.choice("media_check", "full", "syntax"), check)
	if s.Channel == carillon.Voice {
		s.RingTimeout = f.duration("ring_timeout", defaultRing, minRing, maxRing)
	} else if _, given := f.find("ring_timeout"); given {
		f.fault("ring_timeout", "is for voice lines")
	}
}

func (c *company) onceSender(f *form, s *Sender) {
	f.r.once(f.at, "a sender of this id", c.scope, s.ID)
	f.r.once(f.place("number"), "a "+string(s.Channel)+" sender of this number", c.scope, s.Number)
	if s.Default {
		f.r.once(f.place("default"), "a default "+string(s.Channel)+" sender", c.scope)
	}
}

func unknownPolicy(f *form, p *carillon.UnknownPolicy) {
	for class := range carillon.Class(carillon.Classes) {
		if choice := f.choice(class.String(), "retry", "fail"); choice != "" {
			p.Retry[class] = choice == "retry"
		}
	}
	p.After = f.duration("after", p.After, minUnknown, maxUnknown)
}

// settings reads the provider's own fields: texts, numbers, booleans and secrets. If CheckSettings has the provider,
// its check is applied.
func settings(f *form, provider string) json.RawMessage {
	x, given := f.find("settings")
	values := map[string]any{}
	inner := f
	if given {
		var ok bool
		if inner, ok = f.r.form(x.value, "settings", x.path); !ok {
			return nil
		}
		for _, s := range inner.fields {
			if v, ok := setting(inner, s); ok {
				values[s.name] = v
			}
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		f.r.problem(inner.at, "settings cannot be kept")
		return nil
	}
	if check := f.r.o.CheckSettings[provider]; check != nil {
		if err := check(raw); err != nil {
			f.r.problemOf(settingsFault(f, inner, err))
		}
	}
	return raw
}

func setting(f *form, x field) (any, bool) {
	switch v := x.value.(type) {
	case *ast.NullNode:
		return nil, false
	case *ast.BoolNode:
		return v.Value, true
	case *ast.IntegerNode:
		return f.number(x.name, 0, maxLimit), true
	}
	if s, indirect := f.indirect(x); indirect {
		return s, true
	}
	s, ok := f.textOf(x)
	return s, ok
}

// settingsFault returns the field, position and reason of a provider's error.
func settingsFault(f, settings *form, err error) (string, Position, string) {
	named, reason := faultOf(err)
	key := strings.TrimPrefix(named, "settings.")
	at := f.place("settings")
	if settings != f && slices.ContainsFunc(settings.fields, func(x field) bool { return x.name == key }) {
		at = settings.place(key)
	}
	return named, at, named + ": " + reason
}

// faultOf returns the field and the reason of a validation error.
func faultOf(err error) (field, reason string) {
	var e *carillon.Error
	if !errors.As(err, &e) {
		return "", "cannot be used"
	}
	field, _ = e.Details.Find("field").(string)
	reason, _ = e.Details.Find("reason").(string)
	return field, cmp.Or(reason, e.Message)
}
