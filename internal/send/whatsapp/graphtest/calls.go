package graphtest

import (
	"crypto/rand"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Calling is the server's data about calls of the number.
type Calling struct {
	CallStatus string     // ENABLED or DISABLED
	Server     CallServer // configured server; its Hostname is empty if there is none
	SIPStatus  string
	Webhooks   string // ENABLED: callbacks are posted for calls over SIP
	SRTP       string // DTLS or SDES
	Codecs     []string
	// Allowed are the permissions of people, by number or id.
	Allowed map[string]CallPermission
}

// CallServer is the business's SIP server.
type CallServer struct {
	Hostname string
	Port     int
	Password string // made when the server is added
}

// CallPermission is the permission of a person.
type CallPermission struct {
	Status   string      // no_permission, temporary or permanent; default no_permission
	Expires  time.Time   // of a temporary one
	Requests []time.Time // for permission
	Calls    int         // connected today
}

const (
	maxRequestsDay  = 1
	maxRequestsWeek = 2
	maxCallsDay     = 100
	dayTime         = 24 * time.Hour
)

var hostnameForm = regexp.MustCompile(`^([a-z0-9-]+\.)+[a-z]{2,}$`)

type callServer struct {
	Hostname string            `json:"hostname"`
	Port     int               `json:"port"`
	Params   map[string]string `json:"request_uri_user_params"`
}

type sipSettings struct {
	Status   string        `json:"status"`
	Webhooks string        `json:"webhook_delivery"`
	Servers  *[]callServer `json:"servers"`
}

type callSettings struct {
	Calling *struct {
		Status string       `json:"status"`
		SRTP   string       `json:"srtp_key_exchange_protocol"`
		SIP    *sipSettings `json:"sip"`
		Audio  *struct {
			Codecs []string `json:"additional_codecs"`
		} `json:"audio"`
	} `json:"calling"`
}

func onOff(s string) bool { return s == "" || s == "ENABLED" || s == "DISABLED" }

// fault returns why the settings are invalid, or "".
func (x *callSettings) fault() string {
	c := x.Calling
	switch {
	case c == nil:
		return "calling"
	case !onOff(c.Status):
		return "calling.status"
	case c.SRTP != "" && c.SRTP != "DTLS" && c.SRTP != "SDES":
		return "calling.srtp_key_exchange_protocol"
	case c.Audio != nil && slices.ContainsFunc(c.Audio.Codecs, func(s string) bool { return s != "PCMA" && s != "PCMU" }):
		return "calling.audio.additional_codecs"
	case c.SIP == nil:
		return ""
	case !onOff(c.SIP.Status), !onOff(c.SIP.Webhooks):
		return "calling.sip"
	case c.SIP.Servers == nil:
		return ""
	case len(*c.SIP.Servers) > 1, c.SIP.Status == "ENABLED" && len(*c.SIP.Servers) == 0:
		return "calling.sip.servers"
	}
	for _, s := range *c.SIP.Servers {
		if !hostnameForm.MatchString(s.Hostname) || s.Port < 1 || s.Port > 65535 {
			return "calling.sip.servers"
		}
	}
	return ""
}

// setCalls changes the settings for calls.
func (a *account) setCalls(w http.ResponseWriter, _ *http.Request, body []byte) *Error {
	var x callSettings
	if e := strictly(body, &x); e != nil {
		return e
	}
	if why := x.fault(); why != "" {
		return invalid("Invalid parameter: " + why)
	}
	var e *Error
	a.ChangeAccount(func(now *Account) {
		switch {
		case now.Lacks != "":
			e = &Error{HTTP: 403, Code: 200, Message: "Permissions error"}
		case x.Calling.Status == "ENABLED" && now.OnApp:
			e = &Error{HTTP: 400, Code: 138018, Message: "Calling cannot be enabled: prerequisites are not met"}
		case x.Calling.Status == "ENABLED" && (now.Limit == "TIER_50" || now.Limit == "TIER_250" || now.Limit == "TIER_1K"):
			e = &Error{HTTP: 400, Code: 138015, Message: "Calling cannot be enabled: the messaging limit is below 2000"}
		default:
			now.change(&x)
		}
	})
	if e == nil {
		respond(w, 200, map[string]any{"success": true})
	}
	return e
}

func (now *Account) change(x *callSettings) {
	c := x.Calling
	set := func(to *string, value string) {
		if value != "" {
			*to = value
		}
	}
	set(&now.CallStatus, c.Status)
	set(&now.SRTP, c.SRTP)
	if c.Audio != nil {
		now.Codecs = c.Audio.Codecs
	}
	if c.SIP == nil {
		return
	}
	set(&now.SIPStatus, c.SIP.Status)
	set(&now.Webhooks, c.SIP.Webhooks)
	if c.SIP.Servers == nil {
		return
	}
	if len(*c.SIP.Servers) == 0 {
		now.Server = CallServer{}
		return
	}
	s := (*c.SIP.Servers)[0]
	if now.Server.Hostname != s.Hostname {
		now.Server.Password = rand.Text()
	}
	now.Server.Hostname, now.Server.Port = s.Hostname, s.Port
}

// calls shows the settings for calls; the password on request only.
func (a *account) calls(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	now := a.Account()
	servers := []map[string]any{}
	if s := now.Server; s.Hostname != "" {
		shown := map[string]any{"hostname": s.Hostname, "port": s.Port}
		if r.URL.Query().Get("include_sip_credentials") == "true" {
			shown["sip_user_password"] = s.Password
		}
		servers = append(servers, shown)
	}
	respond(w, 200, map[string]any{"calling": map[string]any{
		"status": now.CallStatus, "srtp_key_exchange_protocol": now.SRTP,
		"sip": map[string]any{"status": now.SIPStatus, "webhook_delivery": now.Webhooks, "servers": servers},
	}})
	return nil
}

// startCall refuses all calls by the interface: with SIP switched on, they are placed over SIP alone.
func (a *account) startCall(_ http.ResponseWriter, _ *http.Request, _ []byte) *Error {
	if now := a.Account(); now.CallStatus != "ENABLED" {
		return &Error{HTTP: 400, Code: 138000, Message: "Calling is not enabled for this number"}
	}
	return &Error{HTTP: 400, Code: 131055, Message: "Method not allowed: SIP is enabled"}
}

// permission shows whether a person may be called.
func (a *account) permission(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	q := r.URL.Query()
	number, id := q.Get("user_wa_id"), q.Get("recipient")
	if (number == "") == (id == "") || len(q) != 1 {
		return invalid("Invalid parameter: user_wa_id or recipient")
	}
	now := a.Account()
	if now.CallStatus != "ENABLED" {
		return &Error{HTTP: 400, Code: 138000, Message: "Calling is not enabled for this number"}
	}
	p, at := now.Allowed[number+id], time.Now()
	permission := map[string]any{"status": "no_permission"}
	if p.given(at) {
		permission["status"] = p.Status
		if p.Status == "temporary" {
			permission["expiration_time"] = p.Expires.Unix()
		}
	}
	day, dayEnds := p.asked(at, dayTime)
	week, weekEnds := p.asked(at, 7*dayTime)
	limit := func(period string, allowed, usage int, ends time.Time) map[string]any {
		m := map[string]any{"time_period": period, "max_allowed": allowed, "current_usage": usage}
		if usage >= allowed && !ends.IsZero() {
			m["limit_expiration_time"] = ends.Unix()
		}
		return m
	}
	respond(w, 200, map[string]any{"messaging_product": "whatsapp", "permission": permission, "actions": []any{
		map[string]any{
			"action_name": "send_call_permission_request", "can_perform_action": p.mayAsk(at),
			"limits": []any{limit("PT24H", maxRequestsDay, day, dayEnds), limit("P7D", maxRequestsWeek, week, weekEnds)},
		},
		map[string]any{
			"action_name": "start_call", "can_perform_action": p.given(at) && p.Calls < maxCallsDay,
			"limits": []any{limit("PT24H", maxCallsDay, p.Calls, at.Add(dayTime))},
		},
	}})
	return nil
}

func (p *CallPermission) given(at time.Time) bool {
	return p.Status == "permanent" || p.Status == "temporary" && at.Before(p.Expires)
}

// asked returns the number of requests within a period, and when the first of them leaves it.
func (p *CallPermission) asked(at time.Time, period time.Duration) (n int, ends time.Time) {
	for _, x := range p.Requests {
		if left := x.Add(period); at.Before(left) {
			if n++; ends.IsZero() || left.Before(ends) {
				ends = left
			}
		}
	}
	return n, ends
}

func (p *CallPermission) mayAsk(at time.Time) bool {
	day, _ := p.asked(at, dayTime)
	week, _ := p.asked(at, 7*dayTime)
	return day < maxRequestsDay && week < maxRequestsWeek && (p.Status != "permanent" || !p.given(at))
}

// ask counts a request for permission to a person, or refuses it.
func (a *account) ask(person string) *Error {
	var e *Error
	a.ChangeAccount(func(now *Account) {
		p := now.Allowed[person]
		switch at := time.Now(); {
		case now.CallStatus != "ENABLED": // not counted
		case p.Status == "permanent":
			e = &Error{HTTP: 400, Code: 138017, Message: "The person has given a permanent permission"}
		case !p.mayAsk(at):
			e = &Error{HTTP: 400, Code: 138009, Message: "The limit of requests for permission is reached"}
		default:
			p.Requests = append(slices.Clone(p.Requests), at)
			now.allow(person, p)
		}
	})
	return e
}

func (now *Account) allow(person string, p CallPermission) {
	all := map[string]CallPermission{person: p}
	for other, x := range now.Allowed {
		if other != person {
			all[other] = x
		}
	}
	now.Allowed = all
}

// Allow sets the permission of a person, by number or id.
func (s *Server) Allow(person string, p CallPermission) {
	s.ChangeAccount(func(now *Account) { now.allow(person, p) })
}

// CallReport is a report about a call, in the channel's words.
type CallReport struct {
	ID, Event, Direction, Status string
	Person                       string // number or id
	At, Start, End               time.Time
}

// CallsBody returns the body of a callback with reports about calls, and with statuses of calls.
func (s *Server) CallsBody(statuses []Status, reports ...CallReport) []byte {
	var calls, states []map[string]any
	for _, r := range reports {
		x := map[string]any{"id": r.ID, "event": r.Event, "direction": r.Direction, "timestamp": strconv.FormatInt(r.At.Unix(), 10)}
		side := "to"
		if r.Direction == "USER_INITIATED" {
			side = "from"
		}
		if recipientForm.MatchString(r.Person) {
			side += "_user_id"
		}
		if x[side] = r.Person; r.Status != "" {
			x["status"] = r.Status
		}
		if !r.Start.IsZero() {
			x["start_time"], x["end_time"] = strconv.FormatInt(r.Start.Unix(), 10), strconv.FormatInt(r.End.Unix(), 10)
			x["duration"] = int(r.End.Sub(r.Start).Seconds())
		}
		calls = append(calls, x)
	}
	for _, st := range statuses {
		states = append(states, map[string]any{
			"id": st.ID, "type": "call", "status": st.State, "timestamp": strconv.FormatInt(st.At.Unix(), 10), "recipient_id": st.To,
		})
	}
	return s.envelope("calls", map[string]any{
		"messaging_product": "whatsapp", "calls": calls, "statuses": states,
		"metadata": map[string]string{"display_phone_number": "15555550100", "phone_number_id": s.o.PhoneNumberID},
	})
}
