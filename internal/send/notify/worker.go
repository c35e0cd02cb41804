package notify

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/store/messages"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// worker delivers messages for the queue.
type worker struct{ *Notify }

// Settings implements queue.Worker. The lane of a suspended company pauses.
func (n *worker) Settings(ctx context.Context, senderUID int64) (lane.Settings, error) {
	s, err := n.store.Senders.Sender(ctx, senderUID)
	if err != nil {
		return lane.Settings{}, err
	}
	c, err := n.store.Accounts.Company(ctx, s.CompanyID)
	if err != nil {
		return lane.Settings{}, err
	}
	return lane.Settings{
		CompanyID: s.CompanyID, Sender: s.ID, Suspended: c.Suspended, PerSecond: s.PerSecond, PerRecipient: s.PerRecipient, MaxConcurrent: s.MaxConcurrent,
	}, nil
}

// Do implements queue.Worker.
func (n *worker) Do(ctx context.Context, job *queue.Job) queue.Done {
	begin := time.Now()
	j := &attempt{Job: job, key: carillon.MessageKey(job.Key)}
	done := n.deliver(ctx, j)
	if n.o.Observer != nil {
		n.o.Observer.Delivered(Delivered{
			Ref:       provider.Ref{NotificationID: j.id(), N: j.key.N(), Attempt: j.Attempt},
			SenderUID: j.SenderUID, Due: j.Due, Begin: begin, Move: done.Result.Move, Outcome: messages.OutcomeOf(&done.Result),
		})
	}
	return done
}

// Written implements queue.Worker.
func (n *worker) Written(results []work.Result) {
	var ended []carillon.Seq
	for i := range results {
		if results[i].Move == work.MoveDone {
			ended = append(ended, carillon.MessageKey(results[i].Key).Seq())
		}
	}
	n.Closed(ended)
}

// Recover implements queue.Worker: messages that earlier owners of the shards had in flight become unknown outcomes.
func (n *worker) Recover(ctx context.Context, shards []work.Shard) error {
	ids := make([]int, len(shards))
	for i, s := range shards {
		ids[i] = s.ID
	}
	inFlight, err := n.store.Messages.InFlight(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := n.recoverShard(ctx, s, inFlight[s.ID]); err != nil {
			return err
		}
	}
	return nil
}

// recoverShard marks what a shard has in flight, of these senders, as of unknown outcome.
func (n *worker) recoverShard(ctx context.Context, s work.Shard, senders []int64) error {
	if len(senders) == 0 {
		return nil
	}
	found, err := n.store.Messages.Recover(ctx, s.ID, s.Epoch, time.Now(), senders, func(uid int64) time.Duration {
		sender, err := n.store.Senders.Sender(ctx, uid)
		if err != nil {
			return carillon.DefaultUnknownPolicy().After
		}
		return sender.Unknown.After
	})
	if found > 0 {
		n.o.Log.WarnContext(ctx, "found messages in flight whose outcome is unknown", "shard", s.ID, "messages", found)
	}
	return err
}

const reconcileRows = 500 // in one step

// Reconcile implements queue.Worker: it ends the wait of a shard's unknown outcomes by their senders' policies.
func (n *worker) Reconcile(ctx context.Context, shard int, now time.Time) (queue.Reconciled, error) {
	due, next, err := n.store.Messages.UnknownOutcomes(ctx, shard, now, reconcileRows)
	if err != nil || len(due) == 0 {
		return queue.Reconciled{Next: next}, err
	}
	var retry, fail []messages.UnknownOutcome
	var ended []carillon.Seq
	r := queue.Reconciled{Next: next}
	for _, x := range due {
		sender, err := n.store.Senders.Sender(ctx, x.SenderUID)
		if err != nil {
			return r, fmt.Errorf("read the sender: %w", err)
		}
		if sender.Unknown.Retry[x.Class] {
			retry = append(retry, x)
			r.Retried = append(r.Retried, work.Lane{SenderUID: x.SenderUID, Class: x.Class, Due: now})
		} else {
			fail = append(fail, x)
			ended = append(ended, x.Key.Seq())
		}
	}
	if err := n.store.Messages.Reconcile(ctx, retry, fail, now); err != nil {
		return r, err
	}
	if n.o.Observer != nil {
		n.o.Observer.Reconciled(len(retry), len(fail))
	}
	n.Closed(ended)
	return r, nil
}
