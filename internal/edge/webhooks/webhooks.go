// Package webhooks serves the management of webhooks and events, to callers with an access key and to the panel.
package webhooks

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/hook"
	"carillon/internal/store"
	"carillon/internal/store/events"
)

// Action is a route that exists both in the public API, for access keys, and in the panel, for sessions.
type Action struct {
	Method    string
	Path      string // relative to the API's prefix
	PanelPath string // relative to the panel's prefix; empty if the panel serves it with its other resources
	Write     bool
	Gives     any // zero value of the response (httpio.Value)
	Handle    func(r *http.Request, companyID string) (any, error)
}

// Table returns the routes of webhooks and events. kinds lists all resource kinds, which may refer to a webhook.
func Table(s *store.Store, d *hook.Deliverer, kinds []resource.Kind) []Action {
	x := webhooks{s, d, kinds}
	const (
		all, one = "/webhooks", "/webhooks/{id}"
		screen   = "/webhook-events" // the panel's /events is the event stream of its screens
	)
	return []Action{
		action("GET", all, "", false, x.list),
		action("POST", all, "", true, x.add),
		action("GET", one, "", false, x.get),
		action("PUT", one, "", true, x.put),
		action("DELETE", one, "", true, x.remove),
		action("GET", one+"/status", one+"/status", false, x.status),
		action("GET", one+"/deliveries", one+"/deliveries", false, x.deliveries),
		action("POST", one+"/test", one+"/test", true, x.test),
		action("POST", one+"/rotate", one+"/rotate", true, x.rotate),
		action("POST", one+"/enable", one+"/enable", true, x.enable),
		action("POST", one+"/replay", one+"/replay", true, x.replay),
		action("GET", "/events", screen, false, x.pull),
		action("GET", "/events/{id}", screen+"/{id}", false, x.event),
		action("POST", "/events/{id}/replay", screen+"/{id}/replay", true, x.passOn),
		action("POST", "/events/test", screen+"/test", true, x.testPull),
	}
}

func action[T any](
	method, path, panelPath string, write bool, handle func(r *http.Request, companyID string) (T, error),
) Action {
	var none T
	return Action{method, path, panelPath, write, none, func(r *http.Request, companyID string) (any, error) {
		return handle(r, companyID)
	}}
}

// webhooks implements the actions.
type webhooks struct {
	store *store.Store
	hooks *hook.Deliverer
	kinds []resource.Kind
}

func (d webhooks) remove(r *http.Request, companyID string) (httpio.None, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return nil, d.store.Resources.DeleteResource(r.Context(), companyID, d.kinds, hook.Kind(), id)
}

func idOf(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent("Webhook")
	}
	return strings.ToLower(id), nil
}

// shown hides the secrets of a webhook, except for one that was just created.
func shown(w *hook.Webhook, made bool) *hook.Webhook {
	secret := w.SigningSecret
	resource.HideSecrets(w)
	if made {
		w.SigningSecret = secret
	}
	return w
}

func (d webhooks) list(r *http.Request, companyID string) (httpio.List[*hook.Webhook], error) {
	page, err := httpio.ReadPage(r.URL.Query(), "webhook")
	if err != nil {
		return httpio.List[*hook.Webhook]{}, err
	}
	found, err := d.store.Resources.Resources(r.Context(), companyID, hook.Kind(), page.After, page.Limit+1)
	return httpio.ListOf(page, "webhook", found, func(x resource.Resource) string {
		id, _ := x.Key()
		return *id
	}, func(x resource.Resource) *hook.Webhook {
		return shown(x.(*hook.Webhook), false) //nolint:forcetypeassert // the kind creates no other type
	}), err
}

func (d webhooks) get(r *http.Request, companyID string) (*hook.Webhook, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	w, err := d.hooks.Find(r.Context(), companyID, id)
	if err != nil {
		return nil, err
	}
	return shown(w, false), nil
}

func read(r *http.Request) (*hook.Webhook, *jsonbody.Object, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, nil, err
	}
	x, err := config.ResourceOf(o, hook.Kind())
	if err != nil {
		return nil, nil, err
	}
	return x.(*hook.Webhook), o, nil //nolint:forcetypeassert // the kind creates no other type
}

