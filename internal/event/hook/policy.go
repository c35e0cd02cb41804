package hook

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon/internal/store/hooks"
)

// When what failed is tried again. An event is given up three days after it was tried first; an endpoint that has only failed
// for three days is disabled before it loses any.
const (
	giveUpAfter  = 72 * time.Hour
	disableAfter = 72 * time.Hour
	downAfter    = 5 // failures in a row
	probeFirst   = 5 * time.Second
	maxProbe     = 5 * time.Minute
	maxRetry     = time.Hour // of a Retry-After
)

// schedule is how long after its n-th failure an event is tried again.
var schedule = []time.Duration{ //nolint:gochecknoglobals // read only
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
}

// alertAt are the parts of disableAfter after which the owners of a failing endpoint get an e-mail.
var alertAt = []float64{0.5, 0.7, 0.9} //nolint:gochecknoglobals // read only

// jitter varies a duration by a tenth, so that what failed together is not tried together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64())) //nolint:gosec // no secret
}

// failed updates a delivery that failed at an instant. giveUp: not while the endpoint is down, which disables it instead.
func failed(x *hooks.Delivery, now time.Time, giveUp bool) {
	x.Attempt++
	if x.BegunAt.IsZero() {
		x.BegunAt = now
	}
	last := x.BegunAt.Add(giveUpAfter)
	x.State, x.NextAt = hooks.Waiting, now.Add(jitter(schedule[min(x.Attempt, len(schedule))-1]))
	switch {
	case !now.Before(last) && giveUp:
		x.State, x.NextAt = hooks.Failed, now
	case now.Before(last) && x.NextAt.After(last):
		x.NextAt = last
	}
}

// outcome is what came of a request.
type outcome struct {
	ok         bool
	gone       bool          // 410: the endpoint wants no more
	throttled  bool          // it is to be left alone for a while
	retryAfter time.Duration // 0: it did not say
}

// judge reads a response.
func judge(status int, header http.Header, now time.Time) outcome {
	o := outcome{ok: status >= 200 && status < 300, gone: status == http.StatusGone}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.throttled = true
		o.retryAfter = min(readRetryAfter(header.Get("Retry-After"), now), maxRetry)
	}
	return o
}

// readRetryAfter reads seconds or an HTTP date (RFC 9110, section 10.2.3); 0 for anything else. A number beyond all sense still
// says: not soon.
func readRetryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// record updates how an endpoint stands with what came of a request, and reports whether it was down and is not any more.
func record(e *hooks.Endpoint, o outcome, now time.Time) (recovered bool) {
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

// stopped reports whether nothing more is to be sent to an endpoint now.
func stopped(e *hooks.Endpoint, now time.Time) bool {
	return !e.DisabledAt.IsZero() || e.PauseUntil.After(now)
}

// alertDue reports whether the owners of an endpoint should learn now that it fails, and counts that.
func alertDue(e *hooks.Endpoint, now time.Time) bool {
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
