// Package activity records the API calls that companies can inspect: refused and failed calls, complete except for
// their secrets, and references to accepted requests to send. It never delays a call: entries go to a bounded queue,
// and those that do not fit are counted and dropped. Run writes the queue every second, in its own transaction.
//
//	call ─▶ Refused, Accepted: queue, bounded ─▶ Run, every second: redact, group ─▶ apicalls.Write: insert, drop the oldest
package activity

import (
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/redact"
	"carillon/internal/store/audit"
)

// Bounds of the queue, and of the stored part of a call (docs/reference/activity.md).
const (
	MaxBody     = 16 << 10
	maxResponse = 8 << 10
	copied      = MaxBody + 4<<10 // bytes of a body; exceeds MaxBody, because a secret may be cut off there
	maxText     = 300             // bytes of a header or message
	maxPath     = 500
	maxQuery    = 4 << 10

	queueCalls    = 1000
	queueBytes    = 8 << 20
	companyCalls  = 200 // per company and write
	companyRecent = 200
	companies     = 2000
	maxChunk      = 200
	writeEvery    = time.Second
	acceptedEvery = 2 // every second write includes accepted requests
	lastWrite     = 5 * time.Second
	trimAfter     = 50 // rows
)

// Refused is a call that was refused or failed, in its original form, which includes secrets.
type Refused struct {
	CompanyID, KeyID, RequestID         string
	Method, Path, Query                 string
	Status                              int
	Code, Message                       string
	Address, Agent, ContentType, Repeat string // Repeat is the idempotency key
	Body                                []byte // valid only during the call of Recorder.Refused
	BodyRead                            bool
	Response                            []byte
	Took                                time.Duration
}

// Store stores calls. apicalls.Store implements it.
type Store interface {
	Write(ctx context.Context, calls []audit.APICall, chunks []audit.AcceptedChunk, trim []string) error
}

// Options configure a Recorder. The zero value works.
type Options struct {
	// Kept is called with the number of written calls, by kind: refused or accepted.
	Kept func(what string, n int)
	// Dropped is called with the number of calls that were not stored, because there were too many or the database
	// failed.
	Dropped func(what string, n int)
	Log     *slog.Logger
	Every   time.Duration // interval between writes; default a second
}

// The kinds of calls, for metrics.
const (
	KindRefused  = "refused"
	KindAccepted = "accepted"
)

// waiting is a call in the queue.
type waiting struct {
	Refused
	first, last time.Time
	repeats     int
}

func (w *waiting) size() int {
	return 512 + len(w.Body) + len(w.Response) + len(w.Query) + len(w.Path) + len(w.Message)
}

// recent are a company's last accepted requests since the last write.
type recent struct {
	all  [companyRecent]audit.AcceptedCall
	next int // index of the next entry
	n    int
}

// Recorder is the queue. Create it with New. Run writes its entries. Its methods are safe for concurrent use.
type Recorder struct {
	store Store
	o     Options
	seed  maphash.Seed

	mu       sync.Mutex
	queue    []*waiting
	same     map[uint64]*waiting // by a hash of the fields that repeats have in common
	of       map[string]int      // calls in the queue, by company
	bytes    int
	accepted map[string]*recent // by company
	dropped  map[string]int     // by kind, since the last write

	// Used only by Run.
	open    map[string]*audit.AcceptedChunk // by company: the chunk to which further references are added
	written map[string]int                  // rows since the company's ring was last trimmed
	free    []*recent
}

// New returns a recorder.
func New(s Store, o Options) *Recorder {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Kept == nil {
		o.Kept = func(string, int) {}
	}
	if o.Dropped == nil {
		o.Dropped = func(string, int) {}
	}
	if o.Every <= 0 {
		o.Every = writeEvery
	}
	return &Recorder{
		store: s, o: o, seed: maphash.MakeSeed(), same: map[uint64]*waiting{}, of: map[string]int{}, accepted: map[string]*recent{},
		dropped: map[string]int{}, open: map[string]*audit.AcceptedChunk{}, written: map[string]int{},
	}
}

// Refused records a call that was refused or failed. It does not block.
func (r *Recorder) Refused(x Refused) {
	x.Body = x.Body[:min(len(x.Body), copied)]
	x.Response = x.Response[:min(len(x.Response), maxResponse)]
	x.Query, x.Path, x.Message = x.Query[:min(len(x.Query), maxQuery)], x.Path[:min(len(x.Path), maxPath)],
		x.Message[:min(len(x.Message), maxText)]
	digest, now := r.digest(&x), time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.same[digest]; w != nil {
		w.repeats++
		w.last, w.RequestID, w.Took = now, x.RequestID, x.Took
		w.Response = append(w.Response[:0], x.Response...)
		return
	}
	w := &waiting{Refused: x, first: now, last: now}
	if len(r.queue) >= queueCalls || r.bytes+w.size() > queueBytes || r.of[x.CompanyID] >= companyCalls {
		r.dropped[KindRefused]++
		return
	}
	w.Body, w.Response = append([]byte(nil), x.Body...), append([]byte(nil), x.Response...)
	r.queue, r.same[digest] = append(r.queue, w), w
	r.of[x.CompanyID]++
	r.bytes += w.size()
}

// digest returns a hash that is the same for identical calls with the same refusal.
func (r *Recorder) digest(x *Refused) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, part := range []string{x.CompanyID, x.KeyID, x.Method, x.Path, x.Query, x.Code, x.Message} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	_, _ = h.Write([]byte{byte(x.Status), byte(x.Status >> 8)})
	_, _ = h.Write(x.Body)
	return h.Sum64()
}

