package hook

import (
	"cmp"
	"context"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/store"
	"carillon/internal/store/events"
)

// Options configure a Deliverer.
type Options struct {
	Client *egress.Client
	// Owns reports whether this node serves a shard, out of carillon.Shards. Each endpoint belongs to one shard.
	Owns func(shard int) bool
	// Alert is called when the owners of an endpoint should be notified that it fails.
	Alert     func(ctx context.Context, a Alert)
	Attempted func(ok bool, took time.Duration) // may be nil
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Busy      func() bool      // reports whether the processors are overloaded; nil means never. Not called concurrently
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger
}

// Alert reports a failing endpoint.
type Alert struct {
	CompanyID string
	URL       string
	Since     time.Time
	Disabled  time.Time // when it was or will be disabled
	Ended     bool      // it has been disabled
	Gone      bool      // disabled because it responded 410
	Last      string    // error of the last attempt
}

// Deliverer sends events to endpoints.
type Deliverer struct {
	store *store.Store
	o     Options
	wake  chan struct{}
	pace  *pace

	mu      sync.Mutex
	lanes   map[events.EndpointKey]*lane
	serving int             // number of lanes being served
	woken   map[string]bool // companies woken since the last check
	serve   sync.WaitGroup
}

const (
	passEvery = time.Second // checks every endpoint, for events of other nodes and due retries
	passCalm  = 20 * time.Millisecond
	passBusy  = 250 * time.Millisecond // while events yield to other work
	maxLanes  = 1000                   // endpoints that a node serves concurrently
	lanesKept = 10 * time.Minute

	sweepEvery = 10 * time.Minute
	maxSweep   = 500                // rows per statement
	keepFailed = 8 * 24 * time.Hour // a day longer than the retention of events
)

// NewDeliverer returns a deliverer.
func NewDeliverer(s *store.Store, o Options) *Deliverer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Attempted == nil {
		o.Attempted = func(bool, time.Duration) {}
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	return &Deliverer{
		store: s, o: o, wake: make(chan struct{}, 1), pace: newPace(o.Busy), lanes: map[events.EndpointKey]*lane{},
		woken: map[string]bool{},
	}
}

// Wake makes the deliverer check the endpoints of companies now, because there may be new events.
func (d *Deliverer) Wake(companies ...string) {
	d.mu.Lock()
	for _, id := range companies {
		d.woken[id] = true
	}
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// takeWoken returns the companies that were woken since the last call.
func (d *Deliverer) takeWoken() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Collect(maps.Keys(d.woken))
	clear(d.woken)
	return all
}

// Run serves the endpoints of this node until ctx ends. It then finishes the requests in flight.
func (d *Deliverer) Run(ctx context.Context) error {
	defer d.serve.Wait()
	failing, sweep := false, d.o.Now()
	var passed time.Time
	for ctx.Err() == nil {
		var err error
		// Checking every endpoint takes milliseconds if there are a thousand, and events arrive continuously.
		if woken := d.takeWoken(); time.Since(passed) >= passEvery {
			err = d.Pass(ctx)
			passed = time.Now() // a slow pass is not repeated without a pause
		} else if len(woken) > 0 {
			err = d.passOf(ctx, woken)
		}
		if err != nil && ctx.Err() == nil && !failing {
			d.o.Log.WarnContext(ctx, "look for events to deliver", "error", err)
		}
		failing = err != nil
		if now := d.o.Now(); !now.Before(sweep) && d.o.Owns(0) {
			sweep = now.Add(sweepEvery)
			d.sweep(ctx, now)
		}
		wait(ctx, passEvery-time.Since(passed), d.wake)
		calm := passCalm
		if d.pace.perSecond() < paceFirst() {
			calm = passBusy
		}
		wait(ctx, calm, nil) // collect events that are committed at about the same time
	}
	return nil
}

// sweep deletes the remaining data of deleted endpoints, and deliveries that were given up long ago.
func (d *Deliverer) sweep(ctx context.Context, now time.Time) {
	for more, err := true, error(nil); more && ctx.Err() == nil; wait(ctx, passCalm, nil) {
		if more, err = d.store.Hooks.Sweep(ctx, now.Add(-keepFailed), maxSweep); err != nil {
			d.o.Log.WarnContext(ctx, "delete old deliveries", "error", err)
			return
		}
	}
}

func wait(ctx context.Context, most time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-wake:
	}
}

// Pass starts serving every endpoint of this node that has something to do, each in its own goroutine.
func (d *Deliverer) Pass(ctx context.Context) error {
	due, err := d.store.Hooks.Due(ctx, d.o.Now())
	if err != nil {
		return err
	}
	d.forget()
	d.beginAll(ctx, due)
	return nil
}

