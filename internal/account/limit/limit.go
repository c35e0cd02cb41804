// Package limit enforces request rates: a number of requests per minute for each name, in windows that begin on the
// minute. With SQLite there is one node, and the counts are in memory. With PostgreSQL, nodes borrow parts of a window
// from the database, so that together they never exceed the limit. Requests that a node borrowed but did not use are
// unavailable to the others until the next minute. Daily quotas are not handled here: the transaction that accepts a
// request charges them.
package limit

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

// Window is the length of a window.
const Window = time.Minute

// slices is the number of parts into which a limit is divided for borrowing.
const slices = 64

// Limits counts requests by name. Its methods are safe for concurrent use.
type Limits struct {
	// Now is the clock that determines the windows. It is time.Now unless it is changed before the first request.
	Now func() time.Time

	store *accounts.Rates
	log   *slog.Logger
	local bool          // a single node: nothing is borrowed
	wait  time.Duration // bounds each use of the database; a request that cannot be counted is refused with a 503

	mu      sync.Mutex
	start   time.Time          // the window of the buckets
	buckets map[string]*bucket // at most maxNames
	shared  [sharedBuckets]*bucket
	sweep   bool      // the database may contain rows of older windows
	swept   time.Time // time of the last sweep of days
}

// New returns limits that use a store.
func New(s *accounts.Rates, log *slog.Logger) *Limits {
	return &Limits{Now: time.Now, store: s, log: log, local: !s.Shared(), wait: s.Timeout()}
}

// Decision is the result of counting a request. The zero Decision means that there is no limit.
type Decision struct {
	Limit     int
	Remaining int // as far as this node knows
	Seconds   int // until the next window, rounded up, at least 1
}

// Exceeded returns the 429 rate_limit_exceeded for a window that is full until reset.
func Exceeded(message string, limit int, window time.Duration, reset, now time.Time) *carillon.Error {
	return &carillon.Error{
		Code: carillon.RateLimitExceeded, Message: message,
		Details: carillon.Details{
			{Key: "limit", Value: limit},
			{Key: "window", Value: strconv.Itoa(int(window/time.Second)) + "s"},
			{Key: "reset_time", Value: carillon.FormatTime(reset)},
		},
		RetryAfter: SecondsUntil(reset, now),
	}
}

// SecondsUntil returns the seconds from now to reset for retry_after, rounded up and at least 1.
func SecondsUntil(reset, now time.Time) int {
	return max(1, int((reset.Sub(now)+time.Second-1)/time.Second))
}

// Allow counts n requests under name in the current minute. A perMinute of 0 means no limit. A refused request is not
// counted. Errors: rate_limit_exceeded; service_unavailable if the shared database does not respond.
func (l *Limits) Allow(ctx context.Context, name string, perMinute, n int) (Decision, error) {
	return l.decide(ctx, name, perMinute, n, (*Limits).count)
}

// Check is Allow for one request, but does not count it. Errors: those of Allow.
func (l *Limits) Check(ctx context.Context, name string, perMinute int) (Decision, error) {
	return l.decide(ctx, name, perMinute, 1, (*Limits).room)
}

type counting func(l *Limits, ctx context.Context, b *bucket, name string, limit, n int) (left int, ok bool, err error)

func (l *Limits) decide(ctx context.Context, name string, perMinute, n int, c counting) (Decision, error) {
	if perMinute <= 0 {
		return Decision{}, nil
	}
	now := l.Now()
	b := l.bucket(name, now.Truncate(Window))
	left, ok, err := c(l, ctx, b, name, perMinute, n)
	if err != nil {
		return Decision{}, err
	}
	reset := b.start.Add(Window).UTC()
	d := Decision{Limit: perMinute, Remaining: max(0, left), Seconds: SecondsUntil(reset, now)}
	if !ok {
		return d, Exceeded("Too many requests", perMinute, Window, reset, now)
	}
	return d, nil
}
