package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

type sendersCommand struct {
	List   listCommand[senderState] `cmd:"" help:"List the company's senders and their circuit breakers."`
	Show   sendersShow              `cmd:"" help:"Show a sender, without the secrets of its settings."`
	Add    sendersAdd               `cmd:"" help:"Add a sender: a number that messages are sent from, or a line that calls are placed on."`
	Remove sendersRemove            `cmd:"" help:"Remove a sender of which nothing waits, with its templates."`
}

// senderState is a sender as the panel returns it. In a list only the first fields are set.
type senderState struct {
	ID       string `json:"id"`
	Number   string `json:"number"`
	Channel  string `json:"channel"`
	Provider string `json:"provider"`
	Default  bool   `json:"default"`
	senderRules
	Breaker struct {
		State  string  `json:"state"`
		Class  *string `json:"class"`
		Detail *string `json:"detail"`
		Since  *string `json:"since"`
		Until  *string `json:"until"`
	} `json:"breaker"`
}

// senderRules are the fields that only the response for a single sender has.
type senderRules struct {
	PerSecond     *int              `json:"per_second,omitempty"`
	PerRecipient  string            `json:"per_recipient_interval,omitempty"`
	MaxConcurrent *int              `json:"max_concurrent,omitempty"`
	RingTimeout   string            `json:"ring_timeout,omitempty"`
	MediaCheck    string            `json:"media_check,omitempty"`
	Unknown       map[string]string `json:"unknown_outcome,omitempty"`
	Settings      map[string]any    `json:"settings,omitempty"`
}

func (senderState) list() (path string, columns []string) {
	return "senders", []string{"ID", "NUMBER", "CHANNEL", "PROVIDER", "BREAKER", "CLASS", "SINCE", "UNTIL", "DETAIL"}
}

func (s senderState) rows() [][]string {
	b := s.Breaker
	return [][]string{{
		s.ID, s.Number, s.Channel, s.Provider,
		b.State, text(b.Class, "-"), text(b.Since, "-"), text(b.Until, "-"), oneLine(text(b.Detail, ""), 60),
	}}
}

type sendersShow struct {
	ID string `arg:"" help:"Id of the sender."`
	memberFlags
}

// Run shows the sender.
func (s *sendersShow) Run(ctx context.Context, env *environment) error {
	var x senderState
	if err := s.do(ctx, env, http.MethodGet, "senders/"+url.PathEscape(s.ID), nil, &x); err != nil {
		return err
	}
	rows := [][]string{
		{"id", x.ID},
		{"number", x.Number},
		{"channel", x.Channel},
		{"provider", x.Provider},
		{"default", fmt.Sprint(x.Default)},
		{"media check", x.MediaCheck},
		{"between messages to one number", x.PerRecipient},
		{"breaker", x.Breaker.State},
	}
	if x.PerSecond != nil {
		rows = append(rows, []string{"per second", noneOr(*x.PerSecond)})
	}
	if x.MaxConcurrent != nil && x.Channel == "voice" {
		rows = append(rows, []string{"calls at once", noneOr(*x.MaxConcurrent)}, []string{"ring timeout", x.RingTimeout})
	}
	for _, name := range slices.Sorted(maps.Keys(x.Unknown)) {
		rows = append(rows, []string{"unknown outcome, " + name, x.Unknown[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(x.Settings)) {
		rows = append(rows, []string{"setting " + name, fmt.Sprint(x.Settings[name])})
	}
	return s.show(env, x, rows)
}

func noneOr(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprint(n)
}

type sendersAdd struct {
	Number        typedNumber `required:"" placeholder:"NUMBER" help:"Phone number, with the country code."`
	Provider      string      `required:"" enum:"sandbox,whatsapp" placeholder:"PROVIDER" help:"sandbox or whatsapp."`
	Channel       string      `enum:"messaging,voice" default:"messaging" placeholder:"CHANNEL" help:"${channel_help}"`
	ID            string      `placeholder:"ID" help:"Id; else the number, for a voice line voice- and the number."`
	Default       bool        `help:"Make it the one that is used where a request names none."`
	PerSecond     *int        `placeholder:"N" help:"Messages a second; else the provider's default."`
	PerRecipient  string      `name:"per-recipient-interval" placeholder:"DURATION" help:"${interval_help}"`
	MaxConcurrent *int        `placeholder:"N" help:"Calls at once; else no limit."`
	RingTimeout   string      `placeholder:"DURATION" help:"How long a call rings, as 45s."`
	MediaCheck    string      `enum:",full,syntax" default:"" placeholder:"CHECK" help:"full or syntax."`
	Setting       []string    `sep:"none" placeholder:"KEY=VALUE" help:"Provider setting, as phone_number_id=1000001; may be repeated."`
	SettingFile   []string    `sep:"none" placeholder:"KEY=FILE" help:"Provider setting read from a file, as access_token=token.txt."`
	memberFlags
}

// Run adds the sender.
func (s *sendersAdd) Run(ctx context.Context, env *environment) error {
	body, err := s.body()
	if err != nil {
		return err
	}
	var x senderState
	if err := s.do(ctx, env, http.MethodPost, "senders", body, &x); err != nil {
		return err
	}
	if err := s.done(env, x, fmt.Sprintf("sender %s (%s, %s) added", x.ID, x.Channel, x.Provider)); err != nil {
		return err
	}
	env.next(s.JSON, "keys create --label 'My application'"+s.sameFlags(s.credentials))
	return nil
}

func (s *sendersAdd) body() (map[string]any, error) {
	settings, err := pairs("--setting", "phone_number_id=1000001", s.Setting)
	if err != nil {
		return nil, err
	}
	files, err := pairs("--setting-file", "access_token=token.txt", s.SettingFile)
	if err != nil {
		return nil, err
	}
	for name, file := range files {
		if _, twice := settings[name]; twice {
			return nil, usage("%s is given both directly and by a file: give one of them", name)
		}
		if settings[name], err = readSecret(file); err != nil {
			return nil, err
		}
	}
	body := map[string]any{"number": s.Number, "provider": s.Provider, "channel": s.Channel}
	for name, value := range map[string]string{
		"id": s.ID, "per_recipient_interval": s.PerRecipient, "ring_timeout": s.RingTimeout, "media_check": s.MediaCheck,
	} {
		if strings.TrimSpace(value) != "" {
			body[name] = value
		}
	}
	for name, value := range map[string]*int{"per_second": s.PerSecond, "max_concurrent": s.MaxConcurrent} {
		if value != nil {
			body[name] = *value
		}
	}
	if s.Default {
		body["default"] = true
	}
	if len(settings) > 0 {
		body["settings"] = settings
	}
	return body, nil
}

type sendersRemove struct {
	ID string `arg:"" help:"Id of the sender."`
	memberFlags
}

// Run removes the sender.
func (s *sendersRemove) Run(ctx context.Context, env *environment) error {
	if err := s.do(ctx, env, http.MethodDelete, "senders/"+url.PathEscape(s.ID), nil, nil); err != nil {
		return err
	}
	return s.done(env, map[string]any{"id": s.ID, "removed": true}, "sender "+s.ID+" removed")
}