func (d webhooks) add(r *http.Request, companyID string) (httpio.Created[*hook.Webhook], error) {
	w, _, err := read(r)
	if err != nil {
		return httpio.Created[*hook.Webhook]{}, err
	}
	if err := d.hooks.Admit(r.Context(), companyID, w); err != nil {
		return httpio.Created[*hook.Webhook]{}, err
	}
	made, err := d.store.Resources.AddResource(r.Context(), companyID, hook.Kind(), w)
	if err != nil {
		return httpio.Created[*hook.Webhook]{}, err
	}
	return httpio.Created[*hook.Webhook]{Value: shown(w, made)}, nil
}

func (d webhooks) put(r *http.Request, companyID string) (*hook.Webhook, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	w, o, err := read(r)
	if err != nil {
		return nil, err
	}
	if given, present, err := o.String("id", "id"); err != nil || present && !strings.EqualFold(given, id) {
		return nil, carillon.Invalid("id", "Must be the id of the path, or be left out")
	}
	w.ID = id
	if err := d.hooks.Admit(r.Context(), companyID, w); err != nil {
		return nil, err
	}
	made, err := d.store.Resources.ReplaceResource(r.Context(), companyID, hook.Kind(), w)
	if err != nil {
		return nil, err
	}
	return shown(w, made), nil
}

// endpointState is the delivery state of a webhook.
type endpointState struct {
	State        string  `json:"state" enum:"active,paused,failing,down,disabled"` // active, paused, failing, down, disabled
	Reason       string  `json:"reason,omitempty"`                                 // for disabled: gone, failing
	Failures     int     `json:"failures"`
	FailingSince *string `json:"failing_since"`
	NextAttempt  *string `json:"next_attempt_at"`
	DisabledAt   *string `json:"disabled_at"`
	SucceededAt  *string `json:"succeeded_at"`
	Waiting      int     `json:"waiting"` // failed deliveries that will be retried
	Failed       int     `json:"failed"`  // deliveries given up
	Behind       int64   `json:"behind"`  // events not examined yet
	Oldest       *string `json:"oldest_at"`
}

func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := carillon.FormatTime(t)
	return &s
}

// find returns the webhook named in the path.
func (d webhooks) find(r *http.Request, companyID string) (*hook.Webhook, events.EndpointKey, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, events.EndpointKey{}, err
	}
	w, err := d.hooks.Find(r.Context(), companyID, id)
	return w, events.EndpointKey{CompanyID: companyID, WebhookID: id}, err
}

func (d webhooks) status(r *http.Request, companyID string) (*endpointState, error) {
	w, k, err := d.find(r, companyID)
	if err != nil {
		return nil, err
	}
	return d.stateOf(r.Context(), w, k)
}

func (d webhooks) stateOf(ctx context.Context, w *hook.Webhook, k events.EndpointKey) (*endpointState, error) {
	e, err := d.store.Hooks.Endpoint(ctx, k)
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = &events.Endpoint{}
	}
	s := &endpointState{
		State: hook.StateOf(w, e), Reason: e.DisabledWhy, Failures: e.Failures, FailingSince: instant(e.FailingSince),
		DisabledAt: instant(e.DisabledAt), SucceededAt: instant(e.SucceededAt),
	}
	if s.State == "failing" || s.State == "down" {
		next := e.WakeAt
		if e.PauseUntil.After(next) {
			next = e.PauseUntil
		}
		s.NextAttempt = instant(next)
	}
	if s.Waiting, s.Failed, err = d.store.Hooks.Counts(ctx, k); err != nil {
		return nil, err
	}
	if s.Behind, err = d.store.Hooks.Behind(ctx, k); err != nil {
		return nil, err
	}
	oldest, err := d.store.Hooks.Oldest(ctx, k)
	s.Oldest = instant(oldest)
	return s, err
}

