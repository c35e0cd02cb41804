package notify

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// attempt is one attempt to deliver a message.
type attempt struct {
	*queue.Job
	key    carillon.MessageKey
	sender *carillon.Sender
	of     *messages.Notification // nil until it has been read
}

// id returns the notification's id, empty until the notification has been read.
func (j *attempt) id() string {
	if j.of == nil {
		return ""
	}
	return j.of.ID
}

// end returns the outcome of an attempt that ends the message.
func (j *attempt) end(r rank.Rank, reason carillon.Reason) messages.Outcome {
	return messages.Outcome{Of: j.of, SenderID: j.sender.ID, Number: j.Number, Rank: r, Reason: reason}
}

// Do implements queue.Worker.
func (w *worker) Do(ctx context.Context, job *queue.Job) queue.Done {
	begin := time.Now()
	j := &attempt{Job: job, key: carillon.MessageKey(job.Key)}
	done := w.deliver(ctx, j)
	if w.o.Observer != nil {
		w.o.Observer.Delivered(Delivered{
			Ref:       provider.Ref{NotificationID: j.id(), N: j.key.N(), Attempt: j.Attempt},
			SenderUID: j.SenderUID, Due: j.Due, Begin: begin, Move: done.Result.Move, Outcome: messages.OutcomeOf(&done.Result),
		})
	}
	return done
}

// deliver makes one attempt. The queue has already committed its start.
func (w *worker) deliver(ctx context.Context, j *attempt) queue.Done {
	now := time.Now()
	var err error
	if j.sender, err = w.store.Senders.Sender(ctx, j.SenderUID); err != nil {
		return w.later(j, fmt.Errorf("read the sender: %w", err), now)
	}
	e, err := w.load(ctx, j.key.Seq())
	if err != nil {
		return w.later(j, fmt.Errorf("load: %w", err), now)
	}
	j.of = e.n
	if e.req == nil {
		return ended(j, carillon.ReasonExpired, "the request with the one-time code was deleted after a day", now)
	}
	if done, stop := w.unwanted(ctx, j, e, now); stop {
		return done
	}
	m, done, stop := w.compose(ctx, j, e, now)
	if stop {
		return done
	}
	client := w.o.Senders[j.sender.Provider]
	if client == nil {
		return w.later(j, fmt.Errorf("no such provider: %s", j.sender.Provider), now)
	}
	if !j.Valid() {
		// Another node may own the shard by now. The request was not sent, so the message is known to be unsent.
		return queue.Done{Result: result(j, work.MoveRetry, now), Ours: true}
	}
	ctx, cancel := within(ctx, j.sender)
	defer cancel()
	return w.judge(ctx, j, e, client.Send(ctx, j.sender, m))
}

// longestRequest is the longest timeout of any channel's client.
const longestRequest = 30 * time.Second

// within ends a request well before another node that acquired the shard may stop waiting for its unknown outcome. If
// a request were still in flight when the message is sent again, it would be delivered twice. Most senders wait longer
// than any request takes.
func within(ctx context.Context, s *carillon.Sender) (context.Context, context.CancelFunc) {
	if most := s.Unknown.After * 4 / 5; most < longestRequest {
		return context.WithTimeout(ctx, most)
	}
	return ctx, func() {}
}

const (
	suspendedWait = 5 * time.Second // before a message of a suspended company is retried
	maxLook       = 5 * time.Second // bounds a query before a send
)

