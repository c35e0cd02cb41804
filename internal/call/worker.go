package call

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/hours"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/call/dial"
	"carillon/internal/queue"
	"carillon/internal/queue/lane"
	"carillon/internal/send/request"
	"carillon/internal/store/calls"
	"carillon/internal/store/work"
)

const (
	timeToLive   = 24 * time.Hour // a call that a faulty line delays for longer expires
	minFaults    = 10
	ourWait      = 5 * time.Second // after a fault on our side, or while the company is suspended
	faultWait    = 5 * time.Second // after the line's first fault; doubled each time
	maxFaultWait = 2 * time.Minute
	readTimeout  = 5 * time.Second
	progressWait = 5 * time.Second
)

// Settings implements queue.Worker. A line pauses while its company is suspended or being moved, and outside its calling hours.
func (c *Calls) Settings(ctx context.Context, senderUID int64) (lane.Settings, error) {
	line, err := c.store.Senders.Sender(ctx, senderUID)
	if carillon.IsCode(err, carillon.NotFound) { // it was removed with its company
		return lane.Settings{Suspended: true}, nil
	}
	if err != nil {
		return lane.Settings{}, err
	}
	company, err := c.store.Accounts.Company(ctx, line.CompanyID)
	if err != nil {
		return lane.Settings{}, err
	}
	return lane.Settings{
		CompanyID: line.CompanyID, Sender: line.ID, Suspended: company.Refusal() != nil, PerSecond: line.PerSecond,
		PerRecipient:  line.PerRecipient,
		MaxConcurrent: line.MaxConcurrent, Opens: func(at time.Time) time.Time { return hours.Next(company.CallingHours, at) },
	}, nil
}

// attempt is one attempt at a call.
type attempt struct {
	*queue.Job
	key      carillon.MessageKey
	line     *carillon.Sender
	company  *carillon.Company
	call     *calls.Call
	out      dial.Call
	ringing  time.Time
	answered time.Time
	talk     calls.Talk
	// delivered reports whether the message that the call follows arrived before it was dialed.
	delivered bool
	faults    int       // faults of the line since the last attempt that reached the network
	since     time.Time // time of the first of them
}

// Do implements queue.Worker. It places a call and decides what follows from its ending.
func (c *Calls) Do(ctx context.Context, job *queue.Job) queue.Done {
	begin := time.Now()
	a := &attempt{Job: job, key: carillon.MessageKey(job.Key)}
	c.mu.Lock()
	c.known[a.key] = true
	c.mu.Unlock()
	if done, stop := c.prepare(a); stop {
		return done
	}
	dialer := c.dialers[a.line.Provider]
	if dialer == nil {
		return c.ended(a, begin, dial.Ending{
			State: carillon.StateFailed, Reason: carillon.ReasonLineUnavailable, EndedBy: "system", At: begin,
			Detail: "this version places no calls by the provider " + a.line.Provider,
		})
	}
	if !job.Valid() {
		// Another node may own the shard now. Nothing has been dialed.
		return a.later(time.Now(), "the node may not dial")
	}
	place, err := c.o.Share.Take(share.Holder{Company: a.company.ID})
	if err != nil {
		return a.later(time.Now(), "the company has as many calls under way on this node as it may")
	}
	defer place.Release()
	placed, end := c.trackDial(ctx, a.key)
	defer end()
	e := dialer.Place(placed, a.line, &a.out, &progress{c, a})
	if e.At.IsZero() {
		e.At = time.Now()
	}
	if e.State == "" {
		e.State = carillon.StateFailed
	}
	if why := context.Cause(placed); e.State == carillon.StateCanceled && why != nil {
		switch {
		case errors.Is(why, errLapsed):
			e.State, e.Reason, e.Detail = carillon.StateFailed, carillon.ReasonInterrupted, why.Error()
		case errors.Is(why, errHungUp):
			e.Reason, e.Detail = carillon.ReasonCanceled, why.Error()
		default:
			e.Detail = "the program stopped while it rang"
			return a.done(hours.Next(a.company.CallingHours, e.At.Add(time.Minute)), work.MoveRetry, e, false)
		}
	}
	return c.ended(a, begin, e)
}

