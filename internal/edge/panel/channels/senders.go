// Package channels serves the senders of a company: their settings, their providers' reports, and the lines of
// telephone numbers. Start reading with Senders.
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
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

// Provider describes a provider's settings to the panel.
type Provider struct {
	Check   func(json.RawMessage) error // nil accepts anything
	Shown   []string                    // settings that are not secrets
	Secrets []string                    // secrets that are shown as set or not set
	// Away describes a setting with an address that members may choose; nil if there is none.
	Away *Away
	// Inspect queries the provider about a sender. Subscribe makes the provider send its callbacks. Both are nil if
	// the provider has no such API.
	Inspect   func(ctx context.Context, s *carillon.Sender) provider.Inspection
	Subscribe func(ctx context.Context, s *carillon.Sender) error
	// Explain returns a finding for the detail of the sender's open circuit breaker; nil if a check finds the cause.
	Explain func(detail string) *provider.Finding
	// Register registers a number with a PIN, and SetPIN changes the PIN; it is kept nowhere. AskHistory makes the provider
	// send the conversations or the contacts from before the connection. They are nil if the provider has no such API.
	Register, SetPIN func(ctx context.Context, s *carillon.Sender, pin string) error
	AskHistory       func(ctx context.Context, s *carillon.Sender, contacts bool) error
	// Redirect makes the provider post the callbacks of a sender's number to an address; nil if it has no such API.
	Redirect func(ctx context.Context, s *carillon.Sender, address string) error
	Calling  *Calling // nil if its senders have no calls
}

// Away is an external address that a sender connects to. An address chosen by a member could be used to send requests
// into the installation's network, so Admit checks it. An address from a set-up file is exempt until a member changes
// it.
type Away struct {
	Setting string   // setting with the address
	Usual   string   // the default, which any member may choose; empty if none
	Mark    string   // setting that is true once a member has chosen the address, which is then checked again at each use
	Secrets []string // settings that must be entered again with a new address, so that it never gets the stored ones
	Admit   func(ctx context.Context, settings json.RawMessage) error
	// Claim is a setting that is true once a member has entered the sender's number or address. Meets reports whether
	// the settings of two senders use the same trunk. On one trunk, a number can belong to only one company. Both are
	// unset if the ownership of numbers is proven in another way.
	Claim string
	Meets func(ctx context.Context, one, other json.RawMessage) bool
}

// maxSenders limits the senders that members of a company add.
const maxSenders = 1000

// Senders serves the routes of single senders. A body has the fields of a set-up file, in JSON. Secrets are never
// returned; secrets omitted in a body keep their values.
type Senders struct {
	Gate      *member.Gate
	Store     *store.Store
	Providers map[string]Provider // the providers that members may choose, by name
	Lines     Lines
	SignUp    *SignUp // nil without an application of the operator
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
	MediaCheck    string            `json:"media_check" enum:"full,syntax"`
	Unknown       map[string]string `json:"unknown_outcome"`
	Settings      map[string]any    `json:"settings"`
	Secrets       []string          `json:"secrets"`            // names of the secrets that are set
	Callback      *callbackAt       `json:"callback,omitempty"` // address to which the provider must post callbacks
	Breaker       breakerRow        `json:"breaker"`
}

func (s Senders) get(r *http.Request, by member.Member) (wholeSender, error) {
	x, err := s.find(r, by)
	if err != nil {
		return wholeSender{}, err
	}
	return s.show(r.Context(), x)
}

// find returns the sender named in the path. Errors: not_found.
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

// senderID reads the id from the path. Errors: not_found for an invalid id.
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

// settingsOf decodes the settings of a sender. Stored settings are always an object.
func settingsOf(x *carillon.Sender) map[string]any {
	values := map[string]any{}
	_ = json.Unmarshal(x.Settings, &values) // anything but an object has no settings
	return values
}

func (s Senders) add(r *http.Request, by member.Member) (httpio.Created[wholeSender], error) {
	x, err := s.read(r, by, "")
	if err != nil {
		return httpio.Created[wholeSender]{}, err
	}
	if err := s.create(r.Context(), x); err != nil {
		return httpio.Created[wholeSender]{}, err
	}
	w, err := s.show(r.Context(), x)
	return httpio.Created[wholeSender]{Value: w}, err
}

// create completes, checks and stores a new sender. Errors: conflict if the company has one of its id.
func (s Senders) create(ctx context.Context, x *carillon.Sender) error {
	if err := s.complete(x, nil); err != nil {
		return err
	}
	if err := s.admit(ctx, x); err != nil {
		return err
	}
	others, err := s.claim(ctx, x, nil)
	if err != nil {
		return err
	}
	return s.Store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		have, err := settings.FindSender(ctx, tx, x.CompanyID, x.ID)
		if err != nil {
			return err
		}
		if have != nil {
			return &carillon.Error{Code: carillon.Conflict, Message: "The present state does not allow this", Details: carillon.Details{
				{Key: "field", Value: "id"}, {Key: "reason", Value: "The company has a sender of the id " + x.ID},
			}}
		}
		if err := settings.RoomForSender(ctx, tx, x.CompanyID, maxSenders); err != nil {
			return err
		}
		if err := s.claimed(ctx, tx, x, nil, others); err != nil {
			return err
		}
		_, err = settings.DeclareSender(ctx, tx, x, time.Now())
		return err
	})
}

