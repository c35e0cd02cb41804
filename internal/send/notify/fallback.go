package notify

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/hours"
	"carillon/internal/queue"
	"carillon/internal/send/request"
	"carillon/internal/store/messages"
)

// A message with a fallback is followed by a call if it fails, or if it is not delivered in time after it was sent
// (docs/adr/0040). A single node decides, the owner of shard 0; if two do, the database lets one.
const (
	fallbackIdle      = time.Second
	fallbackCompanies = 50 // per round
	fallbackRows      = 50 // of a company per round, so that none waits for the fallbacks of another
)

// acceptFallback checks the fallback of a request whose template is known. Errors: agent_not_found, limit_exceeded,
// validation_failed.
func (n *Notify) acceptFallback(ctx context.Context, c *carillon.Company, req *request.Request, a *messages.Accept) error {
	f := req.Fallback
	if f == nil {
		return nil
	}
	if a.Notification.Secret {
		return carillon.Invalid("fallback", "A one-time code is not followed by a call: another person may answer")
	}
	if i := slices.IndexFunc(req.Contacts, func(c request.Contact) bool { return c.Number == "" }); i >= 0 {
		return carillon.Invalid(req.ContactField(i, "number"), "A fallback needs a number: nobody can be called by a user_id")
	}
	line, err := n.fallbackLine(ctx, c.ID, f.LineID)
	if err != nil {
		return err
	}
	if _, err := n.store.Resources.Agent(ctx, c.ID, f.AgentID); err != nil {
		return err
	}
	if f.Event != "" {
		known, err := n.store.Resources.FlowKnown(ctx, c.ID, f.Event)
		if err != nil {
			return err
		}
		if !known {
			addNote(&a.Notification, noteUnknownFallbackEvent)
		}
	}
	if err := mayCall(n.o.Denied, req); err != nil {
		return err
	}
	a.Notification.Labels.AgentID = f.AgentID
	a.Fallback = &messages.Fallback{LineUID: line.UID, Wait: f.After}
	return nil
}

// fallbackLine returns the voice line of a fallback by its id or number. No default line stands in for an unknown one.
// Errors: validation_failed.
func (n *Notify) fallbackLine(ctx context.Context, companyID, id string) (*carillon.Sender, error) {
	all, err := n.store.Senders.SendersNamed(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Channel == carillon.Voice {
			return s, nil
		}
	}
	reason := "No voice line of the company has this id or number"
	if len(all) > 0 {
		reason = "This is a " + string(all[0].Channel) + " line; a fallback needs a voice one"
	}
	return nil, carillon.InvalidValue(request.FallbackField("recipient_id"), reason, id)
}

// hasFallback reports whether calls may follow a notification's messages.
func hasFallback(x *messages.Notification) bool {
	return x.Channel == carillon.Messaging && x.Labels.AgentID != ""
}

// decideFallbacks decides about due fallbacks until ctx ends.
func (n *Notify) decideFallbacks(ctx context.Context) {
	after, failing := "", false
	for ctx.Err() == nil {
		begin, more, err := time.Now(), false, error(nil)
		if n.queue.Owns(0) {
			after, more, err = n.fallbackRound(ctx, after, begin)
		}
		if err != nil && ctx.Err() == nil && !failing { // log the first; they stay due
			n.o.Log.WarnContext(ctx, "decide fallbacks", "error", err)
		}
		failing = err != nil
		wait := fallbackIdle
		if more && err == nil {
			wait = searchWait(time.Since(begin), 0)
		}
		pause(ctx, wait)
	}
}

// fallbackRound decides about due fallbacks of some companies after one. next is the last of them, "" after the last
// company; more reports whether others may be due.
func (n *Notify) fallbackRound(ctx context.Context, after string, now time.Time) (next string, more bool, err error) {
	companies, err := n.store.Fallbacks.Companies(ctx, after, now, fallbackCompanies)
	if err != nil {
		return "", false, err
	}
	more = after != ""
	var failed error
	for _, id := range companies {
		full, err := n.fallbacksOf(ctx, id, now)
		more = more || full
		if err != nil { // those of others do not wait
			failed = err
		}
	}
	if len(companies) == fallbackCompanies {
		return companies[len(companies)-1], true, failed
	}
	return "", more, failed
}

// fallbacksOf decides about due fallbacks of a company, and reports whether more may be due.
func (n *Notify) fallbacksOf(ctx context.Context, companyID string, now time.Time) (more bool, err error) {
	company, err := n.store.Accounts.Company(ctx, companyID)
	if err != nil {
		return false, err
	}
	due, err := n.store.Fallbacks.Due(ctx, companyID, now, fallbackRows)
	if err != nil || len(due) == 0 {
		return false, err
	}
	steps := make([]messages.FallbackStep, len(due))
	for i := range due {
		if steps[i], err = n.fallbackStep(ctx, company, &due[i], now); err != nil {
			return false, err
		}
	}
	written, err := n.store.Fallbacks.Decide(ctx, companyID, steps, company.Limits.DailyCalls, now)
	if err != nil {
		return false, err
	}
	var ended []carillon.Seq
	for i := range written {
		x := &written[i]
		switch x.State {
		case messages.FallbackWaiting:
			continue
		case messages.FallbackCalled:
			n.queue.Wake(queue.Wake{Kind: queue.Calls, SenderUID: x.Of.LineUID, Class: x.Class(), Due: x.DialAt})
		case messages.FallbackNotNeeded, messages.FallbackSkipped, messages.FallbackCanceled:
			ended = append(ended, x.Of.Key.Seq())
		}
		if n.o.Observer != nil {
			n.o.Observer.Fallback(x.State)
		}
	}
	n.Closed(ended)
	return len(due) == fallbackRows && len(written) > 0, nil
}

// fallbackStep returns what follows for a due fallback.
func (n *Notify) fallbackStep(
	ctx context.Context, c *carillon.Company, w *messages.WaitingFallback, now time.Time,
) (x messages.FallbackStep, err error) {
	x.Of = w
	if x.State, x.Until = w.Next(now); x.State != messages.FallbackCalled {
		return x, nil
	}
	line, err := n.store.Senders.SenderOf(ctx, c.ID, w.LineUID)
	if err == nil && line == nil { // removed since
		x.State, x.Reason = messages.FallbackSkipped, carillon.ReasonLineUnavailable
	}
	x.DialAt = hours.Next(c.CallingHours, now)
	return x, err
}

// CancelCall cancels a call that waits to be dialed, without the message that it follows. Errors: not_found; conflict
// if it does not wait.
func (n *Notify) CancelCall(ctx context.Context, companyID, id string) (*Canceled, error) {
	now := time.Now()
	if err := n.store.Fallbacks.CancelCall(ctx, companyID, id, now); err != nil {
		return nil, err
	}
	return &Canceled{ID: id, Canceled: 1}, nil
}