// attempt is a request to a webhook, with the response.
type attempt struct {
	ID        string `json:"id"`
	WebhookID string `json:"webhook_id"`
	EventID   string `json:"event_id"`
	Type      string `json:"type"`
	Subject   string `json:"subject"`
	Attempt   int    `json:"attempt"`
	At        string `json:"at"`
	Duration  int64  `json:"duration_ms"`
	OK        bool   `json:"succeeded"`
	Status    int    `json:"status,omitempty"`
	Error     string `json:"error,omitempty"`
	Request   string `json:"request"`
	Response  string `json:"response"`
}

func attemptOf(a events.Attempt) attempt {
	return attempt{
		a.ID, a.WebhookID, a.EventID, a.Kind, a.Subject, a.N, carillon.FormatTime(a.At), a.Took.Milliseconds(), a.OK, a.Status,
		a.Error, a.Request, a.Response,
	}
}

func (d webhooks) deliveries(r *http.Request, companyID string) (httpio.List[attempt], error) {
	_, k, err := d.find(r, companyID)
	if err != nil {
		return httpio.List[attempt]{}, err
	}
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, "delivery")
	if err != nil {
		return httpio.List[attempt]{}, err
	}
	failed := q.Get("succeeded")
	if failed != "" && failed != "false" {
		return httpio.List[attempt]{}, carillon.InvalidValue("succeeded", "Must be false, or be left out", carillon.Shorten(failed))
	}
	found, err := d.store.Hooks.Attempts(r.Context(), k, failed == "false", page.After, page.Limit+1)
	return httpio.ListOf(page, "delivery", found, func(a events.Attempt) string { return a.ID }, attemptOf), err
}

// readType reads the event type from a body.
func readType(o *jsonbody.Object) (string, error) {
	kind, present, err := o.String("type", "type")
	switch {
	case err != nil:
		return "", err
	case !present || kind == "":
		return "", carillon.Missing("type")
	case !slices.Contains(hook.Types(), kind):
		return "", carillon.InvalidValue("type", "Must be one of "+strings.Join(hook.Types(), ", "), carillon.Shorten(kind))
	}
	return kind, nil
}

func (d webhooks) test(r *http.Request, companyID string) (attempt, error) {
	_, k, err := d.find(r, companyID)
	if err != nil {
		return attempt{}, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return attempt{}, err
	}
	kind, err := readType(o)
	if err != nil {
		return attempt{}, err
	}
	a, err := d.hooks.Test(r.Context(), companyID, k.WebhookID, kind)
	if err != nil {
		return attempt{}, err
	}
	return attemptOf(*a), nil
}

// Limits of how long the previous secret keeps signing after a rotation.
const (
	keepHours    = 24
	maxKeepHours = 24 * 30
)

func (d webhooks) rotate(r *http.Request, companyID string) (*hook.Webhook, error) {
	w, _, err := d.find(r, companyID)
	if err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	hours, err := wholeNumber(o, "keep_hours", keepHours, maxKeepHours)
	if err != nil {
		return nil, err
	}
	secret, given, err := o.String("secret", "secret")
	if err != nil {
		return nil, err
	}
	if !given {
		secret = hook.NewSecret()
	}
	w.Rotate(secret, time.Now().Add(time.Duration(hours)*time.Hour))
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if _, err := d.store.Resources.ReplaceResource(r.Context(), companyID, hook.Kind(), w); err != nil {
		return nil, err
	}
	return shown(w, true), nil
}

func wholeNumber(o *jsonbody.Object, field string, otherwise, most int) (int, error) {
	v := o.Find(field)
	if !v.Present() {
		return otherwise, nil
	}
	var n int
	if err := json.Unmarshal(v.Raw(), &n); err != nil || n < 0 || n > most {
		return 0, carillon.Invalid(field, "Must be a whole number from 0 to 720")
	}
	return n, nil
}

func (d webhooks) enable(r *http.Request, companyID string) (*endpointState, error) {
	w, k, err := d.find(r, companyID)
	if err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	skip, _, err := o.Bool("skip_waiting", "skip_waiting")
	if err != nil {
		return nil, err
	}
	if skip {
		if err := d.store.Hooks.SkipAll(r.Context(), k); err != nil {
			return nil, err
		}
	}
	if _, err := d.store.Hooks.Again(r.Context(), k, time.Now()); err != nil {
		return nil, err
	}
	d.hooks.Wake(k.CompanyID)
	return d.stateOf(r.Context(), w, k)
}

