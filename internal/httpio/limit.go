package httpio

import (
	"net/http"
	"time"

	"carillon"
)

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
		if window == time.Minute {
			policy = MinutePolicy
		}
	case carillon.QuotaExceeded:
		quota, _ = e.Details.Find("quota").(int)
		used, _ := e.Details.Find("used").(int)
		left = max(0, quota-used)
	default:
		return
	}
	policyValue, limitValue := RateHeaders(policy, quota, left, window, e.RetryAfter)
	h.Set("RateLimit-Policy", policyValue)
	h.Set("RateLimit", limitValue)
}
