package templates

import (
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
)

const (
	defaultDays = 30
	maxDays     = 90
	// asksPerMinute bounds a company's requests for statistics, which the channel counts against those for its templates.
	asksPerMinute = 30
)

// statisticsRow is the channel's statistics of a template.
type statisticsRow struct {
	State    string          `json:"state" enum:"none,off,on"` // off: the account does not count by template
	Days     []statisticsDay `json:"days"`
	Clicks   []clicksRow     `json:"clicks"`             // of all days
	Spent    float64         `json:"spent,omitempty"`    // of all days, in currency
	Currency string          `json:"currency,omitempty"` // ISO 4217
}

// statisticsDay is one day in UTC.
type statisticsDay struct {
	Day       string `json:"day"`
	Sent      int    `json:"sent"`
	Delivered int    `json:"delivered"`
	Read      int    `json:"read"`
}

type clicksRow struct {
	Kind  string `json:"kind"` // the channel's name of the kind of button
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// statistics asks the channel of a template for its statistics of the last days.
func (x Templates) statistics(r *http.Request, by member.Member, id string) (statisticsRow, error) {
	days := defaultDays
	if given := r.URL.Query().Get("days"); given != "" {
		var err error
		if days, err = strconv.Atoi(given); err != nil || days < 1 || days > maxDays {
			return statisticsRow{}, carillon.Invalid("days", "Must be a whole number from 1 to 90")
		}
	}
	if err := x.mayAsk(r, by, id); err != nil {
		return statisticsRow{}, err
	}
	got, has, err := x.Catalog.Statistics(r.Context(), by.CompanyID, id, time.Now().UTC().AddDate(0, 0, 1-days))
	if err != nil {
		return statisticsRow{}, err
	}
	return statisticsRowOf(got, has), nil
}

func statisticsRowOf(got provider.TemplateStatistics, has bool) statisticsRow {
	row := statisticsRow{State: "none", Days: []statisticsDay{}, Clicks: []clicksRow{}}
	switch {
	case !has:
		return row
	case !got.Counts:
		row.State = "off"
		return row
	}
	row.State, row.Spent, row.Currency = "on", got.Spent, got.Currency
	for _, d := range got.Days {
		row.Days = append(row.Days, statisticsDay{d.Day.Format(time.DateOnly), d.Sent, d.Delivered, d.Read})
	}
	for _, c := range got.Clicks {
		row.Clicks = append(row.Clicks, clicksRow{c.Kind, c.Text, c.Count})
	}
	return row
}

// count turns on the statistics for the account of a template's sender, for good.
func (x Templates) count(r *http.Request, by member.Member, id string) (httpio.None, error) {
	if err := x.mayAsk(r, by, id); err != nil {
		return nil, err
	}
	return nil, x.Catalog.CountByTemplate(r.Context(), by.CompanyID, id)
}

// mayAsk finds the template before a request about it counts.
func (x Templates) mayAsk(r *http.Request, by member.Member, id string) error {
	if _, err := x.Catalog.Find(r.Context(), by.CompanyID, id); err != nil {
		return err
	}
	_, err := x.Gate.Limits.Allow(r.Context(), "statistics "+by.CompanyID, asksPerMinute, 1)
	return err
}