// prepare reads the data for the call, and ends a call that must not be placed.
func (c *Calls) prepare(a *attempt) (queue.Done, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	now := time.Now()
	if err := c.read(ctx, a); err != nil {
		c.o.Log.WarnContext(ctx, "postpone a call", "key", int64(a.key), "error", err)
		return a.later(now, "postponed by a fault on our side"), true
	}
	switch {
	case a.company.Refusal() != nil: // since it was prefetched; the lane pauses now
		return a.later(now, a.company.Refusal().Error()), true
	case a.faults >= minFaults && now.Sub(a.since) > timeToLive:
		return a.done(now, work.MoveDone, dial.Ending{
			State: carillon.StateFailed, Reason: carillon.ReasonExpired, EndedBy: "system", At: now,
			Detail: "could not be placed within its time to live",
		}, false), true
	}
	if a.delivered {
		return a.done(now, work.MoveDone, dial.Ending{
			State: carillon.StateCanceled, Reason: carillon.ReasonDelivered, EndedBy: "system", At: now,
		}, false), true
	}
	if !a.company.Suppresses {
		return queue.Done{}, false
	}
	who := identity.Number(a.Number)
	hit, err := c.store.Suppressions.Suppressed(ctx, a.company.ID, a.Class, []identity.Key{who})
	if err != nil {
		return a.later(now, "postponed by a fault on our side"), true
	}
	if !hit[who] {
		return queue.Done{}, false
	}
	return a.done(now, work.MoveDone, dial.Ending{State: carillon.StateSkipped, Reason: carillon.ReasonSuppressed, At: now}, false), true
}

func (c *Calls) read(ctx context.Context, a *attempt) (err error) {
	if a.line, err = c.store.Senders.Sender(ctx, a.SenderUID); err != nil {
		return fmt.Errorf("read the line: %w", err)
	}
	if a.company, err = c.store.Accounts.Company(ctx, a.line.CompanyID); err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	if a.call, err = c.calls.Find(ctx, a.key); err != nil {
		return err
	}
	if a.call == nil {
		return carillon.Absent("Call")
	}
	attempts, err := c.calls.Attempts(ctx, a.key)
	if err != nil {
		return err
	}
	for _, x := range attempts {
		switch {
		case x.EndedAt.IsZero(): // the present attempt
		case x.Counts:
			a.faults = 0
		default:
			if a.faults++; a.faults == 1 {
				a.since = x.DialedAt
			}
		}
	}
	n, err := c.store.Notifications.Load(ctx, a.key.Seq())
	if err != nil {
		return err
	}
	req, err := request.Decode(n.Channel, n.Body, n.Flat)
	if err != nil {
		return err
	}
	a.out = dial.Call{
		ID: provider.CallID(n.ID, n.Channel, a.key), NotificationID: n.ID, Number: a.Number, Attempt: a.Attempt, AgentID: req.AgentID,
		Contact: req.Contacts[a.key.N()].Fields(), Event: req.Event,
	}
	if f := req.Fallback; f != nil {
		a.out.AgentID, a.out.Event = f.AgentID, f.Event
		a.delivered, err = c.delivered(ctx, a.key)
	}
	return err
}

// delivered reports whether the message that a call follows was delivered.
func (c *Calls) delivered(ctx context.Context, key carillon.MessageKey) (bool, error) {
	m, err := c.store.Messages.List(ctx, key.Seq(), key.N(), 1)
	if err != nil || len(m) == 0 {
		return false, err
	}
	return m[0].Reached(), nil
}

// ended decides what follows from an attempt. After a fault of the line it is retried later, after an outcome in the
// company's policy it is redialed within the calling hours, and otherwise the call ends.
func (c *Calls) ended(a *attempt, begin time.Time, e dial.Ending) queue.Done {
	if c.o.Observer != nil {
		x := Ended{State: e.State, Reason: e.Reason, Late: begin.Sub(a.Due)}
		if !a.answered.IsZero() {
			x.Talked = e.At.Sub(a.answered)
		}
		c.o.Observer.CallEnded(x)
	}
	if e.Fault != "" {
		wait := min(faultWait<<min(a.faults, 10), maxFaultWait)
		d := a.done(e.At.Add(min(max(wait, e.RetryAfter), maxFaultWait)), work.MoveRetry, e, false)
		d.Fault, d.PauseFor = e.Fault, e.RetryAfter
		d.Pause = e.Fault == provider.FaultUnreachable || e.Fault == provider.FaultAccount
		return d
	}
	policy, reached := a.company.Redial, e.Reason != carillon.ReasonLineUnavailable && e.Reason != carillon.ReasonCallNotAllowed
	if slices.Contains(policy.Outcomes, e.State) && a.call.Dials+1 <= policy.Attempts {
		d := a.done(hours.Next(a.company.CallingHours, e.At.Add(policy.After)), work.MoveRetry, e, true)
		d.Answered = true
		return d
	}
	d := a.done(e.At, work.MoveDone, e, reached)
	d.Answered = reached
	return d
}

