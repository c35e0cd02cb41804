package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
)

var line = &carillon.Sender{UID: 7, ID: "main", Channel: carillon.Messaging, Provider: "sandbox"}

// desk collects the reports of the sandbox.
type desk struct {
	begun time.Time

	mu     sync.Mutex
	seen   seen
	fail   error
	refuse int64 // receipts of this sender are refused
}

type seen struct {
	receipts []provider.Receipt
	reported []string // "state@delay"
	calls    []int    // number of receipts in each call
	events   []provider.TemplateEvent
}

// snapshot returns the reports so far.
func (d *desk) snapshot() seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

func (d *desk) take(_ context.Context, rs []provider.Receipt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	if rs[0].SenderUID == d.refuse {
		return errors.New("no such sender")
	}
	d.seen.calls = append(d.seen.calls, len(rs))
	for _, r := range rs {
		d.seen.receipts = append(d.seen.receipts, r)
		d.seen.reported = append(d.seen.reported, fmt.Sprintf("%s@%v", r.State, time.Since(d.begun)))
		if r.At.After(time.Now()) {
			return errors.New("a receipt of the future")
		}
	}
	return nil
}

func (d *desk) event(_ context.Context, e provider.TemplateEvent) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.seen.events = append(d.seen.events, e)
	return nil
}

func (d *desk) setFail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

// run starts a sandbox in the synctest bubble of a test. stop ends it.
func run(t *testing.T, o Options, replies ...func(context.Context, int64, []provider.ReplyReceipt) error) (c *Channel, d *desk,
	stop func(),
) {
	t.Helper()
	d = &desk{begun: time.Now()}
	c = New(o)
	to := Reports{Receipts: d.take, Templates: d.event}
	for _, take := range replies {
		to.Replies = take
	}
	c.ReportTo(to)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return c, d, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func outgoing(number string, attempt int) *provider.Outgoing {
	return &provider.Outgoing{
		Number: number, Ref: provider.Ref{NotificationID: "0197a1b2-0000-7000-8000-000000000001", N: 3, Attempt: attempt},
	}
}

// after advances the fake time, and lets the sandbox handle everything that is due by then.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestSuffixDecidesAboutMessages(t *testing.T) {
	sent, retry, unknown := provider.Sent, provider.RetryLater, provider.Unknown
	for _, c := range []struct {
		suffix   string
		verdicts []provider.Verdict // by attempt
		reported []string           // after the last attempt
	}{
		{"4321", []provider.Verdict{sent}, []string{"delivered@400ms", "read@1.5s"}},
		{"0001", []provider.Verdict{provider.Refused}, nil},
		{"0002", []provider.Verdict{retry, retry, sent}, []string{"delivered@400ms", "read@1.5s"}},
		{"0003", []provider.Verdict{unknown}, []string{"sent@5s", "delivered@5.4s", "read@6.5s"}},
		{"0004", []provider.Verdict{unknown, unknown}, nil},
		{"0005", []provider.Verdict{sent}, []string{"failed@400ms"}},
		{"0006", []provider.Verdict{sent}, []string{"delivered@400ms"}},
		{"0007", []provider.Verdict{sent}, []string{"read@1.5s"}},
		{
			"0008", []provider.Verdict{sent}, []string{
				"read@400ms", "read@400ms", "delivered@1.5s", "delivered@1.5s", "sent@1.5s", "sent@1.5s",
			},
		},
		{"0009", []provider.Verdict{sent}, []string{"delivered@5.4s", "read@6.5s"}},
		{"0010", []provider.Verdict{retry, sent}, []string{"delivered@400ms", "read@1.5s"}},
		{"0011", []provider.Verdict{sent}, []string{"delivered@400ms", "read@1.5s"}},
	} {
		t.Run(c.suffix, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sandbox, d, stop := run(t, Options{})
				defer stop()
				for i, want := range c.verdicts {
					got := sandbox.Send(t.Context(), line, outgoing("3460011"+c.suffix, i+1))
					if got.Verdict != want || (got.ProviderID != "") != (want == sent) || (got.Reason != "") != (want == provider.Refused) {
						t.Errorf("attempt %d: got %+v, want %v", i+1, got, want)
					}
				}
				after(time.Minute)
				if diff := cmp.Diff(c.reported, d.snapshot().reported); diff != "" {
					t.Error(diff)
				}
				for _, r := range d.snapshot().receipts {
					wantReason := r.State == carillon.StateFailed
					if r.SenderUID != line.UID || r.Ref.N != 3 || r.Ref.Attempt != len(c.verdicts) ||
						r.ProviderID != providerID(r.Ref) || (r.Reason != "") != wantReason {
						t.Errorf("receipt %+v", r)
					}
				}
			})
		})
	}
}

