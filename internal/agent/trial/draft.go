package trial

import (
	"context"
	"fmt"
	"os"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
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
	x.Thinker = x.Thinking(copied.Resources)
	return x, end, nil
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
		b := draft.Base
		if id != b.ID {
			found, err := x.Store.Resources.Resource(ctx, companyID, knowledge.Kind(), id)
			if carillon.IsCode(err, carillon.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			b, _ = found.(*knowledge.Base)
		}
		if _, err := to.Resources.PutResource(ctx, companyID, knowledge.Kind(), b); err != nil {
			return err
		}
	}
	return nil
}