// done returns the result of an attempt. counts means that it reached the network.
func (a *attempt) done(due time.Time, move work.Move, e dial.Ending, counts bool) queue.Done {
	return queue.Done{
		Result: work.Result{
			Key: a.Key, SenderUID: a.SenderUID, Attempt: a.Attempt, Move: move, Due: due, At: e.At, Detail: e.Detail,
			Outcome: calls.Outcome{
				State: e.State, Reason: e.Reason, Cause: e.Cause, EndedBy: e.EndedBy, AnsweredBy: e.AnsweredBy, Counts: counts,
				Result: e.Result, RingingAt: a.ringing, AnsweredAt: a.answered,
			},
		},
	}
}

// later queues a call again that was not dialed.
func (a *attempt) later(now time.Time, why string) queue.Done {
	return queue.Done{Ours: true, Result: work.Result{
		Key: a.Key, SenderUID: a.SenderUID, Attempt: a.Attempt, Move: work.MoveRetry, Due: now.Add(ourWait), At: now, Detail: why,
	}}
}

// progress records that a call rings and is answered. Data that cannot be stored now is stored with the call's end.
type progress struct {
	c *Calls
	a *attempt
}

// Ringing implements dial.Progress.
func (p *progress) Ringing(at time.Time) {
	p.a.ringing = at
	p.a.Settled()
	p.write(carillon.StateRinging, at)
}

// Answered implements dial.Progress.
func (p *progress) Answered(at time.Time, conversationID string) {
	p.a.answered = at
	p.a.talk.ConversationID = conversationID
	p.a.Settled()
	p.write(carillon.StateInProgress, at)
	p.writeTalk()
}

// Named implements dial.Progress.
func (p *progress) Named(wacid string) {
	p.a.talk.WACID = wacid
	p.writeTalk()
}

// RecordingRefused implements dial.Progress.
func (p *progress) RecordingRefused() {
	p.a.talk.NoRecording = calls.Refused
	p.writeTalk()
}

// Recorded implements dial.Progress.
func (p *progress) Recorded(fileID string) {
	p.a.talk.Recording = fileID
	p.writeTalk()
}

func (p *progress) writeTalk() {
	if p.a.talk == (calls.Talk{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := p.c.calls.SetTalk(ctx, p.a.key, p.a.Attempt, p.a.talk); err != nil {
		p.c.o.Log.WarnContext(ctx, "record the talk of a call", "call", p.a.out.ID, "error", err)
	}
}

func (p *progress) write(state carillon.State, at time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := p.c.calls.Progress(ctx, p.a.key, p.a.Attempt, state, at); err != nil {
		p.c.o.Log.WarnContext(ctx, "record the progress of a call", "call", p.a.out.ID, "state", string(state), "error", err)
	}
}

// Written implements queue.Worker.
func (c *Calls) Written(results []work.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range results {
		delete(c.known, carillon.MessageKey(results[i].Key))
	}
}

// Recover implements queue.Worker. It does nothing: calls stay on the node that dialed them, even if another one owns
// the shard (see Reconcile).
func (c *Calls) Recover(context.Context, []work.Shard) error { return nil }

const (
	foreignLook = 2 * time.Second
	goneForgets = time.Hour
)

// Reconcile implements queue.Worker. It ends the shard's calls whose node is dead. While other nodes have calls in
// progress, it runs again soon.
func (c *Calls) Reconcile(ctx context.Context, shard int, now time.Time) (queue.Reconciled, error) {
	all, err := c.calls.Foreign(ctx, shard)
	if err != nil || len(all) == 0 {
		return queue.Reconciled{}, err
	}
	var over []calls.Foreign
	for _, f := range all {
		if c.over(f, now) {
			over = append(over, f)
		}
	}
	r := queue.Reconciled{Next: now.Add(foreignLook)}
	if len(over) == 0 {
		return r, nil
	}
	if err := c.calls.Interrupt(ctx, over, now); err != nil {
		return r, err
	}
	c.o.Log.WarnContext(ctx, "calls ended with their node", "shard", shard, "calls", len(over))
	if c.o.Observer != nil {
		for range over {
			c.o.Observer.CallEnded(Ended{State: carillon.StateFailed, Reason: carillon.ReasonInterrupted})
		}
	}
	return r, nil
}

// over reports whether a call has ended because its node died.
func (c *Calls) over(f calls.Foreign, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return isOver(c.gone, f.Node, f.Gone, c.store.DB.SQLite(), now)
}

// isOver reports whether the calls of a node have ended because it died. seen records when nodes were first noticed to
// be gone. On SQLite, the lock of the data folder proves that there is no other process.
func isOver(seen map[string]time.Time, node string, gone, alone bool, now time.Time) bool {
	switch since, known := seen[node]; {
	case !gone:
		delete(seen, node)
		return false
	case alone:
		return true
	case known:
		return now.Sub(since) >= goneGrace
	}
	maps.DeleteFunc(seen, func(_ string, since time.Time) bool { return now.Sub(since) > goneForgets })
	seen[node] = now
	return false
}
