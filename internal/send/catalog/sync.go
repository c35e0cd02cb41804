package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store/settings"

	"golang.org/x/sync/errgroup"
)

// The bounds of comparisons.
const (
	syncers        = 4               // senders that are compared concurrently
	listTimeout    = 3 * time.Minute // of a channel's whole list
	importBatch    = 100             // templates of one transaction
	maxAsked       = 50              // templates per comparison whose status is read one by one
	syncEvery      = 24 * time.Hour
	syncAfterFault = time.Hour
	syncRest       = 5 * time.Minute // between two comparisons because of unknown templates
)

// Sync imports the templates from the channel of each of a company's messaging senders: new ones are stored, known ones
// take over the channel's state and parts, and those that vanished there are disabled. Drafts are left as they are. Each
// sender has its own copy of a template, also if several senders share one account of the channel. A failure of one
// sender does not affect the others. Errors: conflict while another Sync of the company runs on this node.
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
		group.Go(func() (err error) {
			all[i], err = c.syncSender(ctx, s)
			return err
		})
	}
	return all, group.Wait()
}

// syncSender compares one sender and stores the result. It returns only errors of storing it.
func (c *Catalog) syncSender(ctx context.Context, s *carillon.Sender) (settings.TemplateSync, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	x := comparison{c, s, now, &settings.TemplateSync{SenderUID: s.UID, At: now}}
	complete, err := x.run(ctx)
	switch {
	case err != nil:
		c.o.Logger.WarnContext(ctx, "cannot compare a sender's templates", "company", s.CompanyID, "sender", s.ID, "error", err)
		x.result.Error, x.result.DueAt = explained(err), now.Add(syncAfterFault)
	case complete:
		x.result.DueAt = now.Add(syncEvery)
	}
	return *x.result, c.store.Templates.PutSync(ctx, *x.result)
}

// comparison compares one sender's templates with those at its channel.
type comparison struct {
	*Catalog
	sender *carillon.Sender
	began  time.Time
	result *settings.TemplateSync
}

// run compares, and reports whether the channel listed all templates.
func (c comparison) run(ctx context.Context) (complete bool, err error) {
	call, cancel := context.WithTimeout(ctx, listTimeout)
	list, err := c.reviewers[c.sender.Provider].List(call, c.sender)
	cancel()
	if err != nil {
		return false, err
	}
	c.result.Found = len(list.Templates)
	here, err := c.store.Templates.SenderTemplates(ctx, c.sender.UID)
	if err != nil {
		return false, err
	}
	fresh, err := c.takeOver(ctx, here, list.Templates)
	if err != nil {
		return false, err
	}
	for batch := range slices.Chunk(fresh, importBatch) {
		n, err := c.store.Templates.ImportTemplates(ctx, batch, channelDid())
		if err != nil {
			return false, err
		}
		c.result.Imported += n
	}
	return list.Complete, c.askEach(ctx, here, list)
}

// takeOver applies the list to the templates that are stored here, and returns the records of the others.
func (c comparison) takeOver(
	ctx context.Context, here []*settings.TemplateRecord, list []provider.ListedTemplate,
) ([]*settings.TemplateRecord, error) {
	known := indexOf(here, list)
	var fresh []*settings.TemplateRecord
	for i := range list {
		e := &list[i]
		e.SenderUID = c.sender.UID
		r := known.find(e)
		switch {
		case r == nil && e.Components == nil, r != nil && r.Status == carillon.TemplateDraft && r.ProviderID == "":
			c.result.Missing++
			continue
		case r == nil:
			r = c.imported(e, len(fresh))
			fresh = append(fresh, r)
		default:
			changed, err := c.take(ctx, r, e)
			if err != nil {
				return nil, fmt.Errorf("apply the channel's list: %w", err)
			}
			if changed {
				c.result.Changed++
			}
		}
		if e.Components != nil && len(content.Unsupported(&r.Template)) > 0 {
			c.result.Unsupported++
		}
	}
	return fresh, nil
}

// index finds the stored templates of a list.
type index struct {
	byID, byName map[string]*settings.TemplateRecord
}

func nameKey(name, language string) string { return name + "/" + language }

// indexOf indexes the stored templates: by the channel's id, and by name and language if that id is unknown or is not
// in the list, because the template was deleted and made again at the channel.
func indexOf(here []*settings.TemplateRecord, list []provider.ListedTemplate) index {
	listed := map[string]bool{}
	for i := range list {
		listed[list[i].ProviderID] = true
	}
	x := index{map[string]*settings.TemplateRecord{}, map[string]*settings.TemplateRecord{}}
	for _, r := range here {
		if r.ProviderID != "" && listed[r.ProviderID] {
			x.byID[r.ProviderID] = r
		} else {
			x.byName[nameKey(r.Name, r.Language)] = r
		}
	}
	return x
}

func (x index) find(e *provider.ListedTemplate) *settings.TemplateRecord {
	return cmp.Or(x.byID[e.ProviderID], x.byName[nameKey(e.Name, e.Language)])
}

