package whatsapp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

const (
	statisticsDays = 90 // for which the channel keeps statistics
	maxStatistics  = statisticsDays + 10
	metrics        = "sent,delivered,read,clicked,cost"
	day            = 24 * time.Hour
)

// statisticsPoint is a template's statistics of one day in UTC.
type statisticsPoint struct {
	Start     seconds     `json:"start"`
	Sent      int         `json:"sent"`
	Delivered int         `json:"delivered"`
	Read      int         `json:"read"`
	Clicked   clickCounts `json:"clicked"`
	Cost      []struct {
		Type  string   `json:"type"`
		Value *float64 `json:"value"` // absent without costs
	} `json:"cost"`
}

// clickCounts are the clicks on each button. The channel omits them for templates without buttons, each version in another
// way.
type clickCounts []struct {
	Type    string `json:"type"`
	Content string `json:"button_content"`
	Count   int    `json:"count"`
}

// UnmarshalJSON takes anything but a list for no clicks.
func (c *clickCounts) UnmarshalJSON(b []byte) error {
	type plain clickCounts
	if len(b) > 0 && b[0] == '[' {
		return decode(b, (*plain)(c))
	}
	return nil
}

// Statistics reads the channel's statistics of a template since a day, at most 90 days back. An account counts reads and
// clicks by template only after CountByTemplate.
func (c *Client) Statistics(ctx context.Context, s *carillon.Sender, t *carillon.Template, since time.Time) (
	all provider.TemplateStatistics, err error,
) {
	a, err := c.account(s)
	if err != nil {
		return all, err
	}
	var of struct {
		Counts   bool   `json:"is_enabled_for_insights"`
		Currency string `json:"currency"`
	}
	fields := url.Values{"fields": {"is_enabled_for_insights,currency"}}
	if err := c.manage(ctx, a, request{method: http.MethodGet, path: a.wabaID, query: fields}, &of); err != nil || !of.Counts {
		return all, ofAccount(err)
	}
	all.Counts, all.Currency = true, of.Currency
	now := time.Now().UTC()
	if first := now.Truncate(day).Add((1 - statisticsDays) * day); since.Before(first) {
		since = first
	}
	q := url.Values{
		"start": {strconv.FormatInt(since.UTC().Truncate(day).Unix(), 10)}, "end": {strconv.FormatInt(now.Unix(), 10)},
		"granularity": {"daily"}, "metric_types": {metrics}, "template_ids": {"[" + t.ProviderID + "]"},
	}
	err = c.eachPoint(ctx, a, q, func(p *statisticsPoint) { p.addTo(&all) })
	slices.SortFunc(all.Days, func(a, b provider.StatisticsDay) int { return a.Day.Compare(b.Day) })
	slices.SortStableFunc(all.Clicks, func(a, b provider.ButtonClicks) int { return cmp.Compare(b.Count, a.Count) })
	return all, err
}

// eachPoint visits the days of the channel's statistics, page by page.
func (c *Client) eachPoint(ctx context.Context, a *account, q url.Values, visit func(p *statisticsPoint)) error {
	for range maxStatistics {
		var page struct {
			Data []struct {
				Points []statisticsPoint `json:"data_points"`
			} `json:"data"`
			Paging paging `json:"paging"`
		}
		r := request{method: http.MethodGet, path: a.wabaID + "/template_analytics", query: q}
		if err := c.manage(ctx, a, r, &page); err != nil {
			return ofAccount(err)
		}
		for i := range page.Data {
			for j := range page.Data[i].Points {
				visit(&page.Data[i].Points[j])
			}
		}
		if page.Paging.Next == "" || page.Paging.Cursors.After == "" {
			return nil
		}
		q.Set("after", page.Paging.Cursors.After)
	}
	return unavailable(errors.New("the statistics of a template have no end"), 0)
}

func (p *statisticsPoint) addTo(all *provider.TemplateStatistics) {
	at := time.Unix(int64(p.Start), 0).UTC()
	all.Days = append(all.Days, provider.StatisticsDay{Day: at, Sent: p.Sent, Delivered: p.Delivered, Read: p.Read})
	for _, c := range p.Clicked {
		kind, text := shorten(c.Type, 64), shorten(c.Content, 128)
		i := slices.IndexFunc(all.Clicks, func(x provider.ButtonClicks) bool { return x.Kind == kind && x.Text == text })
		if i < 0 {
			i = len(all.Clicks)
			all.Clicks = append(all.Clicks, provider.ButtonClicks{Kind: kind, Text: text})
		}
		all.Clicks[i].Count += c.Count
	}
	for _, c := range p.Cost {
		if c.Type == "amount_spent" && c.Value != nil {
			all.Spent += *c.Value
		}
	}
}

// CountByTemplate turns on the statistics of templates for the sender's account. The channel does not turn them off again.
func (c *Client) CountByTemplate(ctx context.Context, s *carillon.Sender) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	on := url.Values{"is_enabled_for_insights": {"true"}}
	return ofAccount(c.manage(ctx, a, request{method: http.MethodPost, path: a.wabaID, query: on}, nil))
}
