//go:build measure

package app_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

// TestHowLongLiveEventsTakeToAnotherNode measures the time from a teammate's request on one node to the event on the
// visitor's page on another, with 20 conversations: of typing, ten a second in each, and of words that the visitor
// writes, two a second; and the time from a teammate's stream on one node to the presence on the other.
func TestHowLongLiveEventsTakeToAnotherNode(t *testing.T) {
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
			typing := func(e sse) bool { return e.kind == "typing" }
			words := func(e sse) bool { return e.kind == "turn" && e.data["author"] == "visitor" }
			var pages []<-chan sse
			var ids, visitors []string
			for n := range 20 {
				visitor, id := one.visit(n)
				page, _ := one.follow("/functions/v1/chat/stream", visitor, "0")
				repeat(t, page, "the first", func() { other.ask("POST", "/panel/v1/conversations/"+id+"/typing", ana, "", 204) }, typing)
				pages, ids, visitors = append(pages, page), append(ids, id), append(visitors, visitor)
			}
			measured(t, way+", typing", pages, 100*time.Millisecond, 100, typing, func(n, _ int) time.Time {
				began := time.Now()
				other.ask("POST", "/panel/v1/conversations/"+ids[n]+"/typing", ana, "", 204)
				return began
			})
			measured(t, way+", words", pages, 500*time.Millisecond, 20, words, func(n, i int) time.Time {
				began := time.Now()
				other.ask("POST", "/functions/v1/chat/turns", visitors[n], fmt.Sprintf(`{"client_id":"m%d","text":"Hello"}`, i), 200)
				return began
			})
			inbox, _ := one.follow("/panel/v1/inbox/events", one.signIn("owner@demo.test"), "")
			leave := func() {}
			presence := func(present bool) func(e sse) bool {
				return func(e sse) bool {
					return e.kind == "presence" && e.data["name"] == "Demo Agent" && e.data["present"] == present
				}
			}
			measured(t, way+", presence", []<-chan sse{inbox}, 200*time.Millisecond, 10, presence(true), func(_, i int) time.Time {
				if i > 0 { // a teammate counts as present for some seconds after the last stream
					leave()
					await(t, inbox, "the teammate who left", presence(false))
				}
				began := time.Now()
				_, leave = other.follow("/panel/v1/inbox/events", ana, "")
				return began
			})
			leave()
		})
	}
}

// measured does something at an interval for each page, waits for its event, and prints the times between.
func measured(t *testing.T, what string, pages []<-chan sse, every time.Duration, times int, is func(e sse) bool,
	do func(page, i int) (began time.Time),
) {
	t.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	for n, page := range pages {
		all.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for i := range times {
				<-tick.C
				for len(page) > 0 {
					<-page
				}
				began := do(n, i)
				await(t, page, what, is)
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(10 * time.Microsecond) }
	t.Logf("%s: %d events: p50 %v, p99 %v, at most %v", what, len(took), at(0.5), at(0.99), at(1))
}