// replayed is the number of events sent again.
type replayed struct {
	Replayed int64 `json:"replayed"`
	More     bool  `json:"more"` // more events matched than one replay sends
}

func (d webhooks) replay(r *http.Request, companyID string) (replayed, error) {
	_, k, err := d.find(r, companyID)
	if err != nil {
		return replayed{}, err
	}
	x, err := d.readReplay(r, companyID)
	if err != nil {
		return replayed{}, err
	}
	n, err := d.store.Hooks.Replay(r.Context(), k, *x, time.Now())
	if err != nil {
		return replayed{}, err
	}
	d.hooks.Wake(k.CompanyID)
	return replayed{n, n >= events.MaxReplay}, nil
}

// readReplay reads the events to send again: event_id, or else failed, or else from with optional to and types.
func (d webhooks) readReplay(r *http.Request, companyID string) (*events.Replay, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	id, one, err := o.String("event_id", "event_id")
	if err != nil {
		return nil, err
	}
	if one {
		e, err := d.hooks.FindEvent(r.Context(), companyID, id)
		if err != nil {
			return nil, err
		}
		return &events.Replay{Topic: e.Topic, Seq: e.Seq}, nil
	}
	failed, _, err := o.Bool("failed", "failed")
	if err != nil || failed {
		return &events.Replay{Failed: true}, err
	}
	x := &events.Replay{To: time.Now()}
	for field, to := range map[string]*time.Time{"from": &x.From, "to": &x.To} {
		text, present, err := o.String(field, field)
		if err != nil {
			return nil, err
		}
		if !present {
			continue
		}
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, carillon.BadFormat(field, carillon.Shorten(text), "RFC 3339", "2026-12-25T10:00:00Z")
		}
	}
	if x.From.IsZero() {
		return nil, carillon.Invalid("from", "Give event_id, failed: true, or from")
	}
	kinds, present, err := o.Find("types").Strings("types")
	if err != nil || !present {
		return x, err
	}
	for i, kind := range kinds {
		if !slices.Contains(hook.Types(), kind) {
			return nil, carillon.InvalidValue(resource.Index("types", i), "Must be a type of events", carillon.Shorten(kind))
		}
	}
	x.Kinds = kinds
	return x, nil
}

// attemptsShown is the number of attempts in the response to GET events/{id}.
const attemptsShown = 100

// eventShown is an event with its last deliveries.
type eventShown struct {
	*hook.Body
	Deliveries []attempt `json:"deliveries"`
}

func (d webhooks) event(r *http.Request, companyID string) (eventShown, error) {
	e, err := d.hooks.FindEvent(r.Context(), companyID, r.PathValue("id"))
	if err != nil {
		return eventShown{}, err
	}
	b, err := hook.BodyOf(e)
	if err != nil {
		return eventShown{}, err
	}
	found, err := d.store.Hooks.OfEvent(r.Context(), companyID, b.ID, attemptsShown)
	if err != nil {
		return eventShown{}, err
	}
	response := eventShown{b, []attempt{}}
	for _, a := range found {
		response.Deliveries = append(response.Deliveries, attemptOf(a))
	}
	return response, nil
}

// passOn sends an event again to the clients that pull.
func (d webhooks) passOn(r *http.Request, companyID string) (replayed, error) {
	e, err := d.hooks.FindEvent(r.Context(), companyID, r.PathValue("id"))
	if err != nil {
		return replayed{}, err
	}
	b, err := hook.BodyOf(e)
	if err != nil {
		return replayed{}, err
	}
	return replayed{Replayed: 1}, d.hooks.Request(r.Context(), companyID, b)
}

// testPull sends a sample event of a type to the clients that pull.
func (d webhooks) testPull(r *http.Request, companyID string) (*hook.Body, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	kind, err := readType(o)
	if err != nil {
		return nil, err
	}
	b, err := hook.Sample(companyID, kind, time.Now())
	if err != nil {
		return nil, err
	}
	return b, d.hooks.Request(r.Context(), companyID, b)
}
