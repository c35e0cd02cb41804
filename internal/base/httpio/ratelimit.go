package httpio

import (
	"net/http"
	"strconv"
	"time"

	"carillon"
)

// The policies that the headers of a 429 name.
const (
	MinutePolicy = "minute"     // requests a minute
	DailyPolicy  = "daily"      // recipients or stored bytes a day
	HeldPolicy   = "concurrent" // what is held at once; its window is when to try again
)

// RateHeaders writes RateLimit-Policy and RateLimit in the structured form of the IETF draft "RateLimit header fields for
// HTTP": the quota of a window, what remains of it, and the seconds until the next window.
func RateHeaders(h http.Header, policy string, quota, remaining int, window time.Duration, reset int) {
	name := strconv.Quote(policy)
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(quota)+";w="+strconv.Itoa(int(window/time.Second)))
	h.Set("RateLimit", name+";r="+strconv.Itoa(remaining)+";t="+strconv.Itoa(reset))
}

// SecondsUntil returns the whole seconds from now to reset for retry_after, rounded up and at least 1.
func SecondsUntil(reset, now time.Time) int {
	return max(1, int((reset.Sub(now)+time.Second-1)/time.Second))
}

// limitHeaders writes RateLimit-Policy and RateLimit of a 429 from its details, so that every refusal carries the
// headers (docs/reference/errors.md).
func limitHeaders(h http.Header, e *carillon.Error) {
	policy, window, quota, left := DailyPolicy, 24*time.Hour, 0, 0
	switch e.Code {
	case carillon.RateLimitExceeded:
		quota, _ = e.Details.Find("limit").(int)
		text, _ := e.Details.Find("window").(string)
		if w, err := time.ParseDuration(text); err == nil {
			window = w
		}
		switch {
		case e.Details.Find("bound") != nil: // of package share
			policy = HeldPolicy
		case window == time.Minute:
			policy = MinutePolicy
		}
	case carillon.QuotaExceeded:
		quota, _ = e.Details.Find("quota").(int)
		used, _ := e.Details.Find("used").(int)
		left = max(0, quota-used)
	default:
		return
	}
	RateHeaders(h, policy, quota, left, window, e.RetryAfter)
}
