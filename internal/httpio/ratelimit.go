package httpio

import (
	"strconv"
	"time"
)

// The policies that the headers of a 429 name.
const (
	MinutePolicy = "minute" // requests a minute
	DailyPolicy  = "daily"  // recipients a day
)

// RateHeaders returns the values of RateLimit-Policy and RateLimit in the structured form of the IETF draft "RateLimit
// header fields for HTTP": the quota of a window, what remains of it, and the seconds until the next window.
func RateHeaders(policy string, quota, remaining int, window time.Duration, reset int) (policyValue, limitValue string) {
	name := strconv.Quote(policy)
	policyValue = name + ";q=" + strconv.Itoa(quota) + ";w=" + strconv.Itoa(int(window/time.Second))
	limitValue = name + ";r=" + strconv.Itoa(remaining) + ";t=" + strconv.Itoa(reset)
	return policyValue, limitValue
}

// SecondsUntil returns the whole seconds from now to reset for retry_after, rounded up and at least 1.
func SecondsUntil(reset, now time.Time) int {
	return max(1, int((reset.Sub(now)+time.Second-1)/time.Second))
}
