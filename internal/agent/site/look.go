package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/url"
	"time"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/egress"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/resources"
	"carillon/internal/store/sites"
)

const (
	poll      = 5 * time.Second
	lease     = 2 * time.Minute
	saveEvery = 3 * time.Second
	lookTime  = 2 * time.Hour
	every     = 24 * time.Hour
	spread    = time.Hour // over which the looks of a day are spread
	later     = time.Hour // for a company that is suspended
	pause     = time.Second
	maxDue    = 50 // due sites that are read from the database at a time
)

// Options configure Looks. Store, Client and Log are required.
type Options struct {
	Store     *store.Store
	Client    *egress.Client // made by NewClient
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Shares    *share.Set
	Node      string        // identifies this process
	Alone     bool          // no other process uses the database
	Pause     time.Duration // between requests; 0 means a second
	Looked    func()        // called after each look; may be nil
	Log       *slog.Logger
}

// Looks reads sites in the background.
type Looks struct {
	o    Options
	crew share.Crew[sites.Key]
	wake chan struct{}
}

// New returns Looks. Run starts the work.
func New(o Options) *Looks {
	o.Pause = cmp.Or(o.Pause, pause)
	x := &Looks{o: o, wake: make(chan struct{}, 1)}
	x.crew = share.Crew[sites.Key]{
		Places: o.Shares.Of(share.Sites), Page: maxDue,
		Due: func(ctx context.Context, without []string) ([]sites.Key, error) {
			return o.Store.Sites.Due(ctx, time.Now(), maxDue, without)
		},
		Key:     func(k sites.Key) string { return k.CompanyID + "/" + k.ID },
		Company: func(k sites.Key) string { return k.CompanyID },
		Work:    x.look, Wake: x.Wake,
	}
	return x
}

// Wake starts looks that are due now.
func (x *Looks) Wake() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Run reads sites until ctx ends.
func (x *Looks) Run(ctx context.Context) error {
	defer x.crew.Wait()
	if x.o.Alone {
		if err := x.o.Store.Sites.ReleaseAll(ctx); err != nil && ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot release sites", "error", err)
		}
	}
	for ctx.Err() == nil {
		if err := x.crew.Begin(ctx); err != nil && ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot find sites to read", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-x.wake:
		case <-time.After(poll):
		}
	}
	return nil
}

// errLost means that another node has taken the site over.
var errLost = errors.New("another node reads the site")

// look reads a site that is due. It reports whether another may be due.
func (x *Looks) look(ctx context.Context, k sites.Key) bool {
	if x.o.Looked != nil {
		defer x.o.Looked()
	}
	now := time.Now()
	text, whole, ok, err := x.o.Store.Sites.Claim(ctx, k, x.o.Node, now, now.Add(lease))
	if err == nil && ok {
		err = x.claimed(ctx, k, text, whole)
	}
	switch {
	case err == nil:
		return true
	case ctx.Err() != nil:
		err = x.o.Store.Sites.Release(context.WithoutCancel(ctx), k, x.o.Node, time.Now())
	case errors.Is(err, errLost):
		return true
	default:
		x.o.Log.WarnContext(ctx, "cannot read a site", "site", k.ID, "error", err)
		err = x.o.Store.Sites.Release(ctx, k, x.o.Node, time.Now().Add(later))
	}
	if err != nil {
		x.o.Log.WarnContext(ctx, "cannot release a site", "site", k.ID, "error", err)
	}
	return false
}

// claimed reads a site that this node has claimed, and stores the result.
func (x *Looks) claimed(ctx context.Context, k sites.Key, text string, whole bool) error {
	if x.o.Suspended != nil {
		suspended, err := x.o.Suspended(ctx, k.CompanyID)
		if err != nil {
			return err
		}
		if suspended {
			return x.o.Store.Sites.Release(ctx, k, x.o.Node, time.Now().Add(later))
		}
	}
	stored, err := x.o.Store.Resources.Resource(ctx, k.CompanyID, Kind(), k.ID)
	if err != nil {
		if carillon.IsCode(err, carillon.NotFound) {
			return errLost // removed meanwhile, and its state with it
		}
		return err
	}
	s, ok := stored.(*Site)
	if !ok {
		return fmt.Errorf("site %s is a %T", k.ID, stored)
	}
	var m memory
	if text != "" {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("read pages: %w", err)
		}
	}
	c, err := x.crawlOf(k, s, m, whole)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err = c.run(within)
	if err != nil && errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		c.stopped, err = true, nil
		c.trim()
	}
	return x.finish(ctx, k, s, c, err)
}

