package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

// Why is message X late?
func TestTheTimelineExplainsALateMessage(t *testing.T) {
	later := func(fault provider.Fault, detail string) func(*provider.Outgoing) provider.Outcome {
		return func(*provider.Outgoing) provider.Outcome {
			return provider.Outcome{
				Verdict: provider.RetryLater, RetryAfter: time.Hour, Reason: carillon.ReasonAttemptsExhausted, Detail: detail, Fault: fault,
				MaxTries: 3,
			}
		}
	}
	numbers := make([]string, 100)
	for k := range numbers {
		numbers[k] = fmt.Sprintf("346001%05d", k)
	}
	suspend := func(r *rig) {
		r.company.Suspended = true
		if err := r.store.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, r.company, time.Now())
		}); err != nil {
			r.t.Fatal(err)
		}
	}
	hold := func(name string) func(r *rig) {
		return func(r *rig) {
			if _, err := r.store.DB.Exec(r.t.Context(), "UPDATE message SET hold = $1", name); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(r *rig)
		decide func(*provider.Outgoing) provider.Outcome
		before func(r *rig) // before the message is accepted
		after  func(r *rig)
		idle   bool // no node is started
		want   string
		until  bool
		ahead  int
	}{
		{
			name: "restored", after: hold("restored/x"), idle: true,
			want: "waits_restored: held after a restore, until the operator sends or fails it",
		},
		{name: "a paused template", after: hold("x/hello"), idle: true, want: "waits_template: held until the template is approved again"},
		{name: "suspended", after: suspend, idle: true, want: "waits_suspended: waits: the company is suspended"},
		{name: "without a node", idle: true, want: "waits_node: waits: no node serves the sender"},
		{
			name: "an outage", decide: later(provider.FaultProvider, "131000 something went wrong"), until: true,
			before: func(r *rig) { r.queued(2 * slots) },
			want:   "waits_breaker: waits until 2000-01-01T00: the sender's circuit breaker is open: 131000 something went wrong",
		},
		{
			name: "tried again", decide: later("", "131049 this person got enough"), until: true,
			want: "waits_retry: waits until 2000-01-01T01 for attempt 2: 131049 this person got enough",
		},
		{
			name: "behind others", change: func(r *rig) { r.sender.PerSecond = 1 }, ahead: 89,
			before: func(r *rig) { r.accept(body("", numbers...)) },
			want:   "waits_turn: waits: 89 messages of the sender are ahead, at most 1 a second",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := storetest.Folder(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, store.Options{Dir: dir}, c.change)
				if c.decide != nil {
					r.provider.decide = c.decide
				}
				if c.idle {
					defer func() { _ = r.store.Close() }()
				} else {
					defer r.start()()
				}
				if c.before != nil {
					c.before(r)
				}
				id := r.accept(body("", "34600111222"))
				time.Sleep(time.Second)
				synctest.Wait()
				if waits := waitsOf(r.view(id)); waits != nil {
					t.Errorf("after a second it says %q", waits.Text)
				}
				if c.after != nil {
					c.after(r)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				waits := waitsOf(r.view(id))
				if waits == nil {
					t.Fatal("nothing is said")
				}
				got := waits.Name + ": " + waits.Text
				if waits.Until != "" { // the hour is enough
					got = strings.Replace(got, waits.Until, waits.Until[:13], 1)
				}
				ahead := 0
				if waits.Ahead != nil {
					ahead = *waits.Ahead
				}
				if got != c.want || (waits.Until != "") != c.until || ahead != c.ahead {
					t.Errorf("%q, until %q, %d ahead", got, waits.Until, ahead)
				}
			})
		})
	}
}

// waitsOf returns the event that explains a late message; nil if there is none.
func waitsOf(v *notify.View) *notify.Event {
	for i := range v.Timeline {
		if strings.HasPrefix(v.Timeline[i].Name, "waits_") {
			return &v.Timeline[i]
		}
	}
	return nil
}
