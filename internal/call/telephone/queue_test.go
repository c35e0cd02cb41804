package telephone_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

// queues returns a rig whose desk takes one call at once, and the calls that the desk has taken.
func queues(t *testing.T, q *agent.Queue) (*rig, *colleague) {
	t.Helper()
	r := transfers(t)
	r.lines[0].MaxConcurrent = 0
	r.agent.Transfer.MaxCalls, r.agent.Transfer.Queue = 1, q
	there := r.answering(nil)
	c, _ := r.asks("34600110071")
	far := there.takes(t)
	t.Cleanup(func() { c.HangUp(context.Background()); r.over(far) })
	return r, there
}

// asks calls the rig with a number and asks for the transfer.
func (r *rig) asks(number string) (c *sip.Call, heard func() []int16) {
	r.t.Helper()
	c, heard, err := r.ring(r.caller(), lineNumber, number)
	if err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(time.Second)
	c.SendDigits("1")
	time.Sleep(time.Second)
	return c, heard
}

// turnsOf returns the turns of a caller's call.
func (r *rig) turnsOf(number string) []string {
	r.t.Helper()
	var id string
	if err := r.store.DB.Row(r.t.Context(), []any{&id}, "SELECT conversation_id FROM incoming_call WHERE number = $1", number); err != nil {
		r.t.Fatal(err)
	}
	return r.turns(&diary{conversation: id})
}

func (r *rig) queued() (n int) {
	r.t.Helper()
	if err := r.store.DB.Row(r.t.Context(), []any{&n}, "SELECT COUNT(*) FROM transfer_queue"); err != nil {
		r.t.Fatal(err)
	}
	return n
}

const (
	first  = "You are number 1 in line. Please hold, or press the pound key to talk to me again."
	second = "You are number 2 in line. Please hold, or press the pound key to talk to me again."
)

func TestCallersWaitInOrder(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := transfers(t)
		r.lines[0].MaxConcurrent = 0
		r.agent.Transfer.MaxCalls, r.agent.Transfer.Queue = 1, &agent.Queue{MaxWaiting: 2, MaxWait: 300}
		there := r.answering(nil)
		one, _ := r.asks("34600110071")
		far := there.takes(t)
		two, heardTwo := r.asks("34600110072")
		three, heardThree := r.asks("34600110073")
		time.Sleep(5 * time.Second)
		if a, b := within(heardTwo(), noise(first)), within(heardThree(), noise(second)); a < clear || b < clear {
			t.Errorf("the positions are heard by %.3f and %.3f", a, b)
		}
		select {
		case <-there.calls:
			t.Error("the desk is called for a caller who must wait")
		default:
		}
		one.HangUp(t.Context())
		r.over(far)
		far = there.takes(t)
		begin := len(heardThree())
		time.Sleep(35 * time.Second)
		if ncc := within(heardThree()[begin:], noise(first)); ncc < clear {
			t.Errorf("the new position is heard by %.3f", ncc)
		}
		far.HangUp(t.Context())
		far = there.takes(t)
		if n := r.queued(); n != 1 {
			t.Errorf("%d places", n)
		}
		for _, c := range []*sip.Call{two, three} {
			c.HangUp(t.Context())
		}
		r.over(far)
		r.until("an empty queue", func() bool { return r.queued() == 0 })
	})
}

func TestACallerLeavesTheQueue(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		act  func(c *sip.Call)
		says string // empty: nothing
	}{
		"after its time":  {func(*sip.Call) { time.Sleep(20 * time.Second) }, unreached},
		"by the key #":    {func(c *sip.Call) { c.SendDigits("#") }, returned},
		"by hanging up":   {func(c *sip.Call) { c.HangUp(context.Background()) }, ""},
		"without a queue": {func(*sip.Call) {}, unreached},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				q := &agent.Queue{MaxWaiting: 1, MaxWait: 20}
				if name == "without a queue" {
					q = nil
				}
				r, there := queues(t, q)
				c, _ := r.asks("34600110072")
				time.Sleep(3 * time.Second)
				if n := r.queued(); q != nil && n != 2 {
					t.Errorf("%d places", n)
				}
				x.act(c)
				r.until("one place", func() bool { return r.queued() == 1 })
				if x.says != "" {
					r.until(x.says, func() bool { return slices.Contains(r.turnsOf("34600110072"), x.says) })
				}
				c.HangUp(t.Context())
				r.until("the end", func() bool {
					var n int
					err := r.store.DB.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM incoming_call WHERE under_way")
					return err == nil && n == 1
				})
				select {
				case <-there.calls:
					t.Error("the desk is called")
				default:
				}
				var n int
				if err := r.store.DB.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM call_transfer WHERE outcome <> $1",
					string(calls.Taken)); n != 0 || err != nil {
					t.Errorf("%d other legs, %v", n, err)
				}
			})
		})
	}
}