// unwanted ends a message whose recipient was suppressed after it was accepted, and postpones a message whose company
// was suspended.
func (w *worker) unwanted(ctx context.Context, j *attempt, e *entry, now time.Time) (queue.Done, bool) {
	c, err := w.store.Accounts.Company(ctx, e.n.CompanyID)
	if err != nil {
		return w.later(j, err, now), true
	}
	if refused := c.Refusal(); refused != nil { // since the message was prefetched; the lane pauses now
		r := result(j, work.MoveRetry, now.Add(suspendedWait))
		r.Detail = refused.Error()
		return queue.Done{Result: r, Ours: true}, true
	}
	if !c.Suppresses {
		return queue.Done{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	hit, err := w.store.Suppressions.Suppressed(ctx, c.ID, j.Class, e.keys(j))
	if err != nil {
		return w.later(j, err, now), true
	}
	if len(hit) == 0 {
		return queue.Done{}, false
	}
	r := result(j, work.MoveDone, now)
	r.Outcome = j.end(rank.Skipped, carillon.ReasonSuppressed)
	return queue.Done{Result: r}, true
}

// compose fills the template and checks the media.
func (w *worker) compose(ctx context.Context, j *attempt, e *entry, now time.Time) (*provider.Outgoing, queue.Done, bool) {
	m := &provider.Outgoing{Ref: provider.Ref{NotificationID: j.id(), N: j.key.N(), Attempt: j.Attempt}, Class: j.Class}
	m.Number, m.UserID = identity.Split(j.Number)
	t, done, stop := w.template(ctx, j, e, now)
	if stop {
		return nil, done, true
	}
	if m.Number == "" && t.Category == codes { // its category has changed since
		return nil, ended(j, carillon.ReasonNumberRequired, numberReason, now), true
	}
	since := e.n.DueAt
	if t.UpdatedAt.After(since) {
		since = t.UpdatedAt // the message may have been held until then
	}
	if j.Attempt-j.Forgiven > 1 && now.Sub(since) > timeToLive {
		return nil, ended(j, carillon.ReasonExpired, "could not be sent within its time to live", now), true
	}
	c, err := e.req.Content(t, j.key.N())
	if err != nil {
		return nil, ended(j, carillon.ReasonTemplateRejected, "the template has changed since the request was accepted", now), true
	}
	if err := addTokens(ctx, w.o.Links, &c, e.n.CompanyID, j.key); err != nil {
		return nil, w.later(j, err, now), true
	}
	m.Template, m.Content = t, c
	if j.sender.MediaCheck == "full" && w.o.Media != nil {
		if rejected, err := w.checkMedia(ctx, j, t.Shape, &c); err != nil {
			if rejected || j.Attempt >= mediaTries && now.Sub(since) > mediaPatience {
				return nil, ended(j, carillon.ReasonMediaRejected, err.Error(), now), true
			}
			return nil, w.later(j, err, now), true
		}
	}
	return m, queue.Done{}, false
}

// checkMedia checks the files of the header and of the cards.
func (w *worker) checkMedia(ctx context.Context, j *attempt, s *carillon.Shape, c *provider.Content) (rejected bool, err error) {
	if c.MediaURL != "" {
		if rejected, err := w.o.Media.CheckMedia(ctx, j.sender.CompanyID, s.HeaderFormat, c.MediaURL); err != nil {
			return rejected, err
		}
	}
	for i := range c.Cards {
		if card := content.CardShape(s, i); card != nil {
			if rejected, err := w.checkMedia(ctx, j, card, &c.Cards[i]); err != nil {
				return rejected, err
			}
		}
	}
	return false, nil
}

// template returns the message's template if it is approved. Otherwise the message is held or ends.
func (w *worker) template(ctx context.Context, j *attempt, e *entry, now time.Time) (*carillon.Template, queue.Done, bool) {
	list, err := w.store.Templates.Templates(ctx, e.n.SenderUID)
	if err != nil {
		return nil, w.later(j, err, now), true
	}
	for _, t := range list {
		if t.ID != e.n.TemplateID {
			continue
		}
		switch t.Status {
		case carillon.TemplateApproved:
			if !e.fits(t) {
				return nil, ended(j, carillon.ReasonTemplateRejected, "the template has changed since the request was accepted", now), true
			}
			return t, queue.Done{}, false
		case carillon.TemplatePaused, carillon.TemplatePending:
			return nil, held(j, t, "the template is "+string(t.Status), now), true
		default:
			return nil, ended(j, carillon.ReasonTemplateRejected, "the template is "+string(t.Status), now), true
		}
	}
	return nil, ended(j, carillon.ReasonTemplateRejected, "the template is gone", now), true
}