// imported returns the record of the nth template that is new here. Ids of one millisecond could collide.
func (c comparison) imported(e *provider.ListedTemplate, n int) *settings.TemplateRecord {
	r := &settings.TemplateRecord{Imported: true, Template: carillon.Template{
		ID: carillon.NewTemplateID(c.began.Add(-time.Duration(n) * time.Millisecond)), ProviderID: e.ProviderID,
		CompanyID: c.sender.CompanyID, SenderUID: c.sender.UID,
		Name: e.Name, Language: e.Language, Category: e.Category, Status: e.Status, Reason: e.Reason,
		ParameterFormat: cmp.Or(e.ParameterFormat, content.Positional), Components: e.Components, Report: e.Report,
		SendTTL:   e.Report.SendTTL,
		CreatedAt: c.began, UpdatedAt: c.began,
	}}
	if !slices.Contains(categories, r.Category) {
		r.Report.Category, r.Category = r.Category, "MARKETING" // the category with the most rules
	}
	setFirstPoll(r, c.began)
	_ = content.Compile(&r.Template) // a template beyond our limits is kept, and refused when it is sent
	return r
}

// take applies one entry of the list to its template, and reports whether that changed it. A template that is a draft,
// is claimed or changed since the comparison began stays unchanged.
func (c comparison) take(ctx context.Context, r *settings.TemplateRecord, e *provider.ListedTemplate) (changed bool, err error) {
	first := r
	read := func() (*settings.TemplateRecord, error) {
		if x := first; x != nil {
			first = nil
			return x, nil
		}
		x, err := c.store.Templates.Template(ctx, r.CompanyID, r.ID)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, nil
		}
		return x, err
	}
	next, err := c.revise(ctx, read, func(next *settings.TemplateRecord) bool {
		changed = false
		if next.Status == carillon.TemplateDraft || next.ClaimedUntil.After(time.Now()) || next.UpdatedAt.After(c.began) {
			return false
		}
		changed = takeListed(next, e)
		return changed
	})
	if err != nil || next == nil {
		return false, err
	}
	if changed {
		*r = *next
	}
	if changed && next.Status == carillon.TemplateApproved {
		err = c.approved(ctx, &next.Template)
	}
	return changed, err
}

// takeListed takes over the parts, the state and the report of a listed template.
func takeListed(n *settings.TemplateRecord, e *provider.ListedTemplate) (changed bool) {
	if n.ProviderID != e.ProviderID && e.ProviderID != "" {
		n.ProviderID, changed = e.ProviderID, true
	}
	rewritten := e.Components != nil && !sameParts(n.Category, n.Components, e.Components)
	if rewritten {
		n.Components, n.Shape, changed = e.Components, nil, true
		n.ParameterFormat = cmp.Or(e.ParameterFormat, n.ParameterFormat)
		_ = content.Compile(&n.Template)
	}
	if rewritten && e.Status != n.Status && e.Status != "" { // edited at the channel: any state may follow
		n.Status, n.Reason = e.Status, e.Reason
		setFirstPoll(n, time.Now())
	}
	changed = report(n, &e.TemplateEvent) || changed
	if e.Components == nil {
		return changed
	}
	if n.SendTTL != e.Report.SendTTL {
		n.SendTTL, changed = e.Report.SendTTL, true
	}
	now := e.Report
	now.Category = n.Report.Category
	if now.ComingCategory == n.Report.ComingCategory {
		now.ComingAt = n.Report.ComingAt
	}
	if now.ComingCategory == n.Category {
		now.ComingCategory, now.ComingAt = "", 0
	}
	if now != n.Report {
		n.Report, changed = now, true
	}
	return changed
}

// askEach reads the status of templates that the list does not contain: those in review or paused, and, if the list is
// complete, all that the channel had. One that the channel no longer has is disabled.
func (c comparison) askEach(ctx context.Context, here []*settings.TemplateRecord, list provider.TemplateList) error {
	known := indexOf(here, list.Templates)
	for i := range list.Templates {
		e := &list.Templates[i]
		delete(known.byID, e.ProviderID)
		delete(known.byName, nameKey(e.Name, e.Language))
	}
	asked := 0
	for _, t := range here {
		if known.byName[nameKey(t.Name, t.Language)] != t || asked == maxAsked {
			continue
		}
		vanished := list.Complete && t.ProviderID != "" && t.Status != carillon.TemplateDraft && t.Status != carillon.TemplateDisabled
		if !waits(t.Status) && !vanished {
			continue
		}
		asked++
		if err := c.ask(ctx, t, vanished); err != nil {
			return err
		}
	}
	return nil
}

const goneReason = "The channel no longer has this template"

// ask reads the status of one template. If the channel does not have it and vanished is set, it is disabled.
func (c comparison) ask(ctx context.Context, t *settings.TemplateRecord, vanished bool) error {
	r, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
	if carillon.IsCode(err, carillon.NotFound) || err == nil && (r.ClaimedUntil.After(time.Now()) || r.UpdatedAt.After(c.began)) {
		return nil
	}
	if err != nil {
		return err
	}
	_, known, err := refresh(ctx, c.Catalog, r)
	if err != nil {
		return err
	}
	now, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
	switch {
	case err != nil:
		return nil // deleted meanwhile
	case now.Status != r.Status:
		c.result.Changed++
	case !known && vanished:
		next := *now
		next.Status, next.Reason, next.PollAt = carillon.TemplateDisabled, goneReason, time.Time{}
		ok, err := c.swap(ctx, now, &next, decisions(now, &next)...)
		if ok {
			c.result.Gone++
		}
		return err
	}
	return nil
}
