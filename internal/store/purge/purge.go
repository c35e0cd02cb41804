// Package purge deletes expired data: closed notifications past their company's retention, conversations that have been quiet
// for that long, contacts who have none, calls to lines, jobs that send to the people of files, questions that were last asked
// then, idempotency keys, events, signed addresses, quotas and counts of days long past. It works in steps that hold the
// database's writer for a few milliseconds, pauses between them, and begins one while no request waits to be stored, so that
// accepting is hardly slowed. It never deletes a notification that is not closed. Expired sessions are deleted by auth, rates
// by limit.
//
//	round: keys ─▶ requests with one-time codes ─▶ events ─▶ files ─▶ addresses ─▶ recorded changes and calls of the interface
//	       ─▶ quotas and counts (once a day)
//	       ─▶ conversations and contacts, calls to lines, then notifications, company by company:
//	       step, pause, step, pause … until nothing has expired
//
// On PostgreSQL one node at a time deletes; a node that finds another one purging leaves the round to it.
package purge

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/accounts"
)

// Kinds of rows, for metrics.
const (
	Notifications = "notifications"
	Keys          = "idempotency_keys"
	Quotas        = "quotas"
	Stats         = "counts"
	Events        = "events"
	Conversations = "conversations" // without their turns
	Contacts      = "contacts"
	Files         = "files"
	Questions     = "questions"
	Addresses     = "signed_addresses"
	Inbound       = "inbound_messages"
	PastParts     = "history_parts"
	PastMessages  = "history_messages"
	Phones        = "sandbox_phones"
	Incoming      = "incoming_calls"
	Jobs          = "bulk_jobs"
	Changes       = "recorded_changes"
	APICalls      = "api_calls"
	Secrets       = "one_time_codes" // requests
	Recordings    = "recordings"
)

// Options wire a Purge. The zero value works.
type Options struct {
	// Step is called after every step with the kind and number of rows, and the time for which it held the writer.
	Step func(what string, p Purged)
	// Backlog is called with the time by which the oldest closed notification has exceeded its retention, and with
	// zero when a round has deleted everything.
	Backlog func(age time.Duration)
	Log     *slog.Logger
}

// Purge deletes. Make it with New, run it with Run.
type Purge struct {
	rows       *Store
	companies  *accounts.Store
	o          Options
	pace       pace
	operations int64          // count of the store's operations at the end of the last step
	quotas     time.Time      // when quotas were last purged
	logged     bool           // SQLite's log may have deleted requests with one-time codes
	deleted    map[string]int // rows of this round, by kind
	soon       bool           // the last round left rows that another node purges or the search has not indexed yet: repeat it soon
}

// New builds a Purge.
func New(rows *Store, companies *accounts.Store, o Options) *Purge {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Step == nil {
		o.Step = func(string, Purged) {}
	}
	if o.Backlog == nil {
		o.Backlog = func(time.Duration) {}
	}
	return &Purge{rows: rows, companies: companies, o: o, pace: newPace(rows.d.SQLite())}
}

const (
	first     = 15 * time.Second // after the start, and after an incomplete round
	every     = 5 * time.Minute
	quotaDays = 400 // a year of usage stays readable
	statsDays = 400
	day       = 24 * time.Hour
)

// Run runs rounds periodically until ctx ends.
func (p *Purge) Run(ctx context.Context) error {
	for wait := first; p.pauseFor(ctx, wait); {
		if err := p.Round(ctx, time.Now()); err != nil && ctx.Err() == nil {
			p.o.Log.WarnContext(ctx, "cannot purge", "error", err)
		}
		if wait = every; p.soon {
			wait = first
		}
	}
	return nil
}

// record logs the rows that a round deleted.
func (p *Purge) record(ctx context.Context, begin time.Time) {
	if len(p.deleted) == 0 {
		return
	}
	args := []any{"took", time.Since(begin).Round(time.Millisecond).String()}
	for _, what := range slices.Sorted(maps.Keys(p.deleted)) {
		args = append(args, what, p.deleted[what])
	}
	p.o.Log.InfoContext(ctx, "purged", args...)
}

