package meaning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/store/resources"
)

// The faults of a search besides those of a server.
const (
	Making  = "making"  // too few passages have vectors yet; Detail has the numbers
	Loading = "loading" // the vectors are being read into memory
	Busy    = "busy"    // too many questions of the company wait for servers
	Failed  = "failed"  // the vectors cannot be read; the log says why
)

const (
	nearest   = 50 // passages of a server
	maxAsked  = 1000
	enoughOf5 = 4 // fifths of a base's passages that must have vectors
)

// group are bases whose vectors are made in the same way, so that they are compared with the same vector of a question.
type group struct {
	server *Server
	prefix string
	bases  []resources.Embedding
}

// key identifies the server and its use.
func (g *group) key(companyID string) string {
	s := g.server
	return strings.Join([]string{companyID, s.BaseURL, s.Model, s.APIKey, g.prefix, g.bases[0].Server.Settings}, "\x00")
}

// Nearest implements knowledge.Meaning.
func (x *Vectors) Nearest(ctx context.Context, companyID string, bases []string, text string) (found knowledge.Nearest) {
	all, err := x.o.Store.Listed(ctx, companyID)
	if err != nil {
		x.log(ctx, companyID, err)
		x.o.Observer.Sought(Failed)
		found.Fault = Failed
		return found
	}
	within, cancel := context.WithTimeout(ctx, x.o.Limit)
	defer cancel()
	report := func(e *resources.Embedding, f *Fault) {
		found.Fault, found.Detail, found.Base = f.Code, f.Detail, e.KnowledgeID
		x.o.Observer.Sought(f.Code)
	}
	var groups []*group
	for i := range all {
		e := &all[i]
		if !slices.Contains(bases, e.KnowledgeID) {
			continue
		}
		if e.Made*5 < e.Total*enoughOf5 || e.Made == 0 {
			f := &Fault{Code: e.Fault, Detail: e.Detail}
			if f.Code == "" {
				f = &Fault{Code: Making, Detail: fmt.Sprintf("%d / %d", e.Made, e.Total)}
			}
			report(e, f)
			continue
		}
		groups = join(groups, e)
	}
	results := make(chan func(), len(groups))
	for _, g := range groups {
		go func() {
			near, err := x.near(within, companyID, g, text)
			results <- func() {
				var f *Fault
				switch {
				case err == nil:
					found.Used = true
					found.Passages = append(found.Passages, near...)
					x.o.Observer.Sought("ok")
				case errors.As(err, &f):
					report(&g.bases[0], f)
				case errors.Is(within.Err(), context.DeadlineExceeded):
					report(&g.bases[0], &Fault{Code: Loading})
				case ctx.Err() == nil:
					report(&g.bases[0], &Fault{Code: Failed})
					x.log(ctx, companyID, err)
				}
			}
		}()
	}
	for range groups {
		(<-results)()
	}
	slices.SortStableFunc(found.Passages, func(a, b knowledge.Near) int { return cmp.Compare(a.Rank, b.Rank) })
	return found
}

func (x *Vectors) log(ctx context.Context, companyID string, err error) {
	if ctx.Err() == nil {
		x.o.Log.WarnContext(ctx, "cannot search by meaning", "company", companyID, "error", err)
	}
}

// join adds a base to the group with the same server, or to a new one.
func join(groups []*group, e *resources.Embedding) []*group {
	server := serverOf(e)
	for _, g := range groups {
		if *g.server == *server && g.prefix == e.Server.QuestionPrefix && g.bases[0].Server.Settings == e.Server.Settings {
			g.bases = append(g.bases, *e)
			return groups
		}
	}
	return append(groups, &group{server, e.Server.QuestionPrefix, []resources.Embedding{*e}})
}

func serverOf(e *resources.Embedding) *Server {
	return &Server{e.Server.BaseURL, e.Server.Model, e.APIKey}
}

