package request

import (
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/jsonbody"
)

// Fallback is the call to a recipient whose message is not delivered in time. Its fields have the names of a call's.
type Fallback struct {
	After   time.Duration // since the message was sent
	LineID  string        // recipient_id: the voice line
	AgentID string
	Event   string // name_event of the call; may be empty
}

const (
	fallbackKey    = "fallback"
	fallbackPrefix = fallbackKey + "."

	// FallbackCall is the only channel of a fallback.
	FallbackCall = "call"

	minAfter = time.Minute
	maxAfter = 24 * time.Hour
)

// FallbackField returns the name of a field of the fallback in an error.
func FallbackField(name string) string { return fallbackPrefix + name }

// dotted reads the strings of a flat body whose keys begin with a prefix.
type dotted struct {
	of     texts
	prefix string
}

// String implements texts.
func (d dotted) String(field, key string) (text string, present bool, err error) {
	return d.of.String(field, d.prefix+key)
}

// bodyFallback reads the fallback of a body.
func (r *Request) bodyFallback(root *jsonbody.Object) (*Fallback, error) {
	v := root.Find(fallbackKey)
	var from texts
	switch {
	case r.Flat && v.Present():
		return nil, v.Mismatch(fallbackKey, "keys of the form fallback.<field>", fallbackPrefix+"channel")
	case r.Flat:
		has := func(key string) bool { return strings.HasPrefix(key, fallbackPrefix) && root.Find(key).Present() }
		if !slices.ContainsFunc(root.Keys(), has) {
			return nil, nil //nolint:nilnil // there is none
		}
		from = dotted{root, fallbackPrefix}
	default:
		o, present, err := v.Object(fallbackKey)
		if err != nil || !present {
			return nil, err
		}
		from = o
	}
	return r.readFallback(from)
}

// readFallback checks the fields of a fallback.
func (r *Request) readFallback(from texts) (*Fallback, error) {
	if r.Channel == carillon.Voice {
		return nil, carillon.Invalid(fallbackKey, "Only messages have a fallback, not calls")
	}
	f := &Fallback{}
	var channel, after string
	for _, field := range []struct {
		key      string
		to       *string
		optional bool
	}{
		{"channel", &channel, false},
		{"after", &after, false},
		{"recipient_id", &f.LineID, false},
		{"agent_id", &f.AgentID, false},
		{"name_event", &f.Event, true},
	} {
		name := FallbackField(field.key)
		text, _, err := from.String(name, field.key)
		if err != nil {
			return nil, err
		}
		if !field.optional && strings.TrimSpace(text) == "" {
			return nil, carillon.Missing(name)
		}
		if err := checkLength(name, text, maxLabel); err != nil {
			return nil, err
		}
		*field.to = text
	}
	if channel != FallbackCall {
		return nil, carillon.InvalidValue(FallbackField("channel"), "Must be one of call", channel)
	}
	var err error
	if f.After, err = time.ParseDuration(after); err != nil {
		return nil, carillon.BadFormat(FallbackField("after"), after, "A duration with its unit, from 1m to 24h", "15m")
	}
	if f.After < minAfter || f.After > maxAfter {
		return nil, carillon.InvalidValue(FallbackField("after"), "From 1m to 24h", after)
	}
	return f, nil
}

// FallbackDraft is the fallback of a Draft.
type FallbackDraft struct {
	Channel string `json:"channel"`
	After   string `json:"after"`
	LineID  string `json:"recipient_id"`
	AgentID string `json:"agent_id"`
	Event   string `json:"name_event,omitempty"`
}

func (d *FallbackDraft) fields() fields {
	return fields{
		{"channel", d.Channel}, {"after", d.After}, {"recipient_id", d.LineID}, {"agent_id", d.AgentID}, {"name_event", d.Event},
	}
}