func (x *Looks) crawlOf(k sites.Key, s *Site, m memory, whole bool) (*crawl, error) {
	start, err := url.Parse(s.Address)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	c := &crawl{
		client: x.o.Client, site: s, start: start, pause: x.o.Pause, whole: whole, known: map[string]record{}, common: map[string]bool{},
	}
	for _, r := range m.Pages {
		c.known[r.URL] = r
	}
	for _, key := range m.Common {
		c.common[key] = true
	}
	var saved time.Time
	c.report = func(ctx context.Context, done, found int) error {
		if now := time.Now(); now.Sub(saved) > saveEvery {
			saved = now
			ok, err := x.o.Store.Sites.Progress(ctx, k, x.o.Node, done, found, now.Add(lease))
			if err == nil && !ok {
				err = errLost
			}
			return err
		}
		return nil
	}
	return c, nil
}

// finish stores the result of a look: in one transaction with the articles if it changes any.
func (x *Looks) finish(ctx context.Context, k sites.Key, s *Site, c *crawl, err error) error {
	now := time.Now()
	l := &sites.Look{ID: carillon.NewID(now), At: now, Pages: c.done, Changes: "[]"}
	due := now.Add(every + offset(k.ID))
	if err == nil {
		err = c.shrunk()
	}
	if err == nil && len(c.fresh)+len(c.same) == 0 {
		err = &faultError{NoPages, ""}
	}
	if f, ok := errors.AsType[*faultError](err); ok {
		l.Fault, l.Detail = f.fault, carillon.Shorten(f.detail)
		return lost(x.o.Store.Sites.FinishAlone(ctx, k, x.o.Node, l, "", due))
	}
	if err != nil {
		return err
	}
	if c.stopped {
		l.Fault = Interrupted
	}
	if c.idle() {
		text, err := json.Marshal(c.memory())
		if err != nil {
			return fmt.Errorf("write pages: %w", err)
		}
		return lost(x.o.Store.Sites.FinishAlone(ctx, k, x.o.Node, l, string(text), due))
	}
	var pages string
	edit := func(stored resource.Resource) error {
		base, ok := stored.(*knowledge.Base)
		if !ok {
			return errors.New("knowledge has another type")
		}
		o := c.apply(base)
		l.Added, l.Changed, l.Removed = o.count(Added), o.count(Changed), o.count(Removed)
		l.Kept = o.count(Kept, KeptGone, LeftOut)
		text, err := json.Marshal(c.memory())
		if err != nil {
			return fmt.Errorf("write pages: %w", err)
		}
		pages = string(text)
		text, err = json.Marshal(o.changes)
		if l.Changes = string(text); o.changes == nil {
			l.Changes = "[]"
		}
		return err
	}
	finish := func(ctx context.Context, tx *db.Tx) error { return sites.Finish(ctx, tx, k, x.o.Node, l, pages, due) }
	err = resources.Edit(ctx, x.o.Store.Resources, k.CompanyID, knowledge.Kind(), s.Knowledge, edit, finish)
	if full := new(carillon.Error); errors.As(err, &full) &&
		(full.Code == carillon.ValidationFailed || full.Code == carillon.LimitExceeded) {
		reason, _ := full.Details.Find("reason").(string)
		*l = sites.Look{ID: l.ID, At: now, Pages: c.done, Fault: Full, Changes: "[]"}
		l.Detail = carillon.Shorten(cmp.Or(reason, full.Message))
		err = x.o.Store.Sites.FinishAlone(ctx, k, x.o.Node, l, "", due)
	}
	return lost(err)
}

// lost converts the conflict of a look whose site another node reads now, or that is gone.
func lost(err error) error {
	if carillon.IsCode(err, carillon.Conflict) || carillon.IsCode(err, carillon.NotFound) {
		return errLost
	}
	return err
}

// offset spreads the looks of a day.
func offset(id string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return time.Duration(h.Sum32()) * time.Second % spread
}
