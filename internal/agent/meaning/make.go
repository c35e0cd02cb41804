package meaning

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"carillon/internal/base/resource"
	"carillon/internal/store/resources"
)

const (
	poll       = 5 * time.Second
	lease      = 2 * time.Minute
	maxDue     = 50
	every      = 24 * time.Hour // a server may have switched to another model
	later      = time.Hour      // for a company that is suspended
	firstRetry = 5 * time.Second
	longRetry  = time.Hour
	sameModel  = 0.97 // minimum similarity of two vectors of the same text
)

// TooLarge is the fault of a base whose vectors, with those of the company's other bases, exceed the memory of a company;
// Detail has the bytes.
const TooLarge = "too_large"

// Wake starts work that is due now.
func (x *Vectors) Wake() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Run makes vectors until ctx ends.
func (x *Vectors) Run(ctx context.Context) error {
	defer x.crew.Wait()
	if x.o.Alone {
		if err := x.o.Store.ReleaseAll(ctx); err != nil && ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot release vectors", "error", err)
		}
	}
	for ctx.Err() == nil {
		if err := x.crew.Begin(ctx); err != nil && ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot find vectors to make", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-x.wake:
		case <-time.After(poll):
		}
	}
	return nil
}

// Make makes the vectors of a base now, unless another node does. Errors: *Fault, of the server.
func (x *Vectors) Make(ctx context.Context, k resources.VectorKey) error {
	if err := x.o.Store.Ask(ctx, k, x.o.Now()); err != nil {
		return err
	}
	return x.attempt(ctx, k)
}

// errLost means that the base has changed, or that another node has taken it over.
var errLost = errors.New("another node makes the vectors, or the base has changed")

// work makes the vectors of a base that is due. It reports whether another may be due.
func (x *Vectors) work(ctx context.Context, k resources.VectorKey) bool {
	err := x.attempt(ctx, k)
	var f *Fault
	if err == nil || errors.As(err, &f) {
		return true
	}
	if ctx.Err() == nil {
		x.o.Log.WarnContext(ctx, "cannot make vectors", "company", k.CompanyID, "knowledge", k.ID, "error", err)
	}
	return false
}

// attempt claims a base, makes its vectors and stores the outcome. Errors: *Fault, which is stored too.
func (x *Vectors) attempt(ctx context.Context, k resources.VectorKey) error {
	now := x.o.Now()
	c, err := x.o.Store.Claim(ctx, k, x.o.Node, now, now.Add(lease))
	if err != nil || c == nil {
		return err
	}
	m := &making{Vectors: x, claim: c}
	err = m.claimed(ctx)
	var f *Fault
	switch {
	case err == nil && m.ended:
		return nil
	case err != nil && !errors.As(err, &f):
		return m.giveUp(ctx, err)
	}
	now = x.o.Now()
	due := now.Add(every)
	if f != nil {
		due = now.Add(max(retryAfter(c.Failures), f.after))
		m.outcome.Fault, m.outcome.Detail = f.Code, f.Detail
		if c.Failures == 0 {
			x.o.Log.WarnContext(ctx, "cannot make vectors: the embeddings server fails", "company", k.CompanyID, "knowledge", k.ID,
				"fault", f.Code, "detail", f.Detail)
		}
	}
	if finished := x.o.Store.Finish(ctx, c, &m.outcome, now, due); finished != nil {
		return finished
	}
	return err
}

// giveUp releases a base whose attempt has no outcome. It returns the cause, unless that is errLost.
func (m *making) giveUp(ctx context.Context, cause error) error {
	r := resources.VectorRelease{Due: m.o.Now(), Changed: m.outcome.Changed}
	switch {
	case errors.Is(cause, errLost):
		cause = nil
	case ctx.Err() == nil:
		r.Due, r.Failed = r.Due.Add(retryAfter(m.claim.Failures)), true
	}
	return errors.Join(cause, m.o.Store.Release(context.WithoutCancel(ctx), m.claim, r))
}

func retryAfter(failures int64) time.Duration { return min(longRetry, firstRetry<<min(failures, 12)) }