// passOf is Pass for the endpoints of some companies.
func (d *Deliverer) passOf(ctx context.Context, companies []string) error {
	due, err := d.store.Hooks.DueOf(ctx, companies, d.o.Now())
	if err != nil {
		return err
	}
	d.beginAll(ctx, due)
	return nil
}

// beginAll starts serving those of the endpoints that belong to this node.
func (d *Deliverer) beginAll(ctx context.Context, due []events.EndpointKey) {
	for _, k := range due {
		if d.o.Owns(shardOf(k)) {
			d.begin(ctx, k)
		}
	}
}

// Wait waits until no endpoint is being served.
func (d *Deliverer) Wait() { d.serve.Wait() }

func shardOf(k events.EndpointKey) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.CompanyID + k.WebhookID)) // never fails
	return int(h.Sum32() % carillon.Shards)
}

// begin starts serving an endpoint unless it is already being served.
func (d *Deliverer) begin(ctx context.Context, k events.EndpointKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lanes[k]
	if l == nil {
		l = &lane{d: d, key: k}
		d.lanes[k] = l
	}
	if l.serving {
		l.rerun = true // the new event may have arrived after the lane's last check
		return
	}
	if d.serving >= maxLanes {
		return
	}
	l.serving, d.serving = true, d.serving+1
	d.serve.Go(func() {
		for more := true; more; more = d.ended(l, ctx.Err() == nil) {
			if err := l.run(ctx); err != nil && ctx.Err() == nil {
				d.o.Log.WarnContext(ctx, "deliver events", "webhook_id", k.WebhookID, "error", err)
				wait(ctx, passEvery, nil)
			}
		}
	})
}

// ended records that a lane has nothing more to do, and reports whether it must check again. may is false during
// shutdown.
func (d *Deliverer) ended(l *lane, running bool) (rerun bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rerun, l.rerun = l.rerun && running, false
	if !rerun {
		l.serving, l.served, d.serving = false, d.o.Now(), d.serving-1
	}
	return rerun
}

// forget removes lanes that have been idle for a while.
func (d *Deliverer) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.o.Now().Add(-lanesKept)
	maps.DeleteFunc(d.lanes, func(_ events.EndpointKey, l *lane) bool { return !l.serving && l.served.Before(before) })
}

// Serving returns how many endpoints are being served.
func (d *Deliverer) Serving() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.serving
}

// Backlogs returns the endpoints with events waiting that are neither disabled nor paused, longest waiting first.
func (d *Deliverer) Backlogs(ctx context.Context) ([]events.Backlog, error) {
	all, err := d.store.Hooks.Backlogs(ctx)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, b := range all {
		w, err := d.listed(ctx, b.EndpointKey)
		if err != nil {
			return nil, err
		}
		if w != nil && !w.Paused {
			kept = append(kept, b)
		}
	}
	slices.SortFunc(kept, func(a, b events.Backlog) int {
		if a.Oldest.IsZero() != b.Oldest.IsZero() { // its events are deleted already
			return cmp.Compare(b.Oldest.UnixMilli(), a.Oldest.UnixMilli())
		}
		return a.Oldest.Compare(b.Oldest)
	})
	return kept, nil
}

// mayRead returns how many events a lane may read for its next round. Events that are read but not sent must be read
// again.
func (d *Deliverer) mayRead() int {
	return min(maxRound, max(width, int(d.pace.perSecond()*roundLong.Seconds())/max(1, d.Serving())))
}

// Rate returns the maximum number of events per second that this node sends now. It is lower while the node is busy.
func (d *Deliverer) Rate() float64 { return d.pace.perSecond() }

// Find returns an endpoint of a company. Errors: not_found.
func (d *Deliverer) Find(ctx context.Context, companyID, id string) (*Webhook, error) {
	x, err := d.store.Resources.Resource(ctx, companyID, Kind(), id)
	if err != nil {
		return nil, err
	}
	return x.(*Webhook), nil //nolint:forcetypeassert // the kind creates no other type
}

// listed returns an endpoint from the cache, or nil if there is none.
func (d *Deliverer) listed(ctx context.Context, k events.EndpointKey) (*Webhook, error) {
	all, err := d.store.Resources.Listed(ctx, k.CompanyID, Kind())
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if w, ok := x.(*Webhook); ok && w.ID == k.WebhookID {
			return w, nil
		}
	}
	return nil, nil //nolint:nilnil // no such endpoint
}

// Test sends a sample event to an endpoint and returns the attempt. Errors: not_found, validation_failed.
func (d *Deliverer) Test(ctx context.Context, companyID, id, kind string) (*events.Attempt, error) {
	w, err := d.Find(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	b, err := Sample(companyID, kind, d.o.Now())
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // log the attempt even if the caller has gone
	a, _ := d.send(ctx, companyID, w, b, "test", 1)
	return &a, d.store.Hooks.Log(ctx, &a)
}
