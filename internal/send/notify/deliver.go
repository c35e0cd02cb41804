package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/settings"
	"carillon/internal/store/work"
)

const (
	tries      = 10             // temporary failures before attempts_exhausted
	timeToLive = 24 * time.Hour // age at which a message that was tried before expires
	ourWait    = time.Minute    // longest wait after our own fault

	// maxOwnTries bounds the attempts that fail by a permanent fault of our own, which takes about a day.
	maxOwnTries = 1440

	// A header's file that cannot be reached, for whatever reason, is tried at least this often and for this long.
	mediaTries    = 3
	mediaPatience = 10 * time.Minute
)

// backoffs are the waits after the first temporary failures, as the channel recommends (1 s, 4 s, 16 s …). Ten
// attempts take about three hours.
//
//nolint:gochecknoglobals // a constant table
var backoffs = []time.Duration{
	time.Second, 4 * time.Second, 16 * time.Second, 64 * time.Second, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
}

// backoff returns the wait after an attempt, with up to a quarter of jitter.
func backoff(attempt int) time.Duration {
	d := backoffs[min(max(attempt, 1), len(backoffs))-1]
	return d + rand.N(d/4) //nolint:gosec // not security-sensitive
}

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

// judge converts an outcome to a result for the database.
func (w *worker) judge(ctx context.Context, j *attempt, e *entry, o provider.Outcome) queue.Done {
	now := time.Now()
	switch o.Verdict {
	case provider.Sent:
		if report, is := w.report(j, o.Number); is {
			if err := w.store.Contacts.Learn(ctx, j.sender.CompanyID, []chats.Report{report}, now); err != nil {
				// Only logged, because the message has been sent.
				w.o.Log.WarnContext(ctx, "store the channel's form of a number", "notification", j.id(), "error", err)
			}
		}
		r := result(j, work.MoveDone, now)
		end := j.end(rank.Sent, "")
		end.ProviderID = o.ProviderID
		r.Outcome = end
		return queue.Done{Result: r, Answered: true}
	case provider.Refused:
		if o.Reason == carillon.ReasonRecipientOptedOut {
			err := w.store.Suppressions.Suppress(ctx, j.sender.CompanyID, settings.SuppressMarketing, settings.OptedOut, now, j.Number)
			if err != nil { // retrying is harmless: the channel refuses again
				return w.later(j, fmt.Errorf("suppress the recipient: %w", err), now)
			}
		}
		d := ended(j, o.Reason, o.Detail, now)
		d.Answered = true
		return d
	case provider.PauseSender:
		r := result(j, work.MoveRetry, now)
		r.Detail = o.Detail
		return queue.Done{Result: r, Pause: true, PauseFor: o.RetryAfter, Fault: faultOf(o)}
	case provider.PauseTemplate:
		t, d, stop := w.template(ctx, j, e, now)
		if stop {
			return d
		}
		if w.o.Templates != nil {
			if err := w.o.Templates.Pause(ctx, t, o.Detail); err != nil {
				w.o.Log.WarnContext(ctx, "pause template", "error", err)
			}
		}
		d = held(j, t, o.Detail, now)
		d.Answered = true
		return d
	case provider.Unknown:
		r := result(j, work.MoveUnknown, now.Add(j.sender.Unknown.After))
		r.Detail = o.Detail
		return queue.Done{Result: r, Fault: faultOf(o)}
	case provider.RetryLater:
		return retried(j, o, now)
	}
	return w.later(j, fmt.Errorf("verdict %d", o.Verdict), now)
}

// report returns the meaning of the channel's form of a recipient's number: another form of the number, or the
// number of an id.
func (w *worker) report(j *attempt, as string) (r chats.Report, is bool) {
	number, userID := identity.Split(j.Number)
	switch {
	case as == "":
		return r, false
	case userID == "":
		return chats.Report{Number: number, As: as}, !identity.Number(number).Is(as)
	case w.o.Portfolio == nil:
		return r, false
	}
	owner := identity.Identity{Kind: identity.Person, Scope: w.o.Portfolio(j.sender), Key: identity.User(userID)}
	return chats.Report{Number: as, Person: &owner}, true
}

func retried(j *attempt, o provider.Outcome, now time.Time) queue.Done {
	limit := tries
	if o.MaxTries > 0 {
		limit = min(limit, o.MaxTries)
	}
	tried := max(1, j.Attempt-j.Forgiven)
	if tried >= limit && !(j.Probe && o.Fault != "") {
		reason := o.Reason
		if reason == "" {
			reason = carillon.ReasonAttemptsExhausted
		}
		d := ended(j, reason, o.Detail, now)
		d.Answered, d.Fault = true, o.Fault
		return d
	}
	r := result(j, work.MoveRetry, now.Add(max(o.RetryAfter, backoff(tried))))
	if o.RetryAfter > 0 {
		r.Due = now.Add(o.RetryAfter + rand.N(o.RetryAfter/4+1)) //nolint:gosec // not security-sensitive
	}
	r.Detail = o.Detail
	d := queue.Done{Result: r, Fault: o.Fault}
	if o.Fault == provider.FaultThrottled {
		d.PauseFor = o.RetryAfter
	}
	return d
}

// faultOf returns the class of a fault that affects more than this message. Without a class from the provider, the
// verdict decides.
func faultOf(o provider.Outcome) provider.Fault {
	switch {
	case o.Fault != "":
		return o.Fault
	case o.Verdict == provider.PauseSender:
		return provider.FaultAccount
	}
	return provider.FaultUnknown
}

func result(j *attempt, m work.Move, due time.Time) work.Result {
	return work.Result{Key: j.Key, SenderUID: j.SenderUID, Attempt: j.Attempt, Move: m, Due: due, At: due}
}

// ended returns the result for a message that fails permanently.
func ended(j *attempt, reason carillon.Reason, detail string, now time.Time) queue.Done {
	r := result(j, work.MoveDone, now)
	r.Detail, r.Outcome = detail, j.end(rank.Failed, reason)
	return queue.Done{Result: r}
}

// later postpones a message after a fault of our own: the database, a missing provider, the network. The attempt does
// not count.
func (w *worker) later(j *attempt, err error, now time.Time) queue.Done {
	if !errors.Is(err, context.Canceled) {
		w.o.Log.Warn("postpone message", "notification", j.id(), "message", j.key.N(), "error", err)
	}
	if j.sender != nil && j.Attempt >= maxOwnTries && !db.Transient(err) {
		return ended(j, carillon.ReasonAttemptsExhausted, "could not be sent for a reason inside the program, each time it was tried", now)
	}
	r := result(j, work.MoveRetry, now.Add(min(backoff(j.Attempt), ourWait)))
	r.Detail = "put off by a fault on our side"
	return queue.Done{Result: r, Ours: true}
}

// held returns the result that removes a message from the due index until its template is approved.
func held(j *attempt, t *carillon.Template, detail string, now time.Time) queue.Done {
	r := result(j, work.MoveHold, now)
	r.Detail, r.Outcome = detail, messages.Outcome{Hold: holdName(t)}
	return queue.Done{Result: r}
}