func (s Senders) replace(r *http.Request, by member.Member, id string) (wholeSender, error) {
	x, err := s.read(r, by, id)
	if err != nil {
		return wholeSender{}, err
	}
	given := x.Settings
	have, err := s.find(r, by)
	if err != nil {
		return wholeSender{}, err
	}
	if err := s.complete(x, have); err != nil {
		return wholeSender{}, err
	}
	if err := s.admit(r.Context(), x); err != nil { // host names must not be resolved inside the transaction
		return wholeSender{}, err
	}
	others, err := s.claim(r.Context(), x, have)
	if err != nil {
		return wholeSender{}, err
	}
	line, err := s.callLine(r.Context(), have)
	if err != nil {
		return wholeSender{}, err
	}
	on := line != nil
	err = s.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		have, err := settings.FindSender(ctx, tx, by.CompanyID, x.ID)
		if err != nil {
			return err
		}
		if have == nil {
			return carillon.Absent("Sender")
		}
		if have.Channel != x.Channel {
			return carillon.Invalid("channel", "A sender keeps its channel: add another sender")
		}
		if on && !identity.Number(have.Number).Is(x.Number) {
			return carillon.Invalid("number", "Calls are on for this number: switch them off first")
		}
		x.Settings = given // start over when the transaction is retried
		if err := s.complete(x, have); err != nil {
			return err
		}
		if err := s.claimed(ctx, tx, x, have, others); err != nil {
			return err
		}
		_, err = settings.DeclareSender(ctx, tx, x, time.Now())
		return err
	})
	if err != nil {
		return wholeSender{}, err
	}
	return s.show(r.Context(), x)
}

// read reads a sender from a body. id is from the path, empty for a new sender.
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

// complete fills omitted settings from the stored sender, and checks them all.
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

// mark records in the settings that a member chose the address. An unchanged address keeps the stored mark.
func (a *Away) mark(values, stored map[string]any) error {
	if a == nil {
		return nil
	}
	delete(values, a.Mark)
	address, given := values[a.Setting]
	if !given || address == stored[a.Setting] || stored[a.Setting] == nil && address == a.Usual && a.Usual != "" {
		return nil
	}
	for _, name := range a.Secrets {
		if secret, kept := stored[name]; kept && secret != "" && values[name] == nil {
			return carillon.Invalid("settings."+name, "Must be given again with another address")
		}
	}
	values[a.Mark] = "true"
	if address == a.Usual {
		values[a.Mark] = "false"
	}
	return nil
}

// admit checks the address of a sender if a member chose it.
func (s Senders) admit(ctx context.Context, x *carillon.Sender) error {
	a := s.Providers[x.Provider].Away
	if a == nil {
		return nil
	}
	return a.Admit(ctx, x.Settings)
}

// remove removes a sender, and the line for its calls.
func (s Senders) remove(r *http.Request, by member.Member, id string) (httpio.None, error) {
	line, err := s.callLine(r.Context(), &carillon.Sender{CompanyID: by.CompanyID, ID: id})
	if err != nil {
		return nil, err
	}
	return nil, s.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := settings.RemoveSender(ctx, tx, by.CompanyID, id, time.Now()); err != nil || line == nil {
			return err
		}
		return settings.RemoveSender(ctx, tx, by.CompanyID, line.ID, time.Now())
	})
}

// senderRow is a sender with the state of its circuit breaker, without its settings, which contain secrets.
type senderRow struct {
	ID       string           `json:"id"`
	Number   string           `json:"number"`
	Channel  carillon.Channel `json:"channel"`
	Provider string           `json:"provider"`
	Default  bool             `json:"default"`
	Breaker  breakerRow       `json:"breaker"`
	Line     *lineRow         `json:"line,omitempty"`   // voice lines only, if the list is filtered by channel
	Report   *reportRow       `json:"report,omitempty"` // messaging senders only, if the list is filtered by channel
}

// breakerRow is the state of a sender's circuit breaker. The fields after State are null while it is closed.
type breakerRow struct {
	State  work.BreakerState `json:"state"`
	Class  *provider.Fault   `json:"class"`
	Detail *string           `json:"detail"`
	Since  *string           `json:"since"`
	Until  *string           `json:"until"`
}

// listSenders responds with the company's senders, optionally of one channel. It is not paginated, because a company
// has few.
func (x Senders) listSenders(r *http.Request, by member.Member) (httpio.List[senderRow], error) {
	channel := carillon.Channel(r.URL.Query().Get("channel"))
	if channel != "" && channel != carillon.Messaging && channel != carillon.Voice {
		return httpio.List[senderRow]{}, carillon.Invalid("channel", "Must be messaging or voice")
	}
	all, err := x.Store.Senders.Senders(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.List[senderRow]{}, err
	}
	breakers, err := x.Store.Breakers.OfCompany(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.List[senderRow]{}, err
	}
	open := make(map[int64]work.Breaker, len(breakers))
	for _, b := range breakers {
		open[b.SenderUID] = b
	}
	rows := httpio.List[senderRow]{Data: make([]senderRow, 0, len(all))}
	now := time.Now()
	var reports map[int64]settings.SenderReport
	for _, s := range all {
		if channel != "" && s.Channel != channel {
			continue
		}
		if channel == carillon.Messaging && reports == nil {
			if reports, err = x.Store.Senders.Reports(r.Context(), by.CompanyID); err != nil {
				return httpio.List[senderRow]{}, err
			}
		}
		row := senderRow{
			ID: s.ID, Number: s.Number, Channel: s.Channel, Provider: s.Provider, Default: s.Default, Breaker: breakerOf(open[s.UID], now),
		}
		if channel == carillon.Voice {
			if row.Line, err = x.lineRow(r.Context(), s, len(rows.Data) < linesShown); err != nil {
				return httpio.List[senderRow]{}, err
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
		b.State = work.BreakerHalfOpen // since then, no message was due that would have probed it
	}
	return breakerRow{State: b.State, Class: &b.Fault, Detail: &b.Detail, Since: auth.TimeOrNull(b.Since), Until: auth.TimeOrNull(b.Until)}
}