// making is the work on a base that this node has claimed.
type making struct {
	*Vectors
	claim   *resources.VectorClaim
	e       *resources.Embedding
	batch   int // inputs of a request
	outcome resources.Outcome
	ended   bool // without an outcome
}

func (m *making) claimed(ctx context.Context) (err error) {
	if m.e, err = m.o.Store.Find(ctx, m.claim.VectorKey); err != nil {
		return err
	}
	if m.e == nil {
		m.ended = true
		return m.remove(ctx)
	}
	if m.o.Suspended != nil {
		suspended, err := m.o.Suspended(ctx, m.claim.CompanyID)
		if err != nil {
			return err
		}
		if suspended {
			m.ended = true
			return m.o.Store.Release(ctx, m.claim, resources.VectorRelease{Due: m.o.Now().Add(later)})
		}
	}
	return m.refresh(ctx)
}

// remove removes all vectors of a base that no longer names a server.
func (m *making) remove(ctx context.Context) error {
	if err := m.removeOthers(ctx, ""); err != nil {
		return err
	}
	if err := m.o.Store.Forget(ctx, m.claim); err != nil {
		return err
	}
	return m.o.Store.Release(ctx, m.claim, resources.VectorRelease{Due: m.o.Now()}) // the base has got a server in the meantime
}

func (m *making) removeOthers(ctx context.Context, model string) error {
	for n := int64(resources.MaxRows); n == resources.MaxRows; {
		var err error
		if n, err = m.o.Store.RemoveOthers(ctx, m.claim.VectorKey, model); err != nil {
			return err
		}
		m.outcome.Changed = m.outcome.Changed || n > 0
	}
	return nil
}

// refresh makes the missing vectors of a base, and removes those that no passage needs.
func (m *making) refresh(ctx context.Context) error {
	model := m.e.Server.Settings
	hashes, err := m.o.Store.Hashes(ctx, m.claim.VectorKey)
	if err != nil {
		return err
	}
	kept, err := m.o.Store.Kept(ctx, m.claim.VectorKey, model)
	if err != nil {
		return err
	}
	have, wanted := setOf(kept), setOf(hashes)
	m.batch = maxBatch
	m.outcome.Total, m.outcome.Dimensions = len(hashes), m.e.Dimensions
	m.count(hashes, have)
	if len(hashes) > 0 {
		if have, err = m.probe(ctx, hashes, have); err != nil {
			return err
		}
	}
	if err := m.add(ctx, hashes, have); err != nil {
		return err
	}
	var stale []string
	for _, h := range kept {
		if !wanted[h] {
			stale = append(stale, h)
		}
	}
	for part := range slices.Chunk(stale, resources.MaxRows) {
		if err := m.o.Store.Remove(ctx, m.claim.VectorKey, model, part); err != nil {
			return err
		}
		m.outcome.Changed = true
	}
	return m.removeOthers(ctx, model)
}

func setOf(all []string) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, s := range all {
		set[s] = true
	}
	return set
}

// count counts the passages that have vectors.
func (m *making) count(hashes []string, have map[string]bool) {
	m.outcome.Made = 0
	for _, h := range hashes {
		if have[h] {
			m.outcome.Made++
		}
	}
}

// probe asks the server for the vector of one passage. If it differs from the stored one, the server has another model than
// before, and all stored vectors are removed.
func (m *making) probe(ctx context.Context, hashes []string, have map[string]bool) (map[string]bool, error) {
	at := max(0, slices.IndexFunc(hashes, func(h string) bool { return have[h] }))
	passages, err := m.passages(ctx, []int{at})
	if err != nil {
		return nil, err
	}
	p, ok := passages[at]
	if !ok {
		return nil, errLost
	}
	all, err := m.embed(ctx, []resource.Passage{p})
	if err != nil {
		return nil, err
	}
	m.outcome.Dimensions = len(all[0])
	if err := m.fits(ctx, len(hashes)); err != nil {
		return nil, err
	}
	if !have[p.Hash] {
		return have, nil
	}
	stored, err := m.o.Store.Vector(ctx, m.claim.VectorKey, m.e.Server.Settings, p.Hash)
	if err != nil {
		return nil, err
	}
	old, err := unpack(stored)
	if err != nil {
		return nil, err
	}
	now, err := unpack(pack(all[0]))
	if err != nil || len(old.parts) == len(now.parts) && old.similarity(now) >= sameModel {
		return have, err
	}
	m.outcome.Changed = true
	if err := m.o.Store.Reset(ctx, m.claim); err != nil {
		return nil, err
	}
	return map[string]bool{}, m.removeOthers(ctx, "")
}

