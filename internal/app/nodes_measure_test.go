//go:build measure

package app_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

// TestHowLongTypingTakesToAnotherNode measures the time from a teammate's request on one node to the event on the visitor's
// page on another, with 20 conversations of ten a second each.
func TestHowLongTypingTakesToAnotherNode(t *testing.T) {
	for _, way := range []string{"database", "NATS"} {
		t.Run(way, func(t *testing.T) {
			var change func(c *config.Config)
			if way == "NATS" {
				address := nats(t)
				change = func(c *config.Config) { c.NATSURL = config.Secret(address) }
			}
			one, other := twoNodes(t, change)
			if way == "NATS" {
				for _, k := range []talk{one, other} {
					app.Within(t, "NATS is used", func() bool { return strings.Contains(k.a.Exposed(t), "\ncarillon_nats_active 1\n") })
				}
			}
			ana := one.signIn("agent@demo.test")
			var mu sync.Mutex
			var took []time.Duration
			var all sync.WaitGroup
			for n := range 20 {
				visitor, id := one.visit(n)
				page, _ := one.follow("/functions/v1/chat/stream", visitor, "0")
				typing := func(e sse) bool { return e.kind == "typing" }
				repeat(t, page, "the first", func() { other.ask("POST", "/panel/v1/conversations/"+id+"/typing", ana, "", 204) }, typing)
				all.Go(func() {
					tick := time.NewTicker(100 * time.Millisecond)
					defer tick.Stop()
					for range 100 {
						<-tick.C
						for len(page) > 0 {
							<-page
						}
						began := time.Now()
						other.ask("POST", "/panel/v1/conversations/"+id+"/typing", ana, "", 204)
						await(t, page, "typing", typing)
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
					}
				})
			}
			all.Wait()
			slices.Sort(took)
			at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(10 * time.Microsecond) }
			t.Logf("%s: %d events: p50 %v, p99 %v, at most %v", way, len(took), at(0.5), at(0.99), at(1))
		})
	}
}
