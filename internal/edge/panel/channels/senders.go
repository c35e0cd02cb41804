// Package channels serves the senders of a company: their settings, what their providers say of them, and the lines of telephone numbers.
// Start with Senders.
package channels

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/provider"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/senders"
	stored "carillon/internal/store/senders"
	"carillon/internal/store/work"
)

// Provider is what the panel knows of a provider's settings.
type Provider struct {
	Check   func(json.RawMessage) error // nil: anything will do
	Shown   []string                    // the settings that are no secrets
	Secrets []string                    // those of which it is said whether they are set
	// Away is a setting whose value is an address that members may choose, where Admit admits it; nil: there is none.
	Away *Away
	// Inspect asks the provider about a sender, and Subscribe has the provider send its callbacks. nil: there is nobody to ask.
	Inspect   func(ctx context.Context, s *carillon.Sender) provider.Inspection
	Subscribe func(ctx context.Context, s *carillon.Sender) error
}

// Away is an address outside of the program that a sender connects to: one that a member chose could let the member send requests from
// inside the installation's network. One that a set-up file gave stays as it is while it is not
// changed here, wherever it is.
type Away struct {
	Setting string // whose value it is
	Usual   string // the default, which anybody may choose; empty: there is none
	Mark    string // a setting that is true once a member has chosen the address: it is checked again when it is used
	Secret  string // a setting that is to be given again with another address, so that it goes nowhere else
	Admit   func(ctx context.Context, settings json.RawMessage) error
	// Claim is a setting that is true once a member has entered the sender's number or the address, and Meets reports whether two senders'
	// settings lead to one place, where a number is one company's. Empty and nil: numbers prove themselves in another way.
	Claim string
	Meets func(ctx context.Context, one, other json.RawMessage) bool
}

// maxSenders bounds the senders of a company that are added here.
const maxSenders = 1000

// Senders serves the routes of single senders. A body is what a set-up has, in JSON. Settings that are secrets are never read
// back; those that a body leaves out keep their values.
type Senders struct {
	Gate      *member.Gate
	Store     *store.Store
	Providers map[string]Provider // that senders may be given here, by name
	Lines     Lines
}

// wholeSender is a sender in a response, with the fields of the set-up.
type wholeSender struct {
	ID            string            `json:"id"`
	Number        string            `json:"number"`
	Channel       carillon.Channel  `json:"channel"`
	Provider      string            `json:"provider"`
	Default       bool              `json:"default"`
	PerSecond     int               `json:"per_second"`
	PerRecipient  string            `json:"per_recipient_interval"`
	MaxConcurrent int               `json:"max_concurrent"`
	RingTimeout   string            `json:"ring_timeout,omitempty"`
	MediaCheck    string            `json:"media_check"`
	Unknown       map[string]string `json:"unknown_outcome"`
	Settings      map[string]any    `json:"settings"`
	Secrets       []string          `json:"secrets"`            // the names of those that are set
	Callback      *callbackAt       `json:"callback,omitempty"` // where the provider is to post callbacks
	Breaker       breakerRow        `json:"breaker"`
}

func (s Senders) get(r *http.Request, by member.Member) (any, error) {
	x, err := s.find(r, by)
	if err != nil {
		return nil, err
	}
	return s.show(r.Context(), x)
}

// find reads the sender of the path. Errors: not_found.
func (s Senders) find(r *http.Request, by member.Member) (*carillon.Sender, error) {
	id, err := senderID(r)
	if err != nil {
		return nil, err
	}
	named, err := s.Store.Senders.SendersNamed(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(named, func(x *carillon.Sender) bool { return x.ID == id })
	if i < 0 {
		return nil, carillon.Absent("Sender")
	}
	return named[i], nil
}

// senderID is the path's. Errors: not_found for what is no id.
func senderID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !resource.ValidIdentifier(id) {
		return "", carillon.Absent("Sender")
	}
	return id, nil
}

func (s Senders) show(ctx context.Context, x *carillon.Sender) (wholeSender, error) {
	w := wholeSender{
		ID: x.ID, Number: x.Number, Channel: x.Channel, Provider: x.Provider, Default: x.Default, PerSecond: x.PerSecond,
		PerRecipient: x.PerRecipient.String(), MaxConcurrent: x.MaxConcurrent, MediaCheck: x.MediaCheck,
		Unknown: map[string]string{"after": x.Unknown.After.String()}, Settings: map[string]any{}, Secrets: []string{},
		Callback: s.callbackOf(x),
	}
	if x.Channel == carillon.Voice {
		w.RingTimeout = x.RingTimeout.String()
	}
	for class, retry := range x.Unknown.Retry {
		word := "fail"
		if retry {
			word = "retry"
		}
		w.Unknown[carillon.Class(class).String()] = word
	}
	for name, value := range settingsOf(x) {
		if slices.Contains(s.Providers[x.Provider].Shown, name) {
			w.Settings[name] = value
		}
		if value != "" && slices.Contains(s.Providers[x.Provider].Secrets, name) {
			w.Secrets = append(w.Secrets, name)
		}
	}
	slices.Sort(w.Secrets)
	breakers, err := s.Store.Breakers.OfCompany(ctx, x.CompanyID)
	i := slices.IndexFunc(breakers, func(b work.Breaker) bool { return b.SenderUID == x.UID })
	w.Breaker = breakerRow{State: work.BreakerClosed}
	if i >= 0 {
		w.Breaker = breakerOf(breakers[i], time.Now())
	}
	return w, err
}