func TestRateLimitSaysHowLongToWait(t *testing.T) {
	got := New(Options{}).Send(t.Context(), line, outgoing("34600110010", 1))
	if got.RetryAfter != 5*time.Second {
		t.Errorf("got %+v", got)
	}
}

func TestSlowSendThatIsCanceledIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := c.Send(ctx, line, outgoing("34600110009", 1)); got.Verdict != provider.Unknown {
			t.Errorf("got %+v", got)
		}
		after(time.Minute)
		if len(d.snapshot().reported) != 0 {
			t.Errorf("reported %v", d.snapshot().reported)
		}
	})
}

func TestNegativeDelaysMeanAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{Delays: Delays{Delivered: -1, Read: -1}})
		defer stop()
		c.Send(t.Context(), line, outgoing("34600111222", 1))
		synctest.Wait()
		if diff := cmp.Diff([]string{"delivered@0s", "read@0s"}, d.snapshot().reported); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReceiptsComeInBatchesOfOneSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{Delays: Delays{Read: time.Hour}})
		defer stop()
		for range 600 {
			c.Send(t.Context(), line, outgoing("34600111222", 1))
		}
		other := *line
		other.UID = 9
		c.Send(t.Context(), &other, outgoing("34600111222", 1))
		after(time.Second)
		calls, sum := d.snapshot().calls, 0
		for _, n := range calls {
			sum += n
		}
		if sum != 601 || len(calls) != 4 || slices.Max(calls) > 256 {
			t.Errorf("%d receipts in calls of %v", sum, calls)
		}
	})
}

func TestReceiptsAreReportedAgainAfterAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		d.setFail(errors.New("database is away"))
		c.Send(t.Context(), line, outgoing("34600111222", 1))
		after(time.Minute)
		d.setFail(nil)
		after(10 * time.Second)
		var states []carillon.State
		for _, r := range d.snapshot().receipts {
			states = append(states, r.State)
		}
		if diff := cmp.Diff([]carillon.State{carillon.StateDelivered, carillon.StateRead}, states); diff != "" {
			t.Error(diff)
		}
		if at := d.snapshot().receipts[0].At.Sub(d.begun); at != 400*time.Millisecond {
			t.Errorf("delivered at %v, however late it was reported", at)
		}
	})
}

func TestReceiptsThatAreRefusedDelayNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		gone := *line
		gone.UID = 1 // sorts first
		d.mu.Lock()
		d.refuse = gone.UID
		d.mu.Unlock()
		for range 300 {
			c.Send(t.Context(), &gone, outgoing("34600111222", 1))
		}
		c.Send(t.Context(), line, outgoing("34600111222", 1))
		after(2 * time.Second)
		if diff := cmp.Diff([]string{"delivered@400ms", "read@1.5s"}, d.snapshot().reported); diff != "" {
			t.Error(diff)
		}
		after(retryFor + time.Minute)
		c.pending.mu.Lock()
		defer c.pending.mu.Unlock()
		if n := len(c.pending.items); n != 0 {
			t.Errorf("%d pending are kept for ever", n)
		}
	})
}

func TestSendRefusesBeyondItsPendingReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, stop := run(t, Options{})
		defer stop()
		c.pending.max = 2
		for i, want := range []provider.Verdict{provider.Sent, provider.Sent, provider.RetryLater} {
			if got := c.Send(t.Context(), line, outgoing("34600111222", 1)); got.Verdict != want {
				t.Errorf("%d: got %+v", i, got)
			}
		}
		after(2 * time.Second)
		if got := c.Send(t.Context(), line, outgoing("34600111222", 1)); got.Verdict != provider.Sent {
			t.Errorf("with room again: %+v", got)
		}
	})
}

func BenchmarkSend(b *testing.B) {
	c := New(Options{})
	c.ReportTo(Reports{Receipts: func(context.Context, []provider.Receipt) error { return nil }})
	c.pending.max = 1 << 30
	m := outgoing("34600111222", 1)
	for b.Loop() {
		c.Send(b.Context(), line, m)
	}
}
