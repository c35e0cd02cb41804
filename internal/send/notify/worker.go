package notify

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/base/identity"
	"carillon/internal/queue"
	"carillon/internal/queue/lane"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

// worker delivers messages for the queue.
type worker struct {
	store   *store.Store
	o       *Options
	entries *cache.Cache[*entry]
	closer  *closer
}

// Settings implements queue.Worker. The lane of a company that is suspended or being moved pauses.
func (w *worker) Settings(ctx context.Context, senderUID int64) (lane.Settings, error) {
	s, err := w.store.Senders.Sender(ctx, senderUID)
	if carillon.IsCode(err, carillon.NotFound) { // it was removed with its company
		return lane.Settings{Suspended: true}, nil
	}
	if err != nil {
		return lane.Settings{}, err
	}
	c, err := w.store.Accounts.Company(ctx, s.CompanyID)
	if err != nil {
		return lane.Settings{}, err
	}
	return lane.Settings{
		CompanyID: s.CompanyID, Sender: s.ID, Suspended: c.Refusal() != nil,
		PerSecond: s.PerSecond, PerRecipient: s.PerRecipient, MaxConcurrent: s.MaxConcurrent,
	}, nil
}

// Written implements queue.Worker.
func (w *worker) Written(results []work.Result) {
	var ended []carillon.Seq
	for i := range results {
		if results[i].Move == work.MoveDone {
			ended = append(ended, carillon.MessageKey(results[i].Key).Seq())
		}
	}
	w.closer.Closed(ended)
}

// Recover implements queue.Worker. Messages that earlier owners of the shards had in flight get an unknown outcome.
func (w *worker) Recover(ctx context.Context, shards []work.Shard) error {
	ids := make([]int, len(shards))
	for i, s := range shards {
		ids[i] = s.ID
	}
	inFlight, err := w.store.Messages.InFlight(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := w.recoverShard(ctx, s, inFlight[s.ID]); err != nil {
			return err
		}
	}
	return nil
}

// recoverShard gives an unknown outcome to the messages that a shard has in flight for these senders.
func (w *worker) recoverShard(ctx context.Context, s work.Shard, senders []int64) error {
	if len(senders) == 0 {
		return nil
	}
	found, err := w.store.Messages.Recover(ctx, s.ID, s.Epoch, time.Now(), senders, func(uid int64) time.Duration {
		sender, err := w.store.Senders.Sender(ctx, uid)
		if err != nil {
			return carillon.DefaultUnknownPolicy().After
		}
		return sender.Unknown.After
	})
	if found > 0 {
		w.o.Log.WarnContext(ctx, "found messages in flight whose outcome is unknown", "shard", s.ID, "messages", found)
	}
	return err
}

const reconcileRows = 500 // per step

// Reconcile implements queue.Worker. It ends the wait for a shard's unknown outcomes by their senders' policies.
func (w *worker) Reconcile(ctx context.Context, shard int, now time.Time) (queue.Reconciled, error) {
	due, next, err := w.store.Messages.UnknownOutcomes(ctx, shard, now, reconcileRows)
	if err != nil || len(due) == 0 {
		return queue.Reconciled{Next: next}, err
	}
	var retry, fail []messages.UnknownOutcome
	var ended []carillon.Seq
	r := queue.Reconciled{Next: next}
	for _, x := range due {
		sender, err := w.store.Senders.Sender(ctx, x.SenderUID)
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
	if err := w.store.Messages.Reconcile(ctx, retry, fail, now); err != nil {
		return r, err
	}
	if w.o.Observer != nil {
		w.o.Observer.Reconciled(len(retry), len(fail))
	}
	w.closer.Closed(ended)
	return r, nil
}

// entry is a notification with its parsed body, shared by all its recipients.
type entry struct {
	n   *messages.Notification
	req *request.Request

	mu      sync.Mutex
	checked *carillon.Template // the last template that the request was found to fit
}

// keys returns the keys of an attempt's recipient: the address that it is sent to, and the id next to a number.
func (e *entry) keys(j *attempt) []identity.Key {
	if n := j.key.N(); n < len(e.req.Contacts) {
		return e.req.Contacts[n].Keys()
	}
	return []identity.Key{identity.Of(j.Number)}
}

// fits checks the request again if the template has changed since the request was accepted.
func (e *entry) fits(t *carillon.Template) bool {
	if t.UpdatedAt.Before(e.n.CreatedAt) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checked != t && e.req.CheckAgainst(t) == nil {
		e.checked = t
	}
	return e.checked == t
}

const (
	maxEntries = 128
	maxRead    = 10 * time.Second
)

func entryKey(seq carillon.Seq) string { return strconv.FormatInt(int64(seq), 36) }

// load returns a notification that is about to be delivered. A notification with several recipients is read once for
// all of them.
func (w *worker) load(ctx context.Context, seq carillon.Seq) (*entry, error) {
	key := entryKey(seq)
	e, err := w.entries.Get(ctx, key, func(ctx context.Context) (*entry, string, error) {
		row, err := w.store.Notifications.Load(ctx, seq)
		if err != nil {
			return nil, "", err
		}
		if row.Body == "" {
			return &entry{n: row}, key, nil
		}
		req, err := requestOf(row)
		if err != nil {
			return nil, "", err
		}
		return &entry{n: row, req: req}, key, nil
	})
	if err == nil && e.n.Total == 1 {
		w.entries.Remove(key)
	}
	return e, err
}