// fits refuses a base whose vectors, with those of the company's other bases, exceed the memory of a company.
func (m *making) fits(ctx context.Context, passages int) error {
	size := passages * (m.outcome.Dimensions + perPassage)
	others, err := m.o.Store.Listed(ctx, m.claim.CompanyID)
	if err != nil {
		return err
	}
	for i := range others {
		if e := &others[i]; e.KnowledgeID != m.claim.ID {
			size += e.Made * (e.Dimensions + perPassage)
		}
	}
	if size > maxCompany {
		return &Fault{Code: TooLarge, Detail: strconv.Itoa(size) + " / " + strconv.Itoa(maxCompany)}
	}
	return nil
}

// add makes the vectors of passages that have none.
func (m *making) add(ctx context.Context, hashes []string, have map[string]bool) error {
	var missing []int
	planned := map[string]bool{}
	for n, h := range hashes {
		if h != "" && !have[h] && !planned[h] {
			planned[h] = true
			missing = append(missing, n)
		}
	}
	for m.count(hashes, have); len(missing) > 0; {
		numbers := missing[:min(len(missing), m.batch)]
		found, err := m.passages(ctx, numbers)
		if err != nil {
			return err
		}
		passages := make([]resource.Passage, 0, len(found))
		for _, n := range numbers {
			if p, ok := found[n]; ok {
				passages = append(passages, p)
			}
		}
		if len(passages) == 0 {
			return errLost
		}
		vectors, err := m.embed(ctx, passages)
		if m.halved(err, len(numbers)) {
			continue
		}
		if err != nil {
			return err
		}
		if len(vectors[0]) != m.outcome.Dimensions {
			return invalid("vectors of %d and of %d dimensions", m.outcome.Dimensions, len(vectors[0]))
		}
		rows := make([]resources.Vector, len(vectors))
		for i, v := range vectors {
			rows[i] = resources.Vector{Hash: passages[i].Hash, Bytes: pack(v)}
			have[passages[i].Hash] = true
		}
		if err := m.o.Store.Add(ctx, m.claim.VectorKey, m.e.Server.Settings, rows); err != nil {
			return err
		}
		m.outcome.Changed = true
		m.o.Observer.Made(len(rows))
		m.count(hashes, have)
		if err := m.save(ctx); err != nil {
			return err
		}
		missing = missing[len(numbers):]
	}
	return nil
}

// passages returns the passages of the base by number.
func (m *making) passages(ctx context.Context, numbers []int) (map[int]resource.Passage, error) {
	all, err := m.o.Resources.Passages(ctx, m.claim.CompanyID, map[string][]int{m.claim.ID: numbers})
	return all[m.claim.ID], err
}

// halved reports whether a request is repeated with half of its texts, because the server accepts fewer at a time.
func (m *making) halved(err error, n int) bool {
	var f *Fault
	if !errors.As(err, &f) || n == 1 {
		return false
	}
	switch f.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		m.batch = (n + 1) / 2
		return true
	}
	return false
}

// save saves the progress and renews the lease.
func (m *making) save(ctx context.Context) error {
	o := &m.outcome
	ok, err := m.o.Store.Progress(ctx, m.claim, o.Made, o.Total, o.Dimensions, m.o.Now().Add(lease))
	if err == nil && !ok {
		err = errLost
	}
	return err
}

func (m *making) embed(ctx context.Context, passages []resource.Passage) ([][]float32, error) {
	inputs := make([]string, len(passages))
	for i := range passages {
		inputs[i] = inputOf(m.e, &passages[i])
	}
	begun := time.Now()
	all, err := Embed(ctx, m.o.Client, serverOf(m.e), inputs)
	result := "ok"
	var f *Fault
	switch {
	case errors.As(err, &f):
		result = f.Code
	case err != nil:
		return nil, err
	}
	m.o.Observer.Asked("passages", result, time.Since(begun))
	return all, err
}