// Round deletes everything that has expired, unless the rows of a company are being imported and compared.
func (p *Purge) Round(ctx context.Context, now time.Time) error {
	p.soon, p.deleted = false, map[string]int{}
	defer p.record(ctx, time.Now())
	if importing, err := p.rows.Importing(ctx, now); importing || err != nil {
		p.soon = importing
		return err
	}
	parts := []func(ctx context.Context, now time.Time) (busy bool, err error){
		p.keys, p.secrets, p.clean, p.events, p.files,
		p.addresses, p.inbound, p.past, p.phones, p.activity, p.daily, p.recordings, p.conversations, p.incoming,
		p.jobs,
	}
	for _, part := range parts {
		if busy, err := part(ctx, now); busy || err != nil {
			return err
		}
	}
	for id := ""; ; {
		c, err := p.rows.ClosedAfter(ctx, id)
		if err != nil {
			return err
		}
		if id = c.CompanyID; id == "" {
			if !p.soon {
				p.o.Backlog(0)
			}
			return nil
		}
		if busy, err := p.company(ctx, c, now); busy || err != nil {
			return err
		}
	}
}

// company deletes a company's data beyond its retention.
func (p *Purge) company(ctx context.Context, c Closed, now time.Time) (busy bool, err error) {
	before, err := p.keptSince(ctx, c.CompanyID, now)
	if err != nil || before.IsZero() {
		return false, err
	}
	for from := c.Oldest; from.Before(before); {
		p.o.Backlog(before.Sub(from))
		begin := time.Now()
		x, err := p.rows.Purge(ctx, c.CompanyID, from, before, p.pace.rows)
		p.soon = p.soon || x.Busy || x.Unsearched
		if err != nil || x.Busy {
			return x.Busy, err
		}
		if !p.done(ctx, Notifications, x, time.Since(begin)) {
			return false, ctx.Err()
		}
		if !x.More || x.Notifications == 0 && !x.Next.After(from) {
			return false, nil
		}
		from = x.Next
	}
	return false, nil
}

// keptSince returns the instant before which a company's data is deleted; zero if all is kept.
func (p *Purge) keptSince(ctx context.Context, companyID string, now time.Time) (time.Time, error) {
	return p.daysBefore(ctx, companyID, now, func(c *carillon.Company) int { return c.RetentionDays })
}

// daysBefore returns the instant that is some days of a company's settings ago; zero for no days.
func (p *Purge) daysBefore(
	ctx context.Context, companyID string, now time.Time, days func(c *carillon.Company) int,
) (time.Time, error) {
	company, err := p.companies.Company(ctx, companyID)
	if carillon.IsCode(err, carillon.NotFound) {
		return time.Time{}, nil
	}
	if err != nil || days(company) == 0 {
		return time.Time{}, err
	}
	return now.Add(-time.Duration(days(company)) * day), nil
}

// each runs fn for every company that has rows of a kind and does not keep them forever.
func (p *Purge) each(
	ctx context.Context, what string, now time.Time, fn func(id string, before time.Time) (busy bool, err error),
) (busy bool, err error) {
	for id := ""; ; {
		if id, err = p.rows.Next(ctx, what, id); err != nil || id == "" {
			return false, err
		}
		before, err := p.keptSince(ctx, id, now)
		if err != nil {
			return false, err
		}
		if before.IsZero() {
			continue
		}
		if busy, err := fn(id, before); busy || err != nil {
			return busy, err
		}
	}
}

// conversations deletes the conversations, contacts and open questions of every company beyond its retention.
func (p *Purge) conversations(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.each(ctx, Contacts, now, func(id string, before time.Time) (busy bool, err error) {
		if busy, err := p.steps(ctx, Questions, func() (Purged, error) {
			return p.rows.DropQuestions(ctx, id, before, p.pace.rows)
		}); busy || err != nil {
			return busy, err
		}
		if busy, err := p.steps(ctx, Conversations, func() (Purged, error) {
			return p.rows.DropConversations(ctx, id, before, p.pace.rows)
		}); busy || err != nil {
			return busy, err
		}
		return p.steps(ctx, Contacts, func() (Purged, error) { return p.rows.DropOf(ctx, Contacts, id, before, p.pace.rows) })
	})
}

