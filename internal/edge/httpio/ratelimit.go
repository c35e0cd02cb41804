package httpio

import (
	"net/http"
	"strconv"
	"time"

	"carillon"
)

// Policies named in the headers of a 429.
const (
	minutePolicy = "minute"     // requests per minute
	dailyPolicy  = "daily"      // recipients or stored bytes per day
	heldPolicy   = "concurrent" // concurrent resources; its window is the retry delay
)

// MinuteHeaders writes the headers of a per-minute rate, or nothing if there is no limit. On a refusal, Error writes
// them.
func MinuteHeaders(h http.Header, limit, remaining, reset int) {
	if limit > 0 {
		rateHeaders(h, minutePolicy, limit, remaining, time.Minute, reset)
	}
}

// rateHeaders writes RateLimit-Policy and RateLimit in the structured form of the IETF draft "RateLimit header fields
// for HTTP": the quota of a window, the remaining quota, and the seconds until the next window.
func rateHeaders(h http.Header, policy string, quota, remaining int, window time.Duration, reset int) {
	name := strconv.Quote(policy)
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(quota)+";w="+strconv.Itoa(int(window/time.Second)))
	h.Set("RateLimit", name+";r="+strconv.Itoa(remaining)+";t="+strconv.Itoa(reset))
}

// limitHeaders writes RateLimit-Policy and RateLimit of a 429 from its details, so that every refusal carries the
// headers (docs/reference/errors.md).
func limitHeaders(h http.Header, e *carillon.Error) {
	policy, window, quota, left := dailyPolicy, 24*time.Hour, 0, 0
	switch e.Code {
	case carillon.RateLimitExceeded:
		quota, _ = e.Details.Find("limit").(int)
		text, _ := e.Details.Find("window").(string)
		if w, err := time.ParseDuration(text); err == nil {
			window = w
		}
		switch {
		case e.Details.Find("bound") != nil: // an error of package share
			policy = heldPolicy
		case window == time.Minute:
			policy = minutePolicy
		}
	case carillon.QuotaExceeded:
		quota, _ = e.Details.Find("quota").(int)
		used, _ := e.Details.Find("used").(int)
		left = max(0, quota-used)
	default:
		return
	}
	rateHeaders(h, policy, quota, left, window, e.RetryAfter)
}
