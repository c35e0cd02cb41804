package whatsapp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// CallPeer is the channel's SIP peer, over TLS, and the realm of its challenges.
const CallPeer = "wa.meta.vc"

// Calls manages the calls of senders: their settings and the permissions of people.
type Calls struct{ client *Client }

// CallsOf returns the calls of a client's senders.
func CallsOf(c *Client) Calls { return Calls{c} }

// callingValue has the settings of a number for calls.
type callingValue struct {
	Calling struct {
		Status string `json:"status"`
		SIP    struct {
			Status  string `json:"status"`
			Servers list[struct {
				Hostname string `json:"hostname"`
				Port     int    `json:"port"`
				Password string `json:"sip_user_password"`
			}] `json:"servers"`
		} `json:"sip"`
	} `json:"calling"`
}

const (
	enabled, disabled = "ENABLED", "DISABLED"
	otherNumber       = "the ID belongs to another number"
)

// Settings reads the settings of a sender's number for calls. Errors: conflict, upstream_unavailable.
func (c Calls) Settings(ctx context.Context, s *carillon.Sender) (provider.CallSettings, error) {
	var v callingValue
	if err := c.client.read(ctx, s, "/settings", url.Values{"include_sip_credentials": {"true"}}, &v); err != nil {
		return provider.CallSettings{}, err
	}
	x := provider.CallSettings{On: v.Calling.Status == enabled && v.Calling.SIP.Status == enabled}
	if all := v.Calling.SIP.Servers; len(all) > 0 {
		x.Hostname, x.Port, x.Password = all[0].Hostname, all[0].Port, all[0].Password
	}
	return x, nil
}

// Set switches the calls of a sender's number on or off, and returns the settings with the password that the channel made.
// The number must be the sender's: who controls it here receives its calls. Errors: conflict, upstream_unavailable.
func (c Calls) Set(ctx context.Context, s *carillon.Sender, x provider.CallSettings) (provider.CallSettings, error) {
	if !x.On {
		return x, c.set(ctx, s, map[string]any{
			"status": disabled, "sip": map[string]any{"status": disabled, "servers": []any{}},
		})
	}
	var n struct {
		Display string `json:"display_phone_number"`
	}
	if err := c.client.read(ctx, s, "", url.Values{"fields": {"display_phone_number"}}, &n); err != nil {
		return x, err
	}
	if !identity.Number(s.Number).Is(digitsOf(n.Display)) {
		err := carillon.InConflict("The channel refused: " + otherNumber)
		err.Details = append(err.Details, carillon.Detail{Key: DetailRefusal, Value: "calls_other_number"})
		return x, err
	}
	err := c.set(ctx, s, map[string]any{
		"status": enabled, "srtp_key_exchange_protocol": "SDES",
		"sip": map[string]any{
			"status": enabled, "webhook_delivery": enabled, "servers": []any{map[string]any{"hostname": x.Hostname, "port": x.Port}},
		},
		"audio": map[string]any{"additional_codecs": []string{"PCMA", "PCMU"}},
	})
	if err != nil {
		return x, err
	}
	made, err := c.Settings(ctx, s)
	if err == nil && (!made.On || made.Password == "" || !strings.EqualFold(made.Hostname, x.Hostname)) {
		err = unavailable(errors.New("settings of calls without the password of the server"), 0)
	}
	return made, err
}

func (c Calls) set(ctx context.Context, s *carillon.Sender, calling map[string]any) error {
	var done struct {
		Success bool `json:"success"`
	}
	err := c.client.request(ctx, s, "/settings", map[string]any{"calling": calling}, &done)
	if err == nil && !done.Success {
		err = unavailable(errors.New("response to a change of calls without success"), 0)
	}
	return err
}

// permissionValue is the channel's answer about the permission of a person.
type permissionValue struct {
	Permission struct {
		Status     string  `json:"status"`
		Expiration seconds `json:"expiration_time"`
	} `json:"permission"`
	Actions list[struct {
		Name   string `json:"action_name"`
		May    bool   `json:"can_perform_action"`
		Limits list[struct {
			Allowed    int     `json:"max_allowed"`
			Usage      int     `json:"current_usage"`
			Expiration seconds `json:"limit_expiration_time"`
		}] `json:"limits"`
	}] `json:"actions"`
}

// Permission asks the channel whether a person, by number or by the channel's id, may be called. Errors: conflict,
// upstream_unavailable.
func (c Calls) Permission(ctx context.Context, s *carillon.Sender, number, userID string) (provider.CallPermission, error) {
	query := url.Values{"user_wa_id": {number}}
	if number == "" {
		query = url.Values{"recipient": {userID}}
	}
	var v permissionValue
	if err := c.client.read(ctx, s, "/call_permissions", query, &v); err != nil {
		return provider.CallPermission{}, err
	}
	x := provider.CallPermission{Given: v.Permission.Status == "temporary" || v.Permission.Status == "permanent"}
	if v.Permission.Status == "temporary" {
		x.Until = v.Permission.Expiration.instant()
	}
	for i := range v.Actions {
		a := &v.Actions[i]
		var again time.Time
		for _, l := range a.Limits {
			if at := l.Expiration.instant(); l.Usage >= l.Allowed && at.After(again) {
				again = at
			}
		}
		switch a.Name {
		case "start_call":
			x.MayCall, x.CallAt = a.May, again
		case "send_call_permission_request":
			x.MayAsk, x.AskAt = a.May, again
		}
	}
	return x, nil
}

// read reads an edge of a sender's number. Errors: conflict, upstream_unavailable.
func (c *Client) read(ctx context.Context, s *carillon.Sender, edge string, query url.Values, into any) error {
	return c.exchanged(ctx, s, http.MethodGet, edge, query, nil, into)
}

// asksForCalls reports whether a template asks for permission to call.
func asksForCalls(t *carillon.Template) bool {
	return slices.ContainsFunc(t.Components, func(c carillon.Component) bool {
		return strings.EqualFold(c.Type, content.TypeCallPermission)
	})
}

// mayNotAsk returns the refusal of a request for permission to call which the channel would not deliver now; nil if it may be
// sent. Without an answer it may: the channel checks it again.
func (c *Client) mayNotAsk(ctx context.Context, s *carillon.Sender, number, userID string) *provider.Outcome {
	x, err := CallsOf(c).Permission(ctx, s, number, userID)
	if err != nil || x.MayAsk {
		return nil
	}
	out := &provider.Outcome{
		Verdict: provider.Refused, Reason: carillon.ReasonChannelLimited, Detail: "too many requests for permission to call this person",
	}
	switch {
	case x.Given && x.Until.IsZero():
		out.Reason, out.Detail = carillon.ReasonProviderRefused, "the person already allows calls permanently"
	case !x.AskAt.IsZero():
		out.Detail += ", until " + carillon.FormatTime(x.AskAt)
	}
	return out
}
