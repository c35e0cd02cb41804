package whatsapp

import (
	"strings"

	"carillon/internal/base/provider"
)

// callReport is an element of calls in the field calls. The case of its words varies.
type callReport struct {
	ID         string  `json:"id"`
	From       loose   `json:"from"`
	To         loose   `json:"to"`
	FromUserID string  `json:"from_user_id"`
	ToUserID   string  `json:"to_user_id"`
	Event      string  `json:"event"`
	Direction  string  `json:"direction"`
	Status     string  `json:"status"`
	Timestamp  seconds `json:"timestamp"`
	Start      seconds `json:"start_time"`
	End        seconds `json:"end_time"`
}

// addCalls adds the reports of the field calls. Its statuses, such as RINGING, repeat the calls' own signaling.
func (cb *Callback) addCalls(v *value) {
	id := cb.number(v)
	for i := range v.Calls {
		r, ok := v.Calls[i].read()
		if !ok {
			cb.Ignored++
			continue
		}
		if cb.Calls == nil {
			cb.Calls = map[string][]provider.CallReport{}
		}
		cb.Calls[id] = append(cb.Calls[id], r)
	}
	for i := range v.Statuses {
		switch strings.ToUpper(v.Statuses[i].Status) {
		case "RINGING", "ACCEPTED", "REJECTED":
		default:
			cb.Ignored++
		}
	}
}

// read returns a report. It returns false if it names no call, or an unknown event.
func (c *callReport) read() (provider.CallReport, bool) {
	event := strings.ToLower(c.Event)
	r := provider.CallReport{
		WACID: c.ID, Incoming: strings.EqualFold(c.Direction, "USER_INITIATED"), Ended: event == "terminate",
		Answered: strings.EqualFold(c.Status, "COMPLETED") && c.Start > 0,
		At:       c.Timestamp.instant(), Start: c.Start.instant(), End: c.End.instant(),
	}
	r.Number, r.UserID = c.To.number(), userID(c.ToUserID, string(c.To))
	if r.Incoming {
		r.Number, r.UserID = c.From.number(), userID(c.FromUserID, string(c.From))
	}
	known := r.Ended || event == "call_created" || event == "connect"
	return r, known && validInboundID(c.ID) && !r.At.IsZero()
}

// CallsFor returns the reports about calls of the sender with these settings.
func (cb *Callback) CallsFor(raw []byte) []provider.CallReport {
	if id := PhoneNumberID(raw); id != "" {
		return cb.Calls[id]
	}
	return nil
}
