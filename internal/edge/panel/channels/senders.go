// Package channels serves the senders of a company: their settings, what their providers say of them, and the lines of telephone numbers.
// Start with Senders.
package channels

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	stored "carillon/internal/store/senders"
	"carillon/internal/store/work"
)

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
