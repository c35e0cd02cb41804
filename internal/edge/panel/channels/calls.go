package channels

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/config"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

// Calling switches the calls of a messaging sender on. While they are on, the company has a voice line of the same number, with the
// provider's SIP peer as its trunk and the sender's id in its setting whatsapp.
type Calling struct {
	Trunk string // setting trunk of such a line
	Realm string // of the peer's challenges
	// Closed means that this installation takes no calls over TLS, which the provider's peer needs.
	Closed bool
	// Set changes the provider's settings, and returns them with the password that it made.
	Set func(ctx context.Context, s *carillon.Sender, x provider.CallSettings) (provider.CallSettings, error)
}

// lineOfCalls is the setting of a line with the id of its messaging sender.
const lineOfCalls = "whatsapp"

// callRoutes returns the routes of the calls of messaging senders.
func (x Senders) callRoutes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/senders/{id}/calls", auth.MayReadSenders, x.calls),
		member.Route(x.Gate, "PUT", "/senders/{id}/calls", auth.MayWriteSenders, x.setCalls).Taking(callsRequest{}),
	}
}

// callsRow has the settings of a sender for calls.
type callsRow struct {
	On       bool   `json:"on"`
	Hostname string `json:"hostname"` // of this installation, with a certificate for SIP over TLS
	Port     int    `json:"port"`
	Agent    string `json:"agent"` // answers calls to the number; empty if none
	Line     string `json:"line"`  // id of the voice line; empty while calls are off
	// Breaker is the state of the line, with its last fault.
	Breaker *breakerRow `json:"breaker"`
}

// callsRequest switches calls on, with these settings, or off.
type callsRequest struct {
	On       bool   `json:"on"`
	Hostname string `json:"hostname,omitempty"`
	Port     int    `json:"port,omitempty"`
	Agent    string `json:"agent,omitempty"`
}

const (
	usualPort   = 5061 // of SIP over TLS
	maxPort     = 65535
	maxHostname = 253
)

var hostnameForm = regexp.MustCompile(`^([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}$`)

// messagingSender returns the sender in the path and how its provider switches calls on. Errors: not_found, conflict.
func (x Senders) messagingSender(r *http.Request, by member.Member) (*carillon.Sender, *Calling, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, nil, err
	}
	c := x.Providers[s.Provider].Calling
	if s.Channel != carillon.Messaging || c == nil {
		return nil, nil, carillon.InConflict("A sender of this kind has no calls")
	}
	return s, c, nil
}

// callLine returns the line for calls of a messaging sender; nil while calls are off.
func (x Senders) callLine(ctx context.Context, s *carillon.Sender) (line *carillon.Sender, err error) {
	all, err := x.Store.Senders.Senders(ctx, s.CompanyID)
	if i := slices.IndexFunc(all, func(l *carillon.Sender) bool { return isCallLine(l, s.ID) }); i >= 0 {
		line = all[i]
	}
	return line, err
}

func isCallLine(l *carillon.Sender, of string) bool {
	return l.Channel == carillon.Voice && settingsOf(l)[lineOfCalls] == of
}

func (x Senders) calls(r *http.Request, by member.Member) (callsRow, error) {
	s, _, err := x.messagingSender(r, by)
	if err != nil {
		return callsRow{}, err
	}
	return x.callsOf(r.Context(), s)
}

func (x Senders) callsOf(ctx context.Context, s *carillon.Sender) (callsRow, error) {
	line, err := x.callLine(ctx, s)
	if err != nil || line == nil {
		return callsRow{Port: usualPort}, err
	}
	set := settingsOf(line)
	text := func(name string) string { s, _ := set[name].(string); return s }
	row := callsRow{On: true, Hostname: text("domain"), Agent: text("agent"), Line: line.ID}
	row.Port, _ = strconv.Atoi(text("port"))
	breakers, err := x.Store.Breakers.OfCompany(ctx, s.CompanyID)
	state := breakerRow{State: work.BreakerClosed}
	if i := slices.IndexFunc(breakers, func(b work.Breaker) bool { return b.SenderUID == line.UID }); i >= 0 {
		state = breakerOf(breakers[i], time.Now())
	}
	row.Breaker = &state
	return row, err
}

func (x Senders) setCalls(r *http.Request, by member.Member) (callsRow, error) {
	s, c, err := x.messagingSender(r, by)
	if err != nil {
		return callsRow{}, err
	}
	want, err := readCalls(r)
	if err != nil {
		return callsRow{}, err
	}
	if err := x.mayAsk(r, by); err != nil {
		return callsRow{}, err
	}
	ctx := r.Context()
	have, err := x.callLine(ctx, s)
	if err != nil {
		return callsRow{}, err
	}
	if !want.On {
		return x.callsOff(ctx, s, c, have)
	}
	if c.Closed {
		err := carillon.InConflict("This installation takes no calls over TLS: the operator sets sip-tls-addr and a certificate")
		err.Details = append(err.Details, carillon.Detail{Key: "refusal", Value: "calls_no_tls"})
		return callsRow{}, err
	}
	if want.Agent != "" {
		if _, err := x.Store.Resources.Agent(ctx, s.CompanyID, want.Agent); err != nil {
			return callsRow{}, err
		}
	}
	if err := x.keepCalls(ctx, s, c, have, want); err != nil {
		return callsRow{}, err
	}
	return x.callsOf(ctx, s)
}

