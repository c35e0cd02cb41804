package app

import (
	"net/http"
	"net/netip"

	"carillon/internal/account/activity"
	"carillon/internal/base/httpio"
)

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
