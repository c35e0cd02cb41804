package app

import (
	"net/http"
	"net/netip"

	"carillon/internal/account/activity"
	"carillon/internal/base/httpio"
)

// newActivity builds what companies see of their calls of the interface, and its metrics.
func newActivity(a *App) *activity.Recorder {
	kept := a.metrics.vec("carillon_api_calls_kept_total", "Calls of the interface that companies see in the panel: those that were refused or failed, and accepted requests to send.", "what")
	dropped := a.metrics.vec("carillon_api_calls_dropped_total", "Calls of the interface that the panel does not show, because too many came at once or the database did not take them; they were served like others.", "what")
	return activity.New(a.store.APICalls, activity.Options{
		Kept:    func(what string, n int) { kept.WithLabelValues(what).Add(float64(n)) },
		Dropped: func(what string, n int) { dropped.WithLabelValues(what).Add(float64(n)) },
		Log:     a.log,
	})
}

// refusals passes refused and failed calls on, with what their requests say of the client.
func refusals(to *activity.Recorder, proxies []netip.Prefix) func(r *http.Request, x httpio.Refusal) {
	return func(r *http.Request, x httpio.Refusal) {
		to.Refused(activity.Refused{
			CompanyID: x.CompanyID, KeyID: x.KeyID, RequestID: x.RequestID, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Status: x.Status, Code: x.Code,
			Message: x.Message, Address: httpio.ClientAddress(r, proxies), Agent: r.UserAgent(), ContentType: r.Header.Get("Content-Type"),
			Repeat: r.Header.Get("Idempotency-Key"), Body: x.Body, BodyRead: x.BodyRead, Response: x.Response, Took: x.Took,
		})
	}
}