// Accepted records a reference to an accepted request. It does not block, and allocates nothing if the company already
// has references.
func (r *Recorder) Accepted(companyID string, a audit.AcceptedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.accepted[companyID]
	if c == nil {
		if len(r.accepted) >= companies {
			r.dropped[KindAccepted]++
			return
		}
		c = r.reuse()
		r.accepted[companyID] = c
	}
	if c.n == companyRecent {
		r.dropped[KindAccepted]++ // the oldest entry
	} else {
		c.n++
	}
	c.all[c.next] = a
	c.next = (c.next + 1) % companyRecent
}

// reuse returns an empty recent. The caller holds the lock.
func (r *Recorder) reuse() *recent {
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		c.n, c.next = 0, 0
		return c
	}
	return &recent{}
}

// take returns the entries of a recent, oldest first.
func (c *recent) take() []audit.AcceptedCall {
	all := make([]audit.AcceptedCall, 0, c.n)
	for i := range c.n {
		all = append(all, c.all[(c.next-c.n+i+companyRecent)%companyRecent])
	}
	return all
}

// Run writes entries until ctx ends, and then the remaining ones.
func (r *Recorder) Run(ctx context.Context) error {
	tick := time.NewTicker(r.o.Every)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			defer cancel()
			r.write(ctx, true)
			return nil
		case <-tick.C:
			r.write(ctx, n%acceptedEvery == 0)
		}
	}
}

// write stores the entries. Entries that the database refuses are lost and counted.
func (r *Recorder) write(ctx context.Context, accepted bool) {
	queue, came, dropped := r.drain(accepted)
	for what, n := range dropped {
		r.o.Dropped(what, n)
	}
	if len(queue) == 0 && len(came) == 0 {
		return
	}
	calls := make([]audit.APICall, len(queue))
	rows := map[string]int{}
	for i, w := range queue {
		calls[i] = callOf(w)
		rows[w.CompanyID]++
	}
	var chunks []audit.AcceptedChunk
	references := 0
	for company, all := range came {
		references += len(all)
		mine := r.extend(company, all)
		rows[company] += len(mine)
		chunks = append(chunks, mine...)
	}
	if err := r.store.Write(ctx, calls, chunks, r.full(rows)); err != nil {
		r.o.Log.WarnContext(ctx, "cannot keep calls of the interface", "error", err)
		r.o.Dropped(KindRefused, len(calls))
		r.o.Dropped(KindAccepted, references)
		return
	}
	r.o.Kept(KindRefused, len(calls))
	r.o.Kept(KindAccepted, references)
}

func (r *Recorder) drain(accepted bool) (queue []*waiting, came map[string][]audit.AcceptedCall, dropped map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	queue, dropped = r.queue, r.dropped
	r.queue, r.bytes, r.dropped = nil, 0, map[string]int{}
	clear(r.same)
	clear(r.of)
	if !accepted {
		return queue, nil, dropped
	}
	came = make(map[string][]audit.AcceptedCall, len(r.accepted))
	for company, c := range r.accepted {
		came[company] = c.take()
		if len(r.free) < 64 {
			r.free = append(r.free, c)
		}
	}
	clear(r.accepted)
	return queue, came, dropped
}

// callOf returns the stored form of a call, without its secrets.
func callOf(w *waiting) audit.APICall {
	c := audit.APICall{
		ID: carillon.NewID(w.last), CompanyID: w.CompanyID, At: w.last, Status: w.Status, Code: w.Code, Method: w.Method,
		Path: redact.Text(w.Path), KeyID: w.KeyID,
		RequestID: w.RequestID, Repeats: w.repeats, Took: w.Took, Message: redact.Text(w.Message),
		APICallDetail: audit.APICallDetail{
			Query: redact.Query(w.Query), Address: w.Address, Agent: short(w.Agent), ContentType: short(w.ContentType),
			Idempotency: short(w.Repeat), BodyRead: w.BodyRead,
		},
	}
	c.Body, c.BodyCut = redact.Body(w.Body, MaxBody)
	c.Response, c.ResponseCut = redact.Body(w.Response, maxResponse)
	return c
}

func short(s string) string { return redact.Text(s[:min(len(s), maxText)]) }

// extend adds references to a company's open chunk, and begins a new chunk when it is full. It returns the changed
// chunks.
func (r *Recorder) extend(company string, all []audit.AcceptedCall) (changed []audit.AcceptedChunk) {
	for len(all) > 0 {
		c := r.open[company]
		if c == nil || len(c.All) >= maxChunk {
			if c == nil && len(r.open) >= companies {
				clear(r.open) // all companies begin new chunks
			}
			c = &audit.AcceptedChunk{ID: carillon.NewID(all[0].At), CompanyID: company}
			r.open[company] = c
		}
		n := min(len(all), maxChunk-len(c.All))
		c.All = append(c.All, all[:n]...)
		all = all[n:]
		changed = append(changed, audit.AcceptedChunk{ID: c.ID, CompanyID: company, All: slices.Clip(c.All)})
	}
	return changed
}

// full returns the companies whose rings must be trimmed: those to which this node has not written before, and those
// with many rows from this node since their last trim.
func (r *Recorder) full(rows map[string]int) (trim []string) {
	if len(r.written)+len(rows) > companies*2 {
		clear(r.written)
	}
	for company, n := range rows {
		before, known := r.written[company]
		if r.written[company] = before + n; !known || before+n >= trimAfter {
			r.written[company] = 0
			trim = append(trim, company)
		}
	}
	return trim
}