// near returns the passages of a group that are nearest to a question.
func (x *Vectors) near(ctx context.Context, companyID string, g *group, text string) ([]knowledge.Near, error) {
	ask, err := x.ask(companyID, g, text)
	if err != nil {
		return nil, err
	}
	type loaded struct {
		m   *matrix
		err error
	}
	matrices := make([]chan loaded, len(g.bases))
	for i := range g.bases { // while the server is asked
		matrices[i] = make(chan loaded, 1)
		go func() {
			m, err := x.matrix(ctx, companyID, &g.bases[i])
			matrices[i] <- loaded{m, err}
		}()
	}
	q, err := ask(ctx)
	if err != nil {
		return nil, err
	}
	var all []knowledge.Near
	var s spread
	for i := range g.bases {
		l := <-matrices[i]
		switch {
		case l.err != nil:
			return nil, l.err
		case len(l.m.passages) == 0:
			continue
		case l.m.dimensions != len(q.parts):
			x.otherModel(ctx, companyID, &g.bases[i])
			return nil, invalid("%d dimensions instead of %d", len(q.parts), l.m.dimensions)
		}
		similarities := l.m.compare(q)
		s.add(similarities)
		for _, row := range best(similarities, nearest) {
			all = append(all, knowledge.Near{
				Knowledge: g.bases[i].KnowledgeID, Passage: int(l.m.passages[row]), Hash: l.m.hashes[row],
				Similarity: float64(similarities[row]),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b knowledge.Near) int { return cmp.Compare(b.Similarity, a.Similarity) })
	all = all[:min(len(all), nearest)]
	for i := range all {
		near := &all[i]
		near.Rank, near.Standout = i, s.standout(near.Similarity)
		near.StandsOut = knowledge.StandsOut(near.Standout, int(s.n))
	}
	return all, nil
}

// otherModel makes a base due whose server answers with another model than before.
func (x *Vectors) otherModel(ctx context.Context, companyID string, e *resources.Embedding) {
	k := resources.VectorKey{CompanyID: companyID, ID: e.KnowledgeID}
	if err := x.o.Store.AskOnce(ctx, k, x.o.Now()); err != nil {
		x.log(ctx, companyID, err)
		return
	}
	x.Wake()
}

// matrix returns the vectors of a base.
func (x *Vectors) matrix(ctx context.Context, companyID string, e *resources.Embedding) (*matrix, error) {
	return x.matrices.get(ctx, companyID, e.KnowledgeID, e.Vectors, func(ctx context.Context) (*matrix, error) {
		place, err := x.loads.Wait(ctx, share.Holder{Company: companyID})
		if err != nil {
			return nil, err
		}
		defer place.Release()
		m := &matrix{dimensions: e.Dimensions}
		k := resources.VectorKey{CompanyID: companyID, ID: e.KnowledgeID}
		return m, x.o.Store.Each(ctx, k, e.Server.Settings, m.add)
	})
}

// ask returns a function for the vector of a question, which is in memory or comes from the server. Errors: *Fault, if the
// server failed a moment ago or has too many questions. Call the function once.
func (x *Vectors) ask(companyID string, g *group, text string) (func(ctx context.Context) (question, error), error) {
	server := g.key(companyID)
	text = strings.Join(strings.Fields(text), " ")
	digest := sha256.Sum256([]byte(server + "\x00" + g.bases[0].Vectors + "\x00" + text))
	key := string(digest[:])
	if q, ok := x.questions.Peek(key); ok {
		return func(context.Context) (question, error) { return q, nil }, nil
	}
	if f := x.circuits.open(server, x.o.Now()); f != nil {
		return nil, f
	}
	place, ok := x.places.Try(share.Holder{Company: companyID})
	if !ok {
		x.circuits.abandon(server)
		return nil, &Fault{Code: Busy}
	}
	return func(ctx context.Context) (question, error) {
		defer place.Release()
		clock := x.questions.Clock()
		q, err := x.embedded(ctx, companyID, g, text)
		if err == nil {
			x.questions.Put(key, q, companyID, clock)
		}
		return q, err
	}, nil
}

// embedded asks the server of a group for the vector of a question.
func (x *Vectors) embedded(ctx context.Context, companyID string, g *group, text string) (q question, err error) {
	begun, input := time.Now(), []rune(text)
	vectors, err := Embed(ctx, x.o.Client, g.server, []string{g.prefix + string(input[:min(len(input), maxAsked)])})
	var fault *Fault
	if err != nil && !errors.As(err, &fault) { // the person is gone
		x.circuits.abandon(g.key(companyID))
		return q, err
	}
	if fault == nil && g.bases[0].Dimensions > 0 && len(vectors[0]) != g.bases[0].Dimensions {
		fault = invalid("%d dimensions instead of %d", len(vectors[0]), g.bases[0].Dimensions)
		x.otherModel(ctx, companyID, &g.bases[0])
	}
	x.report(ctx, companyID, g, fault, time.Since(begun))
	if fault != nil {
		return q, fault
	}
	return unpack(pack(vectors[0]))
}

// report records the result of a question to a server, and logs when it begins to fail and to work again.
func (x *Vectors) report(ctx context.Context, companyID string, g *group, fault *Fault, took time.Duration) {
	result := "ok"
	if fault != nil {
		result = fault.Code
	}
	x.o.Observer.Asked("question", result, took)
	if !x.circuits.report(g.key(companyID), fault, x.o.Now()) {
		return
	}
	if fault == nil {
		x.o.Log.InfoContext(ctx, "the embeddings server answers again", "company", companyID, "knowledge", g.bases[0].KnowledgeID)
		return
	}
	x.o.Log.WarnContext(ctx, "search by words alone: the embeddings server fails", "company", companyID,
		"knowledge", g.bases[0].KnowledgeID, "fault", fault.Code, "detail", fault.Detail)
}

// Failing returns the current fault of this node's questions to the server of a base, and its beginning; nil if there is
// none.
func (x *Vectors) Failing(ctx context.Context, companyID, id string) (*Fault, time.Time, error) {
	all, err := x.o.Store.Listed(ctx, companyID)
	for i := range all {
		if all[i].KnowledgeID == id {
			f, since := x.circuits.failing(join(nil, &all[i])[0].key(companyID))
			return f, since, err
		}
	}
	return nil, time.Time{}, err
}

const (
	tryTime  = 10 * time.Second
	tryInput = "Hello"
)

// Try asks a server for one vector, and returns its dimensions and the time that it took. Errors: *Fault.
func (x *Vectors) Try(ctx context.Context, e *knowledge.Embeddings) (dimensions int, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	begun := time.Now()
	all, err := Embed(ctx, x.o.Client, &Server{e.BaseURL, e.Model, e.APIKey}, []string{e.QuestionPrefix + tryInput})
	if err != nil {
		return 0, time.Since(begun), err
	}
	return len(all[0]), time.Since(begun), nil
}

var _ knowledge.Meaning = (*Vectors)(nil)

// inputOf returns the text of a passage that the server gets.
func inputOf(e *resources.Embedding, p *resource.Passage) string {
	return e.Server.PassagePrefix + knowledge.Input(p)
}