func (p *Purge) incoming(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.each(ctx, Incoming, now, func(id string, before time.Time) (busy bool, err error) {
		return p.steps(ctx, Incoming, func() (Purged, error) { return p.rows.DropOf(ctx, Incoming, id, before, p.pace.rows) })
	})
}

// keepBroken bounds the duration of an upload.
const keepBroken = time.Hour

func (p *Purge) jobs(ctx context.Context, now time.Time) (busy bool, err error) {
	if busy, err := p.steps(ctx, Jobs, func() (Purged, error) {
		return p.rows.DropGone(ctx, now.Add(-keepBroken), p.pace.rows)
	}); busy || err != nil {
		return busy, err
	}
	return p.each(ctx, Jobs, now, func(id string, before time.Time) (busy bool, err error) {
		return p.steps(ctx, Jobs, func() (Purged, error) { return p.rows.DropBulk(ctx, id, before, p.pace.rows) })
	})
}

// keepEvents is the time for which events can be replayed; a screen that was offline for longer reloads everything.
const keepEvents = 7 * day

// eventsInRow is the approximate number of events in a row of a busy company.
const eventsInRow = 50

func (p *Purge) events(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.steps(ctx, Events, func() (Purged, error) {
		return p.rows.Drop(ctx, Events, now.Add(-keepEvents), max(1, p.pace.rows/eventsInRow))
	})
}

// drop deletes rows of a kind from before an instant.
func (p *Purge) drop(ctx context.Context, what string, before time.Time) (busy bool, err error) {
	return p.steps(ctx, what, func() (Purged, error) { return p.rows.Drop(ctx, what, before, p.pace.rows) })
}

func (p *Purge) keys(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.drop(ctx, Keys, now)
}

// keepSecrets is the longest time for which a request with one-time codes is stored, less than a day with the pause
// between rounds.
const keepSecrets = 23 * time.Hour

// secrets deletes the requests with one-time codes.
func (p *Purge) secrets(ctx context.Context, now time.Time) (busy bool, err error) {
	busy, err = p.steps(ctx, Secrets, func() (Purged, error) {
		x, err := p.rows.DropSecrets(ctx, now.Add(-keepSecrets), p.pace.rows)
		p.logged = p.logged || x.Rows > 0
		return x, err
	})
	if busy || err != nil || !p.logged {
		return busy, err
	}
	emptied, err := p.rows.EmptyLog(ctx)
	p.logged, p.soon = !emptied, p.soon || !emptied
	return false, err
}

// clean completes an erasure whose program ended early.
func (p *Purge) clean(ctx context.Context, _ time.Time) (busy bool, err error) {
	return false, p.rows.CleanFile(ctx)
}

// files deletes files that no turn shows, one per step, because a file may have many megabytes. The others are deleted
// with their conversations.
func (p *Purge) files(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.steps(ctx, Files, func() (Purged, error) { return p.rows.Drop(ctx, Files, now, 1) })
}

// addresses deletes socket addresses that expired over an hour ago: until then they explain their refusal.
func (p *Purge) addresses(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.drop(ctx, Addresses, now.Add(-time.Hour))
}

// keepInbound is the time for which a repeated inbound message is recognized: the channel repeats for 7 days.
const keepInbound = 8 * day

func (p *Purge) inbound(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.drop(ctx, Inbound, now.Add(-keepInbound))
}

// keepPast is the time for which messages of histories are recognized: the channel names their files for 14 days.
const keepPast = 30 * day

func (p *Purge) past(ctx context.Context, now time.Time) (busy bool, err error) {
	if busy, err := p.drop(ctx, PastParts, now.Add(-keepInbound)); busy || err != nil {
		return busy, err
	}
	return p.drop(ctx, PastMessages, now.Add(-keepPast))
}

// Retention of recorded changes and API calls (docs/reference/activity.md). A company with a shorter retention of
// notifications keeps its calls no longer than those, because a request may contain the same numbers.
const (
	keepChanges  = 400 * day
	keepAPICalls = 30 * day
)

