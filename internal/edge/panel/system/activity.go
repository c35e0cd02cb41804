package system

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/audit"
)

// Activity serves the history of a company: API calls and changes (docs/reference/activity.md).
type Activity struct {
	Gate  *member.Gate
	Store *store.Store
}

func (x Activity) Routes() []httpio.Route {
	const calls, changes = auth.MayReadActivity, auth.MayReadChanges
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/activity/calls", calls, x.calls),
		member.Route(x.Gate, "GET", "/activity/calls/{id}", calls, member.ID("Call", x.call)),
		member.Route(x.Gate, "GET", "/activity/accepted", calls, x.accepted),
		member.Route(x.Gate, "GET", "/activity/changes", changes, x.changes),
		member.Route(x.Gate, "GET", "/activity/changes/{id}", changes, member.ID("Change", x.change)),
		member.Route(x.Gate, "GET", "/activity/authors", changes, x.authors),
	}
}

// Cursor kinds.
const (
	apiCallPages  = "api calls"
	acceptedPages = "accepted"
	changePages   = "changes"

	maxAuthors = 500
	maxFilter  = 300 // characters of a filter
)

// usedKey is the access key of a call.
type usedKey struct {
	ID    string `json:"id"`
	Label string `json:"label"` // empty if the key was deleted
}

type apiCallRow struct {
	ID        string  `json:"id"`
	At        string  `json:"at"`
	Status    int     `json:"status"`
	Code      string  `json:"code"`
	Message   string  `json:"message"`
	Method    string  `json:"method"`
	Path      string  `json:"path"`
	Key       usedKey `json:"key"`
	RequestID string  `json:"request_id"`
	Repeats   int     `json:"repeats"`
	TookMS    float64 `json:"took_ms"`
}

// apiCallPage is a call with its request and response, without secrets.
type apiCallPage struct {
	apiCallRow
	Query       string `json:"query"`
	Address     string `json:"address"`
	Agent       string `json:"agent"`
	ContentType string `json:"content_type"`
	Idempotency string `json:"idempotency_key"`
	Body        string `json:"body"`
	BodyCut     bool   `json:"body_cut"`
	BodyRead    bool   `json:"body_read"`
	Response    string `json:"response"`
	ResponseCut bool   `json:"response_cut"`
}

func (x Activity) apiCallRow(ctx context.Context, c *audit.APICall) apiCallRow {
	return apiCallRow{
		ID: c.ID, At: carillon.FormatTime(c.At), Status: c.Status, Code: c.Code, Message: c.Message, Method: c.Method, Path: c.Path,
		Key:       x.key(ctx, c.KeyID),
		RequestID: c.RequestID, Repeats: c.Repeats, TookMS: float64(c.Took.Microseconds()) / 1000,
	}
}

// key returns an access key by its id, from the cache.
func (x Activity) key(ctx context.Context, id string) usedKey {
	k, err := x.Store.Keys.AccessKeyByID(ctx, id)
	if err != nil || k == nil { // the list is useful even without the label
		return usedKey{ID: id}
	}
	return usedKey{id, k.Label}
}

// readRange reads the filters from and to.
func readRange(q url.Values) (from, to time.Time, err error) {
	if from, err = form.QueryTime(q, "from", time.Time{}); err != nil {
		return from, to, err
	}
	to, err = form.QueryTime(q, "to", time.Time{})
	return from, to, err
}

// readFilter reads a text filter.
func readFilter(q url.Values, name string) (string, error) {
	text := strings.TrimSpace(q.Get(name))
	if utf8.RuneCountInString(text) > maxFilter {
		return "", carillon.Invalid(name, "Too long")
	}
	return text, nil
}

// readFilters reads several text filters.
func readFilters(q url.Values, to map[string]*string) error {
	for name, text := range to {
		var err error
		if *text, err = readFilter(q, name); err != nil {
			return err
		}
	}
	return nil
}

// statuses returns the status classes of the filter, each with its lowest and highest status.
func statuses() map[string][2]int {
	return map[string][2]int{"": {}, "4xx": {400, 499}, "5xx": {500, 599}}
}

func (x Activity) calls(r *http.Request, by member.Member) (httpio.List[apiCallRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, apiCallPages)
	if err != nil {
		return httpio.List[apiCallRow]{}, err
	}
	f := audit.APICallFilter{Before: page.After, Limit: page.Limit + 1}
	filters := map[string]*string{"code": &f.Code, "path": &f.Path, "key": &f.KeyID, "request_id": &f.RequestID}
	if err := readFilters(q, filters); err != nil {
		return httpio.List[apiCallRow]{}, err
	}
	if f.From, f.To, err = readRange(q); err != nil {
		return httpio.List[apiCallRow]{}, err
	}
	class, known := statuses()[q.Get("status")]
	if !known {
		return httpio.List[apiCallRow]{}, carillon.InvalidValue("status", "One of 4xx, 5xx", carillon.Shorten(q.Get("status")))
	}
	f.Least, f.Most = class[0], class[1]
	all, err := x.Store.APICalls.List(r.Context(), by.CompanyID, f)
	return httpio.ListOf(page, apiCallPages, all, func(c audit.APICall) string { return c.ID }, func(c audit.APICall) apiCallRow {
		return x.apiCallRow(r.Context(), &c)
	}), err
}