func readCalls(r *http.Request) (x callsRequest, err error) {
	o, err := form.Body[callsRequest](r)
	if err != nil {
		return x, err
	}
	if x.On, _, err = o.Bool("on", "on"); err != nil || !x.On {
		return x, err
	}
	if x.Hostname, err = form.Text(o, "hostname", maxHostname); err != nil {
		return x, err
	}
	if !hostnameForm.MatchString(x.Hostname) {
		return x, carillon.Invalid("hostname", "Must be a host such as sip.example.com")
	}
	x.Port = usualPort
	if text, ok := o.Find("port").Scalar(); ok {
		if x.Port, err = strconv.Atoi(text); err != nil || x.Port < 1 || x.Port > maxPort {
			return x, carillon.Invalid("port", "Must be a whole number from 1 to "+strconv.Itoa(maxPort))
		}
	}
	agent, err := form.Optional(o, "agent", func() (string, error) { return form.Text(o, "agent", form.MaxName) })
	if agent != nil {
		x.Agent = *agent
	}
	return x, err
}

// callsOff switches calls off at the provider, then removes the line.
func (x Senders) callsOff(ctx context.Context, s *carillon.Sender, c *Calling, line *carillon.Sender) (callsRow, error) {
	if _, err := c.Set(ctx, s, provider.CallSettings{}); err != nil {
		return callsRow{}, err
	}
	if line != nil {
		err := x.Store.Config.Change(context.WithoutCancel(ctx), func(ctx context.Context, tx *configure.Tx) error {
			return settings.RemoveSender(ctx, tx, line.CompanyID, line.ID, time.Now())
		})
		if err != nil && !carillon.IsCode(err, carillon.NotFound) {
			return callsRow{}, err
		}
	}
	return x.callsOf(ctx, s)
}

// keepCalls switches calls on at the provider and stores the line, after the checks that need no request.
func (x Senders) keepCalls(ctx context.Context, s *carillon.Sender, c *Calling, have *carillon.Sender, want callsRequest) error {
	line, err := newCallLine(s, c, want, "-")
	if err != nil {
		return err
	}
	if have != nil {
		line.ID = have.ID
	}
	if err := x.roomForCalls(ctx, line, have); err != nil {
		return err
	}
	made, err := c.Set(ctx, s, provider.CallSettings{On: true, Hostname: want.Hostname, Port: want.Port})
	if err != nil {
		return err
	}
	set := settingsOf(line)
	set["password"] = made.Password
	if line.Settings, err = json.Marshal(set); err != nil {
		return err
	}
	if check := x.Providers[line.Provider].Check; check != nil {
		if err := check(line.Settings); err != nil {
			return err
		}
	}
	return x.Store.Config.Change(context.WithoutCancel(ctx), func(ctx context.Context, tx *configure.Tx) error {
		if have == nil {
			if err := settings.RoomForSender(ctx, tx, line.CompanyID, maxSenders); err != nil {
				return err
			}
		}
		_, err := settings.DeclareSender(ctx, tx, line, time.Now())
		return err
	})
}

// roomForCalls refuses a line whose number or id another line has, of the company or, on the same trunk, of another.
func (x Senders) roomForCalls(ctx context.Context, line, have *carillon.Sender) error {
	if _, err := x.claim(ctx, line, have); err != nil {
		return err
	}
	all, err := x.Store.Senders.Senders(ctx, line.CompanyID)
	if err != nil || have != nil {
		return err
	}
	if slices.ContainsFunc(all, func(l *carillon.Sender) bool {
		return l.ID == line.ID || l.Channel == carillon.Voice && identity.Number(l.Number).Is(line.Number)
	}) {
		err := carillon.InConflict("The company has a phone line of this number")
		err.Details = append(err.Details, carillon.Detail{Key: "refusal", Value: "calls_line_exists"})
		return err
	}
	return nil
}

// newCallLine returns the line for the calls of a messaging sender.
func newCallLine(s *carillon.Sender, c *Calling, want callsRequest, password string) (*carillon.Sender, error) {
	body, err := json.Marshal(map[string]any{
		"id": s.ID + "-calls", "number": s.Number, "channel": carillon.Voice, "provider": "sip", "settings": map[string]string{
			"trunk": c.Trunk, "domain": want.Hostname, "port": strconv.Itoa(want.Port), "username": s.Number, "password": password,
			"realm": c.Realm, "agent": want.Agent, lineOfCalls: s.ID, "encrypt": "true", "authenticate": "true", "claimed": "true",
			"public": "true",
		},
	})
	if err != nil {
		return nil, err
	}
	o, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	line, err := config.SenderOf(o)
	if err != nil {
		return nil, err
	}
	line.CompanyID = s.CompanyID
	return line, nil
}