func (p *Purge) activity(ctx context.Context, now time.Time) (busy bool, err error) {
	if busy, err := p.drop(ctx, Changes, now.Add(-keepChanges)); busy || err != nil {
		return busy, err
	}
	for id := ""; ; {
		if id, err = p.rows.Next(ctx, APICalls, id); err != nil || id == "" {
			return false, err
		}
		before := now.Add(-keepAPICalls)
		kept, err := p.keptSince(ctx, id, now)
		if err != nil {
			return false, err
		}
		if kept.After(before) {
			before = kept
		}
		if busy, err := p.steps(ctx, APICalls, func() (Purged, error) {
			return p.rows.DropAPICalls(ctx, id, before, p.pace.rows)
		}); busy || err != nil {
			return busy, err
		}
	}
}

// keepPhone is the time for which an unused phone of the sandbox is kept.
const keepPhone = 30 * day

func (p *Purge) phones(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.drop(ctx, Phones, now.Add(-keepPhone))
}

// steps repeats a step until it leaves nothing.
func (p *Purge) steps(ctx context.Context, what string, step func() (Purged, error)) (busy bool, err error) {
	for more := true; more; {
		begin := time.Now()
		x, err := step()
		if err != nil || x.Busy {
			p.soon = x.Busy
			return x.Busy, err
		}
		more = p.done(ctx, what, x, time.Since(begin)) && x.More
	}
	return false, ctx.Err()
}

// daily deletes, once a day, the data that is kept by day.
func (p *Purge) daily(ctx context.Context, now time.Time) (busy bool, err error) {
	if now.Sub(p.quotas) < day {
		return false, nil
	}
	if busy, err := p.oldQuotas(ctx, now); busy || err != nil {
		return busy, err
	}
	busy, err = p.stats(ctx, now)
	if !busy && err == nil {
		p.quotas = now
	}
	return busy, err
}

// oldQuotas reduces quotas to one row per company and day, and deletes old ones.
func (p *Purge) oldQuotas(ctx context.Context, now time.Time) (busy bool, err error) {
	keep := now.UTC().Add(-quotaDays * day).Format(time.DateOnly)
	over := now.UTC().Add(-day).Format(time.DateOnly) // a request of yesterday may be stored today
	for id := ""; ; {
		company, oldest, err := p.rows.QuotaAfter(ctx, id)
		if err != nil || company == "" {
			return false, err
		}
		id = company
		if oldest < keep {
			if busy, err := p.steps(ctx, Quotas, func() (Purged, error) {
				return p.rows.DropQuotas(ctx, company, keep)
			}); busy || err != nil {
				return busy, err
			}
		}
		if busy, err := p.steps(ctx, Quotas, func() (Purged, error) { return p.rows.FoldQuotas(ctx, company, over) }); busy || err != nil {
			return busy, err
		}
	}
}

// stats deletes the counts of recipients accepted long ago.
func (p *Purge) stats(ctx context.Context, now time.Time) (busy bool, err error) {
	return p.steps(ctx, Stats, func() (Purged, error) { return p.rows.DropStats(ctx, now.Add(-statsDays*day), p.pace.rows) })
}

// longestIdleWait bounds the wait for a moment without waiting requests: under a load without gaps purging is slow,
// but continues.
const longestIdleWait = 100 * time.Millisecond

// done reports a step, pauses, waits until no request waits to be stored, and reports whether to continue: on SQLite a
// step is not canceled with its context.
func (p *Purge) done(ctx context.Context, what string, x Purged, whole time.Duration) bool {
	p.o.Step(what, x)
	if x.Rows > 0 {
		p.deleted[what] += x.Rows
	}
	operations := p.rows.d.Commits.Operations()
	foreground := operations != p.operations
	p.operations = operations
	if !p.pauseFor(ctx, p.pace.after(x, whole, foreground)) {
		return false
	}
	p.rows.d.Commits.WaitIdle(ctx, longestIdleWait)
	return ctx.Err() == nil
}

// pauseFor waits, and reports whether to continue.
func (p *Purge) pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
