package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/settings"

	"golang.org/x/sync/errgroup"
)

// syncers is the number of senders that are compared concurrently.
const syncers = 4

// Sync reads all templates from the channel of each of a company's messaging senders, and applies their status like a
// callback. Templates that exist on one side only are left as they are. A failure of one sender does not affect the
// others. Errors: conflict while another Sync of the company runs on this node.
func (c *Catalog) Sync(ctx context.Context, companyID string) ([]settings.TemplateSync, error) {
	if _, running := c.syncing.LoadOrStore(companyID, true); running {
		return nil, carillon.InConflict("The templates are being compared already")
	}
	defer c.syncing.Delete(companyID)
	senders, err := c.store.Senders.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	senders = slices.DeleteFunc(slices.Clone(senders), func(s *carillon.Sender) bool {
		return s.Channel != carillon.Messaging || c.reviewers[s.Provider] == nil
	})
	all := make([]settings.TemplateSync, len(senders))
	var group errgroup.Group
	group.SetLimit(syncers)
	for i, s := range senders {
		group.Go(func() error {
			all[i] = settings.TemplateSync{SenderUID: s.UID, At: time.Now().UTC().Truncate(time.Millisecond)}
			if err := (comparison{c, s, &all[i]}).run(ctx); err != nil {
				c.o.Logger.WarnContext(ctx, "cannot compare a sender's templates", "company", companyID, "sender", s.ID, "error", err)
				all[i].Error = explained(err)
			}
			return c.store.Templates.PutSync(ctx, all[i])
		})
	}
	return all, group.Wait()
}

// comparison compares one sender's templates with those at its channel.
type comparison struct {
	*Catalog
	sender *carillon.Sender
	result *settings.TemplateSync
}

func (c comparison) run(ctx context.Context) error {
	s, result := c.sender, c.result
	call, cancel := context.WithTimeout(ctx, callTimeout)
	there, err := c.reviewers[s.Provider].List(call, s)
	cancel()
	if err != nil {
		return err
	}
	result.Found = len(there)
	here, err := c.store.Templates.Templates(ctx, s.UID)
	if err != nil {
		return err
	}
	asked := map[string]bool{} // our ids of listed templates
	for i := range there {
		e := &there[i]
		at := slices.IndexFunc(here, func(t *carillon.Template) bool { return concerns(t, e) })
		if at < 0 {
			result.Missing++
			continue
		}
		asked[here[at].ID] = true
		e.SenderUID = s.UID
		changed, err := c.apply(ctx, e)
		if err != nil {
			return fmt.Errorf("apply the channel's list: %w", err)
		}
		if changed {
			result.Changed++
		}
	}
	return c.askEach(ctx, here, asked)
}

// concerns reports whether e is about t.
func concerns(t *carillon.Template, e *provider.TemplateEvent) bool {
	if t.ProviderID != "" {
		return t.ProviderID == e.ProviderID
	}
	return t.Name == e.Name && t.Language == e.Language
}

// askEach reads the status of templates in review or paused that the list did not contain.
func (c comparison) askEach(ctx context.Context, here []*carillon.Template, asked map[string]bool) error {
	for _, t := range here {
		if asked[t.ID] || !waits(t.Status) {
			continue
		}
		r, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
		if carillon.IsCode(err, carillon.NotFound) || err == nil && r.ClaimedUntil.After(time.Now()) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := refresh(ctx, c.Catalog, r); err != nil {
			return err
		}
		now, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
		if err == nil && now.Status != r.Status {
			c.result.Changed++
		}
	}
	return nil
}
