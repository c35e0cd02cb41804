package calls

import (
	"net/http"
	"net/url"
	"time"

	"carillon"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	stored "carillon/internal/store/calls"
	"carillon/internal/store/stats"
)

const (
	outcomesDefault = 24 * time.Hour
	maxIncoming     = 31*24*time.Hour + time.Hour // incoming calls are read one by one; a clock may change
)

// outcomesShown are the calls of a range by state: queued while they wait, in_progress while they take a line.
type outcomesShown struct {
	From  string                   `json:"from"`
	To    string                   `json:"to"`
	AsOf  string                   `json:"as_of"`
	Total map[carillon.State]int64 `json:"total"`
	Hours []outcomeHour            `json:"hours"` // without empty hours
}

type outcomeHour struct {
	Hour   string                   `json:"hour"` // in which they were accepted or, incoming, began to ring
	States map[carillon.State]int64 `json:"states"`
}

// outcomes responds with the numbers of calls by hour and state.
func (x Calls) outcomes(r *http.Request, by member.Member) (outcomesShown, error) {
	q, now := r.URL.Query(), time.Now()
	f, found, incoming, err := x.readOutcomes(r, by, q, now)
	if err != nil {
		return outcomesShown{}, err
	}
	shown := outcomesShown{
		From: carillon.FormatTime(f.From), To: carillon.FormatTime(f.To), AsOf: carillon.FormatTime(now),
		Total: map[carillon.State]int64{}, Hours: []outcomeHour{},
	}
	read := x.Store.Stats.Incoming
	if !incoming {
		read = x.Store.Stats.Calls
		asOf, err := x.Store.Stats.AsOf(r.Context(), now)
		if err != nil {
			return outcomesShown{}, err
		}
		shown.AsOf = carillon.FormatTime(asOf)
	}
	if !found {
		return shown, nil
	}
	hours, err := read(r.Context(), by.CompanyID, f)
	for _, h := range hours {
		shown.Hours = append(shown.Hours, outcomeHour{carillon.FormatTime(h.At), h.States})
		for state, n := range h.States {
			shown.Total[state] += n
		}
	}
	return shown, err
}

// readOutcomes reads the range and the filters. found is false if no call can match.
func (x Calls) readOutcomes(
	r *http.Request, by member.Member, q url.Values, now time.Time,
) (f stats.CallFilter, found, incoming bool, err error) {
	lines, err := x.lines(r.Context(), by.CompanyID)
	if err != nil {
		return f, false, false, err
	}
	if f.From, f.To, err = form.QueryHours(q, outcomesDefault, now); err != nil {
		return f, false, false, err
	}
	if incoming, err = readDirection(q); err != nil {
		return f, false, false, err
	}
	if f.Class, err = form.QueryClass(q); err != nil {
		return f, false, false, err
	}
	var list stored.Filter
	if found, err = readCallFilter(q, lines, &list); err != nil {
		return f, false, false, err
	}
	f.SenderUID, f.AgentID = list.SenderUID, list.AgentID
	if list.Campaign != "" {
		f.Campaign = &list.Campaign
	}
	if !incoming {
		return f, found, false, nil
	}
	if f.To.Sub(f.From) > maxIncoming {
		err = carillon.InvalidValue("from", "At most 31 days before to for incoming calls", q.Get("from"))
	}
	return f, found && f.Campaign == nil && f.Class == nil, true, err // incoming calls have neither
}