func (x Activity) call(r *http.Request, by member.Member, id string) (apiCallPage, error) {
	c, err := x.Store.APICalls.Find(r.Context(), by.CompanyID, id)
	if err != nil {
		return apiCallPage{}, err
	}
	return apiCallPage{
		x.apiCallRow(r.Context(), c), c.Query, c.Address, c.Agent, c.ContentType, c.Idempotency, c.Body, c.BodyCut, c.BodyRead, c.Response,
		c.ResponseCut,
	}, nil
}

type acceptedRow struct {
	At             string  `json:"at"`
	RequestID      string  `json:"request_id"`
	NotificationID string  `json:"notification_id"`
	Voice          bool    `json:"voice"`
	Key            usedKey `json:"key"`
}

// accepted responds with references to accepted requests. There are at most a few thousand.
func (x Activity) accepted(r *http.Request, by member.Member) (httpio.List[acceptedRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, acceptedPages)
	if err != nil {
		return httpio.List[acceptedRow]{}, err
	}
	var key, request string
	if err := readFilters(q, map[string]*string{"key": &key, "request_id": &request}); err != nil {
		return httpio.List[acceptedRow]{}, err
	}
	from, to, err := readRange(q)
	if err != nil {
		return httpio.List[acceptedRow]{}, err
	}
	all, err := x.Store.APICalls.Accepted(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.List[acceptedRow]{}, err
	}
	all = slices.DeleteFunc(all, func(a audit.AcceptedCall) bool {
		return key != "" && a.KeyID != key || request != "" && a.RequestID != request || !from.IsZero() && a.At.Before(from) ||
			!to.IsZero() && !a.At.Before(to)
	})
	if page.After != "" {
		at := slices.IndexFunc(all, func(a audit.AcceptedCall) bool { return a.NotificationID == page.After })
		if all = all[at+1:]; at < 0 { // the cursor's entry and all older ones were deleted
			all = nil
		}
	}
	return httpio.ListOf(page, acceptedPages, all[:min(len(all), page.Limit+1)],
		func(a audit.AcceptedCall) string { return a.NotificationID }, func(a audit.AcceptedCall) acceptedRow {
			return acceptedRow{carillon.FormatTime(a.At), a.RequestID, a.NotificationID, a.Voice, x.key(r.Context(), a.KeyID)}
		}), nil
}

// changeAuthor is the author of a change.
type changeAuthor struct {
	Key     string       `json:"key"` // value for the filter
	Name    string       `json:"name"`
	Origin  audit.Origin `json:"origin"`
	Address string       `json:"address,omitempty"`
}

type changedObject struct {
	Kind audit.Kind `json:"kind"`
	ID   string     `json:"id"`
	Name string     `json:"name"`
}

type auditRow struct {
	ID     string        `json:"id"`
	At     string        `json:"at"`
	By     changeAuthor  `json:"by"`
	Action audit.Action  `json:"action"`
	Object changedObject `json:"object"`
}

type auditPage struct {
	auditRow
	Fields []audit.Field `json:"fields"`
}

func auditRowOf(c audit.Change) auditRow {
	return auditRow{
		c.ID, carillon.FormatTime(c.At),
		changeAuthor{c.Author, c.AuthorName, c.Origin, c.Address},
		c.Action,
		changedObject{c.Kind, c.ObjectID, c.ObjectName},
	}
}

func (x Activity) changes(r *http.Request, by member.Member) (httpio.List[auditRow], error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, changePages)
	if err != nil {
		return httpio.List[auditRow]{}, err
	}
	f := audit.Filter{Before: page.After, Limit: page.Limit + 1}
	kind := ""
	if err := readFilters(q, map[string]*string{"author": &f.Author, "object": &f.ObjectID, "kind": &kind}); err != nil {
		return httpio.List[auditRow]{}, err
	}
	if f.Kind = audit.Kind(kind); f.ObjectID != "" && kind == "" {
		return httpio.List[auditRow]{}, carillon.Missing("kind")
	}
	if f.From, f.To, err = readRange(q); err != nil {
		return httpio.List[auditRow]{}, err
	}
	all, err := x.Store.Audit.List(r.Context(), by.CompanyID, f)
	return httpio.ListOf(page, changePages, all, func(c audit.Change) string { return c.ID }, auditRowOf), err
}

func (x Activity) change(r *http.Request, by member.Member, id string) (auditPage, error) {
	c, err := x.Store.Audit.Find(r.Context(), by.CompanyID, id)
	if err != nil {
		return auditPage{}, err
	}
	return auditPage{auditRowOf(*c), append([]audit.Field{}, c.Changes...)}, nil
}

// authors responds with all authors of changes, for the filter.
func (x Activity) authors(r *http.Request, by member.Member) (httpio.List[changeAuthor], error) {
	all, err := x.Store.Audit.Authors(r.Context(), by.CompanyID, maxAuthors)
	rows := make([]changeAuthor, len(all))
	for i, p := range all {
		rows[i] = changeAuthor{Key: p.Key, Name: p.Name, Origin: p.Origin}
	}
	return httpio.List[changeAuthor]{Data: rows}, err
}
