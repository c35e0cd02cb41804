package notify_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store/work"
)

// channel records sends.
type channel struct {
	sent     int
	deadline time.Time
	bounded  bool
}

// Send implements notify.Sender.
func (c *channel) Send(ctx context.Context, _ *carillon.Sender, _ *provider.Outgoing) provider.Outcome {
	c.sent++
	c.deadline, c.bounded = ctx.Deadline()
	return provider.Outcome{Verdict: provider.Sent, ProviderID: "p"}
}

// attempt delivers a single message on a node whose lease is valid or not.
func attempt(t *testing.T, after time.Duration, holds bool) (*channel, queue.Done) {
	t.Helper()
	r := newRig(t, sqlite(t), func(r *rig) { r.sender.Unknown.After = after })
	defer func() {
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	}()
	id := r.accept(body("", "34600111222"))
	c := &channel{}
	n := notify.New(r.store, queue.New(r.store, queue.Options{}), notify.Options{
		Senders: map[string]notify.Sender{"test": c}, Log: slog.New(slog.DiscardHandler),
	})
	return c, n.Deliver(t.Context(), &queue.Job{
		Queued: work.Queued{Key: work.Key(carillon.SeqOf(id).Message(0)), Number: "34600111222"}, SenderUID: r.sender.UID,
		Class: carillon.Utility,
		Shard: r.sender.Shard(), Attempt: 1, Valid: func() bool { return holds },
	})
}

func TestNothingLeavesOnceTheLeaseIsOver(t *testing.T) {
	c, done := attempt(t, 10*time.Minute, false)
	if c.sent != 0 || done.Result.Move != work.MoveRetry {
		t.Errorf("%d sent, %+v", c.sent, done.Result)
	}
	if c, done = attempt(t, 10*time.Minute, true); c.sent != 1 || done.Result.Move != work.MoveDone {
		t.Errorf("with the lease: %d sent, %+v", c.sent, done.Result)
	}
}

func TestRequestEndsBeforeItsMessageCouldBeSentAgainElsewhere(t *testing.T) {
	if c, _ := attempt(t, 10*time.Minute, true); c.bounded {
		t.Errorf("with ten minutes to wait the request must end at %s", c.deadline)
	}
	for _, after := range []time.Duration{time.Minute / 2, 10 * time.Second} {
		begin := time.Now()
		c, _ := attempt(t, after, true)
		if most := time.Since(begin) + after*4/5; !c.bounded || c.deadline.Sub(begin) > most {
			t.Errorf("with %s to wait the request may take %s", after, c.deadline.Sub(begin))
		}
	}
}
