// Package meaning finds passages by their meaning, with vectors of an embeddings server that a base of knowledge names.
//
//	base, article changed ─▶ due ─▶ claimed by one node ─▶ passages without a vector, in batches ─▶ server ─▶ stored
//	question ─▶ server, within 300 ms ─▶ compared with the vectors in memory ─▶ fused with the search by words
//
// A vector is stored by the model and the digest of its passage's text, so that a change of a base makes only what is
// missing. A question is not asked of a server that failed a moment ago: the search then goes by words alone, and says so.
package meaning

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"carillon/internal/base/cache"
	"carillon/internal/base/egress"
	"carillon/internal/base/share"
	"carillon/internal/store/resources"
)

const (
	questionTime = 300 * time.Millisecond
	requestTime  = 60 * time.Second // for a batch of passages
	maxQuestions = 8 << 20          // bytes of cached vectors of questions
)

// Client sends requests to addresses that companies enter. *egress.Client implements it.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

// NewClient returns the client for embeddings servers. A redirect is a fault: the key belongs to the named server.
func NewClient(o egress.Options) *egress.Client {
	o.Timeout, o.MaxBody, o.Redirects, o.PerHost = requestTime, bodyLimit(maxBatch), -1, keptConnections
	return egress.New(o)
}

const keptConnections = 8

// Observer counts what happens. All methods must be safe for concurrent use.
type Observer interface {
	// Asked reports a request to a server, for a question or for passages. result is ok or a fault.
	Asked(purpose, result string, took time.Duration)
	// Sought reports a search of bases with a server: by meaning too (ok), or by words alone for a fault.
	Sought(result string)
	// Made reports passages that got vectors.
	Made(n int)
}

// Options configure Vectors. Store, Resources, Client and Log are required.
type Options struct {
	Store     *resources.Vectors
	Resources *resources.Store
	Client    Client
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Shares    *share.Set
	Observer  Observer
	Node      string           // identifies this process
	Alone     bool             // no other process uses the database
	Limit     time.Duration    // for a question; 0 means 300 ms
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger
}

// Vectors makes the vectors of passages in the background, and compares them with questions.
type Vectors struct {
	o         Options
	crew      share.Crew[resources.VectorKey]
	wake      chan struct{}
	places    *share.Share // requests for questions
	loads     *share.Share // matrices
	questions *cache.Cache[question]
	matrices  *shelf
	circuits  *circuits
}

// New returns Vectors. Run starts the work in the background.
func New(o Options) *Vectors {
	o.Limit = cmp.Or(o.Limit, questionTime)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	x := &Vectors{
		o: o, wake: make(chan struct{}, 1), places: o.Shares.Of(share.QuestionVectors),
		loads: o.Shares.Of(share.VectorLoads), matrices: newShelf(maxMatrices, maxCompany),
		questions: cache.Sized(maxQuestions, question.size, o.Limit), circuits: newCircuits(),
	}
	x.crew = share.Crew[resources.VectorKey]{
		Places: o.Shares.Of(share.PassageVectors), Page: maxDue,
		Due: func(ctx context.Context, without []string) ([]resources.VectorKey, error) {
			return o.Store.Due(ctx, o.Now(), maxDue, without)
		},
		Key:     func(k resources.VectorKey) string { return k.CompanyID + "/" + k.ID },
		Company: func(k resources.VectorKey) string { return k.CompanyID },
		Work:    x.work, Wake: x.Wake,
	}
	return x
}

type unobserved struct{}

func (unobserved) Asked(string, string, time.Duration) {}
func (unobserved) Sought(string)                       {}
func (unobserved) Made(int)                            {}
