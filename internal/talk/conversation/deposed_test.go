package conversation

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// When a node with a pending reply is declared dead, the other nodes take the reply over at once.
func TestTheReplyOfADeadNodeIsGivenAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"say": "What?"}, {"ask": "what"}]`)
		id := r.open()
		// then the node dies
		if _, _, err := r.core.say(t.Context(), r.company, id, Said{ClientID: "1", Kind: chats.KindText, Text: "begin"}); err != nil {
			t.Fatal(err)
		}
		r.run()
		r.pass(deadFor + time.Millisecond)
		r.Deposed()
		r.waitState(id, flow.Asking)
	})
}

// A node died while waiting for a server. Another node takes over its effect once it is declared dead, and not
// earlier.
func TestTheEffectOfADeadNodeIsTakenUpAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("word", flow.Trigger{Keywords: []string{"begin"}},
			`[{"http": {"url": "https://shop.test", "status": "status"}}, {"say": "It is {{status}}"}]`)
		begun, dead := make(chan struct{}), make(chan struct{})
		var asked atomic.Int32
		r.laid.do = func(_ context.Context, _ string, e *flow.Effect) (flow.Values, string, bool, error) {
			if asked.Add(1) > 1 {
				return e.Values("200"), "200", false, nil
			}
			close(begun)
			<-dead
			return e.Values("500"), "500", false, nil
		}
		r.run()
		id := r.open()
		r.say(id, "1", "begin")
		<-begun
		if err := r.db.Nodes.Join(t.Context(), "node", "node"); err != nil {
			t.Fatal(err)
		}
		if err := r.db.Runs.Recover(t.Context(), r.now(), false); err != nil {
			t.Fatal(err)
		}
		if x := r.last(id); !x.Due.After(r.now()) || x.Node != "node" {
			t.Errorf("it is taken up while its node lives: %+v", x)
		}
		if err := r.db.Nodes.Leave(t.Context(), "node"); err != nil {
			t.Fatal(err)
		}
		other := r.node()
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		var done sync.WaitGroup
		done.Go(func() { _ = other.Run(ctx) })
		other.Deposed()
		r.waitState(id, flow.Completed)
		close(dead) // its response comes too late
		stop()
		done.Wait()
		if got := r.last(id).Variables["status"]; got != "200" {
			t.Errorf("the status is %q", got)
		}
	})
}