// settingsOf reads the settings of a sender, which are an object wherever they are stored.
func settingsOf(x *carillon.Sender) map[string]any {
	values := map[string]any{}
	_ = json.Unmarshal(x.Settings, &values) // what is not an object has no settings
	return values
}

func (s Senders) add(r *http.Request, by member.Member) (any, error) {
	x, err := s.read(r, by, "")
	if err != nil {
		return nil, err
	}
	if err := s.complete(x, nil); err != nil {
		return nil, err
	}
	if err := s.admit(r.Context(), x); err != nil {
		return nil, err
	}
	others, err := s.claim(r.Context(), x, nil)
	if err != nil {
		return nil, err
	}
	err = s.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		have, err := senders.FindSender(ctx, tx, by.CompanyID, x.ID)
		if err != nil {
			return err
		}
		if have != nil {
			return &carillon.Error{Code: carillon.Conflict, Message: "The present state does not allow this", Details: carillon.Details{
				{Key: "field", Value: "id"}, {Key: "reason", Value: "The company has a sender of the id " + x.ID},
			}}
		}
		if err := senders.RoomForSender(ctx, tx, by.CompanyID, maxSenders); err != nil {
			return err
		}
		if err := s.claimed(ctx, tx, x, nil, others); err != nil {
			return err
		}
		_, err = senders.DeclareSender(ctx, tx, x, time.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	w, err := s.show(r.Context(), x)
	return httpio.Created{Value: w}, err
}

func (s Senders) replace(r *http.Request, by member.Member, id string) (any, error) {
	x, err := s.read(r, by, id)
	if err != nil {
		return nil, err
	}
	given := x.Settings
	have, err := s.find(r, by)
	if err != nil {
		return nil, err
	}
	if err := s.complete(x, have); err != nil {
		return nil, err
	}
	if err := s.admit(r.Context(), x); err != nil { // names are not looked up inside the transaction
		return nil, err
	}
	others, err := s.claim(r.Context(), x, have)
	if err != nil {
		return nil, err
	}
	err = s.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		have, err := senders.FindSender(ctx, tx, by.CompanyID, x.ID)
		if err != nil {
			return err
		}
		if have == nil {
			return carillon.Absent("Sender")
		}
		if have.Channel != x.Channel {
			return carillon.Invalid("channel", "A sender keeps its channel: add another sender")
		}
		x.Settings = given // a repeated transaction starts over
		if err := s.complete(x, have); err != nil {
			return err
		}
		if err := s.claimed(ctx, tx, x, have, others); err != nil {
			return err
		}
		_, err = senders.DeclareSender(ctx, tx, x, time.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.show(r.Context(), x)
}

// read reads a body; id is the path's, empty for a new sender.
func (s Senders) read(r *http.Request, by member.Member, id string) (*carillon.Sender, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	if id != "" {
		if err := form.SameID(o, id); err != nil {
			return nil, err
		}
	}
	x, err := config.SenderOf(o)
	if err != nil {
		return nil, err
	}
	if _, known := s.Providers[x.Provider]; !known {
		return nil, carillon.Invalid("provider", "Must be one of "+strings.Join(names(s.Providers), ", ")+": others need a set-up file")
	}
	if x.CompanyID = by.CompanyID; id != "" {
		x.ID = id
	}
	return x, nil
}

func names(all map[string]Provider) (list []string) {
	for name := range all {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// complete checks the settings of a sender, after it has filled those that are left out with those of the stored one.
func (s Senders) complete(x, have *carillon.Sender) error {
	p, values, stored := s.Providers[x.Provider], settingsOf(x), map[string]any{}
	if have != nil && have.Provider == x.Provider {
		stored = settingsOf(have)
	}
	if err := p.Away.mark(values, stored); err != nil {
		return err
	}
	if a := p.Away; a != nil && a.Claim != "" {
		delete(values, a.Claim)
		address, given := values[a.Setting]
		if have == nil || have.Provider != x.Provider || have.Number != x.Number || given && address != stored[a.Setting] {
			values[a.Claim] = "true"
		}
	}
	for name, value := range stored {
		if _, given := values[name]; !given {
			values[name] = value
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	x.Settings = raw
	if p.Check == nil {
		return nil
	}
	return p.Check(raw)
}

// mark says of the settings who chose the address: this member, or whoever chose the stored one.
func (a *Away) mark(values, stored map[string]any) error {
	if a == nil {
		return nil
	}
	delete(values, a.Mark)
	address, given := values[a.Setting]
	if !given || address == stored[a.Setting] || stored[a.Setting] == nil && address == a.Usual && a.Usual != "" {
		return nil
	}
	if secret, kept := stored[a.Secret]; kept && secret != "" && values[a.Secret] == nil {
		return carillon.Invalid("settings."+a.Secret, "Must be given again with another address")
	}
	values[a.Mark] = "true"
	if address == a.Usual {
		values[a.Mark] = "false"
	}
	return nil
}

// admit checks the address of a sender, where a member chose it.
func (s Senders) admit(ctx context.Context, x *carillon.Sender) error {
	a := s.Providers[x.Provider].Away
	if a == nil {
		return nil
	}
	return a.Admit(ctx, x.Settings)
}

func (s Senders) remove(r *http.Request, by member.Member, id string) (any, error) {
	return nil, s.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return senders.RemoveSender(ctx, tx, by.CompanyID, id, time.Now())
	})
}

// senderRow is a sender with the state of its circuit breaker. Its settings are left out: they contain secrets.
type senderRow struct {
	ID       string           `json:"id"`
	Number   string           `json:"number"`
	Channel  carillon.Channel `json:"channel"`
	Provider string           `json:"provider"`
	Default  bool             `json:"default"`
	Breaker  breakerRow       `json:"breaker"`
	Line     *lineRow         `json:"line,omitempty"`   // of voice lines, where they are asked for by their channel
	Report   *reportRow       `json:"report,omitempty"` // of messaging senders, in the same case
}

// breakerRow is the state of a sender's circuit breaker. Class and the fields after it are null while it is closed.
type breakerRow struct {
	State  work.BreakerState `json:"state"`
	Class  *provider.Fault   `json:"class"`
	Detail *string           `json:"detail"`
	Since  *string           `json:"since"`
	Until  *string           `json:"until"`
}

// listSenders responds with the company's senders, or those of a channel. There are no pages: a company has few.
func (x Senders) listSenders(r *http.Request, by member.Member) (any, error) {
	channel := carillon.Channel(r.URL.Query().Get("channel"))
	if channel != "" && channel != carillon.Messaging && channel != carillon.Voice {
		return nil, carillon.Invalid("channel", "Must be messaging or voice")
	}
	all, err := x.Store.Senders.Senders(r.Context(), by.CompanyID)
	if err != nil {
		return nil, err
	}
	breakers, err := x.Store.Breakers.OfCompany(r.Context(), by.CompanyID)
	if err != nil {
		return nil, err
	}
	open := make(map[int64]work.Breaker, len(breakers))
	for _, b := range breakers {
		open[b.SenderUID] = b
	}
	rows := httpio.List[senderRow]{Data: make([]senderRow, 0, len(all))}
	now := time.Now()
	var reports map[int64]stored.Report
	for _, s := range all {
		if channel != "" && s.Channel != channel {
			continue
		}
		if channel == carillon.Messaging && reports == nil {
			if reports, err = x.Store.Senders.Reports(r.Context(), by.CompanyID); err != nil {
				return nil, err
			}
		}
		row := senderRow{
			ID: s.ID, Number: s.Number, Channel: s.Channel, Provider: s.Provider, Default: s.Default, Breaker: breakerOf(open[s.UID], now),
		}
		if channel == carillon.Voice {
			if row.Line, err = x.lineRow(r.Context(), s, len(rows.Data) < linesShown); err != nil {
				return nil, err
			}
		}
		if channel == carillon.Messaging {
			row.Report = reportOf(x.fresh(s, reports[s.UID]), false)
		}
		rows.Data = append(rows.Data, row)
	}
	return rows, nil
}

func breakerOf(b work.Breaker, now time.Time) breakerRow {
	if b.State == "" {
		return breakerRow{State: work.BreakerClosed}
	}
	if b.State == work.BreakerOpen && !b.Until.After(now) {
		b.State = work.BreakerHalfOpen // no message was due since then that would have probed it
	}
	return breakerRow{State: b.State, Class: &b.Fault, Detail: &b.Detail, Since: auth.TimeOrNull(b.Since), Until: auth.TimeOrNull(b.Until)}
}
