package trial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/resources"
)

// Draft is a base of knowledge with unsaved changes.
type Draft struct{ Base *knowledge.Base }

// ReadDraft reads a base in a request body. Errors: validation_failed.
func ReadDraft(o *jsonbody.Object) (*Draft, error) {
	x, err := config.ResourceOf(o, knowledge.Kind())
	if err != nil {
		return nil, err
	}
	b, _ := x.(*knowledge.Base)
	return &Draft{b}, nil
}

// With returns a runner whose agent answers from the draft instead of the stored base. It searches a copy of the agent's
// knowledge in a temporary database, which end removes. A nil draft changes nothing.
func (x Runner) With(ctx context.Context, companyID string, a *agent.Agent, draft *Draft) (runner Runner, end func(), err error) {
	if draft == nil {
		return x, func() {}, nil
	}
	if x.Thinking == nil {
		return x, nil, carillon.InConflict("Drafts of knowledge cannot be tested here")
	}
	dir, err := os.MkdirTemp("", "carillon-tests-")
	if err != nil {
		return x, nil, fmt.Errorf("copy the knowledge: %w", err)
	}
	remove := func() { _ = os.RemoveAll(dir) }
	copied, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		remove()
		return x, nil, fmt.Errorf("copy the knowledge: %w", err)
	}
	end = func() {
		_ = copied.Close()
		remove()
	}
	if err := x.copy(ctx, companyID, a, draft, copied); err != nil {
		end()
		return x, nil, err
	}
	search := knowledge.NewSearch(copied.Resources, slog.New(slog.DiscardHandler))
	if x.Vectors != nil {
		vectors := x.Vectors(copied)
		if err := x.embed(ctx, companyID, copied, vectors); err != nil {
			end()
			return x, nil, err
		}
		search = search.With(vectors)
	}
	x.Thinker = x.Thinking(search)
	return x, end, nil
}

// embedTime bounds the making of the vectors of a draft. Until then the rest is searched by words.
const embedTime = 20 * time.Second

// embed copies the vectors of the copied bases, and makes those of changed passages.
func (x Runner) embed(ctx context.Context, companyID string, to *store.Store, vectors *meaning.Vectors) error {
	all, err := to.Vectors.Listed(ctx, companyID)
	if err != nil {
		return err
	}
	for i := range all {
		k := resources.VectorKey{CompanyID: companyID, ID: all[i].KnowledgeID}
		if err := x.copyVectors(ctx, k, all[i].Server.Settings, to); err != nil {
			return fmt.Errorf("copy vectors: %w", err)
		}
		within, cancel := context.WithTimeout(ctx, embedTime)
		err := vectors.Make(within, k)
		cancel()
		var f *meaning.Fault
		if err != nil && !errors.As(err, &f) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return nil
}

// copyBatch is the number of vectors copied at a time.
const copyBatch = 500

func (x Runner) copyVectors(ctx context.Context, k resources.VectorKey, model string, to *store.Store) error {
	var some []resources.Vector
	flush := func() error {
		defer func() { some = nil }()
		return to.Vectors.Add(ctx, k, model, some)
	}
	if err := x.Store.Vectors.Each(ctx, k, model, func(_ int, hash string, vector []byte) error {
		some = append(some, resources.Vector{Hash: hash, Bytes: slices.Clone(vector)})
		if len(some) < copyBatch {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	return flush()
}

// copy stores the bases of the agent in another database.
func (x Runner) copy(ctx context.Context, companyID string, a *agent.Agent, draft *Draft, to *store.Store) error {
	company, err := x.Store.Accounts.Company(ctx, companyID)
	if err != nil {
		return err
	}
	if err := to.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, company, time.Now())
	}); err != nil {
		return fmt.Errorf("copy the knowledge: %w", err)
	}
	for _, id := range a.Knowledge {
		found, err := x.Store.Resources.Resource(ctx, companyID, knowledge.Kind(), id)
		absent := carillon.IsCode(err, carillon.NotFound)
		if err != nil && !absent {
			return err
		}
		b, _ := found.(*knowledge.Base)
		if id == draft.Base.ID {
			if !absent {
				resource.KeepSecrets(draft.Base, found)
			}
			b = draft.Base
		}
		if b == nil {
			continue
		}
		if _, err := to.Resources.PutResource(ctx, companyID, knowledge.Kind(), b); err != nil {
			return err
		}
	}
	return nil
}
