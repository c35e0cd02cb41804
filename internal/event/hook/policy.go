package hook

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon/internal/store/events"
)

// Retry policy. An event is given up three days after its first attempt. An endpoint that has failed for three days is
// disabled before it loses an event.
const (
	giveUpAfter  = 72 * time.Hour
	disableAfter = 72 * time.Hour
	downAfter    = 5 // consecutive failures
	probeFirst   = 5 * time.Second
	maxProbe     = 5 * time.Minute
	maxRetry     = time.Hour // bounds a Retry-After
)

// schedule contains the delay before the next attempt, by number of failures.
var schedule = []time.Duration{ //nolint:gochecknoglobals // read-only
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
}

// alertAt are the fractions of disableAfter at which the owners of a failing endpoint get an e-mail.
var alertAt = []float64{0.5, 0.7, 0.9} //nolint:gochecknoglobals // read-only

// jitter varies a duration by a tenth, so that deliveries that failed together are not retried together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64())) //nolint:gosec // not security-sensitive
}

// failed updates a delivery after a failure. giveUp is false while the endpoint is down: then the endpoint is disabled
// instead.
func failed(x *events.Delivery, now time.Time, giveUp bool) {
	x.Attempt++
	if x.BegunAt.IsZero() {
		x.BegunAt = now
	}
	last := x.BegunAt.Add(giveUpAfter)
	x.State, x.NextAt = events.DeliveryWaiting, now.Add(jitter(schedule[min(x.Attempt, len(schedule))-1]))
	switch {
	case !now.Before(last) && giveUp:
		x.State, x.NextAt = events.DeliveryFailed, now
	case now.Before(last) && x.NextAt.After(last):
		x.NextAt = last
	}
}

// outcome is the outcome of a request.
type outcome struct {
	ok         bool
	gone       bool          // 410: the endpoint wants no more events
	throttled  bool          // it must not be called for a while
	retryAfter time.Duration // 0 if not specified
}

// judge classifies a response.
func judge(status int, header http.Header, now time.Time) outcome {
	o := outcome{ok: status >= 200 && status < 300, gone: status == http.StatusGone}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.throttled = true
		o.retryAfter = min(readRetryAfter(header.Get("Retry-After"), now), maxRetry)
	}
	return o
}

// readRetryAfter reads seconds or an HTTP date (RFC 9110, section 10.2.3). It returns 0 for anything else. A number
// that is out of range counts as very large.
func readRetryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// record updates the state of an endpoint with the outcome of a request, and reports whether the endpoint recovered
// from being down.
func record(e *events.Endpoint, o outcome, now time.Time) (recovered bool) {
	if o.ok {
		recovered = e.Failures >= downAfter
		e.Failures, e.FailingSince, e.Alerts, e.PauseUntil, e.SucceededAt = 0, time.Time{}, 0, time.Time{}, now
		return recovered
	}
	e.Failures++
	if e.FailingSince.IsZero() {
		e.FailingSince = now
	}
	switch {
	case o.gone:
		e.DisabledAt, e.DisabledWhy = now, "gone"
	case !now.Before(e.FailingSince.Add(disableAfter)):
		e.DisabledAt, e.DisabledWhy = now, "failing"
	}
	pause := o.retryAfter
	if e.Failures >= downAfter {
		pause = max(pause, jitter(min(probeFirst<<min(e.Failures-downAfter, 10), maxProbe)))
	} else if o.throttled {
		pause = max(pause, probeFirst)
	}
	if until := now.Add(pause); pause > 0 && until.After(e.PauseUntil) {
		e.PauseUntil = until
	}
	return false
}

// stopped reports whether nothing may be sent to an endpoint now.
func stopped(e *events.Endpoint, now time.Time) bool {
	return !e.DisabledAt.IsZero() || e.PauseUntil.After(now)
}

// alertDue reports whether the owners of an endpoint should be notified now that it fails, and counts the alert.
func alertDue(e *events.Endpoint, now time.Time) bool {
	if e.FailingSince.IsZero() {
		return false
	}
	due := 0
	for _, part := range alertAt {
		if !now.Before(e.FailingSince.Add(time.Duration(part * float64(disableAfter)))) {
			due++
		}
	}
	if !e.DisabledAt.IsZero() {
		due = len(alertAt) + 1
	}
	if due <= e.Alerts {
		return false
	}
	e.Alerts = due
	return true
}
