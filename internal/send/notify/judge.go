package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"carillon"
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
