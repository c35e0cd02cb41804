package graphtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Statistics are the channel's statistics of a template on one day in UTC.
type Statistics struct {
	TemplateID            string
	Day                   time.Time
	Sent, Delivered, Read int
	Clicks                map[string]int // on buttons for links, by their text
	Spent                 float64        // 0: the channel names no costs
}

const (
	statisticsPage = 30
	maxAskedFor    = 10 // templates of a request
	keptDays       = 90
)

// waba returns the requested fields of the account.
func (a *account) waba(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	now := a.Account()
	if now.Lacks == "management" {
		return &Error{HTTP: 403, Code: 200, Message: "You do not have permission to access this field"}
	}
	known := map[string]any{"is_enabled_for_insights": now.Counts, "currency": "EUR"}
	shown := map[string]any{"id": a.o.WABAID}
	for field := range strings.SplitSeq(r.URL.Query().Get("fields"), ",") {
		value, ok := known[field]
		if !ok {
			return invalid("Tried accessing nonexisting field (" + field + ")")
		}
		shown[field] = value
	}
	respond(w, 200, shown)
	return nil
}

// countByTemplate turns on the statistics. They cannot be turned off.
func (a *account) countByTemplate(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	switch {
	case a.Account().Lacks == "management":
		return &Error{HTTP: 403, Code: 200, Message: "Permissions error"}
	case r.URL.Query().Get("is_enabled_for_insights") != "true" || len(body) > 0:
		return invalid("Param is_enabled_for_insights must be true")
	}
	a.ChangeAccount(func(now *Account) { now.Counts = true })
	respond(w, 200, map[string]string{"id": a.o.WABAID})
	return nil
}

// statistics returns a page of the days of the requested templates.
func (s *Server) statistics(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	now, q := s.Account(), r.URL.Query()
	if now.Lacks == "management" {
		return &Error{HTTP: 403, Code: 200, Message: "You do not have permission to access this field"}
	}
	var ids []json.Number
	if json.Unmarshal([]byte(q.Get("template_ids")), &ids) != nil || len(ids) == 0 || len(ids) > maxAskedFor {
		return invalid("Param template_ids must be an array with 1 to 10 ids")
	}
	start, err := strconv.ParseInt(q.Get("start"), 10, 64)
	end, err2 := strconv.ParseInt(q.Get("end"), 10, 64)
	switch oldest := time.Now().AddDate(0, 0, -keptDays).Unix(); {
	case !now.Counts:
		return invalid("Template Insights is not enabled for this account")
	case err != nil || err2 != nil || start > end || start < oldest:
		return invalid("Params start and end must be times of the last 90 days")
	case !strings.EqualFold(q.Get("granularity"), "daily"):
		return invalid("Param granularity must be one of {DAILY}")
	}
	for metric := range strings.SplitSeq(q.Get("metric_types"), ",") {
		if !slices.Contains([]string{"sent", "delivered", "read", "clicked", "cost"}, strings.ToLower(metric)) {
			return invalid("Param metric_types has an unknown value " + metric)
		}
	}
	points := []map[string]any{}
	for _, one := range now.Statistics {
		at := one.Day.Unix()
		if slices.Contains(ids, json.Number(one.TemplateID)) && at >= start && at < end {
			points = append(points, one.point())
		}
	}
	from, _ := strconv.Atoi(q.Get("after"))
	to := min(from+statisticsPage, len(points))
	paging := map[string]any{"cursors": map[string]string{"after": strconv.Itoa(to)}}
	if to < len(points) {
		paging["next"] = "http://" + r.Host + r.URL.Path
	}
	respond(w, 200, map[string]any{
		"data":   []any{map[string]any{"granularity": "DAILY", "product_type": "cloud_api", "data_points": points[from:to]}},
		"paging": paging,
	})
	return nil
}

// point is the channel's form of a day. Costs of zero have no value.
func (x Statistics) point() map[string]any {
	p := map[string]any{
		"template_id": x.TemplateID, "start": x.Day.Unix(), "end": x.Day.AddDate(0, 0, 1).Unix(),
		"sent": x.Sent, "delivered": x.Delivered, "read": x.Read,
	}
	if x.Clicks != nil {
		clicks := []map[string]any{}
		for text, n := range x.Clicks {
			clicks = append(clicks, map[string]any{"type": "unique_url_button", "button_content": text, "count": n})
		}
		p["clicked"] = clicks
	}
	cost := map[string]any{"type": "amount_spent"}
	if x.Spent > 0 {
		cost["value"] = x.Spent
	}
	p["cost"] = []any{cost, map[string]any{"type": "cost_per_delivered"}}
	return p
}
