package activity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/account/activity"
	"carillon/internal/store/audit"
)

// kept is a store in memory.
type kept struct {
	mu     sync.Mutex
	calls  []audit.APICall
	chunks map[string]audit.AcceptedChunk
	trims  []string
	writes int
	fail   error
}

func (k *kept) Write(_ context.Context, calls []audit.APICall, chunks []audit.AcceptedChunk, trim []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.writes++; k.fail != nil {
		return k.fail
	}
	if k.chunks == nil {
		k.chunks = map[string]audit.AcceptedChunk{}
	}
	k.calls, k.trims = append(k.calls, calls...), append(k.trims, trim...)
	for _, c := range chunks {
		k.chunks[c.ID] = c
	}
	return nil
}

// references returns the number of references and the number of chunks.
func (k *kept) references() (n, chunks int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.chunks {
		n += len(c.All)
	}
	return n, len(k.chunks)
}

// counts records the counts that a recorder reports.
type counts struct {
	mu            sync.Mutex
	kept, dropped map[string]int
}

func (c *counts) options() activity.Options {
	c.kept, c.dropped = map[string]int{}, map[string]int{}
	return activity.Options{
		Kept:    func(what string, n int) { c.mu.Lock(); defer c.mu.Unlock(); c.kept[what] += n },
		Dropped: func(what string, n int) { c.mu.Lock(); defer c.mu.Unlock(); c.dropped[what] += n },
	}
}

func refused(company, path string) activity.Refused {
	return activity.Refused{
		CompanyID: company, KeyID: "k", RequestID: "req_1", Method: "POST", Path: path, Query: "access_key=ck_secret_abcdef&a=b",
		Status: 400, Code: "validation_failed",
		Message: "Required field missing", Body: []byte(`{"access_key":"quiet-secret","contact":{"number":"1"}}`), BodyRead: true,
		Response: []byte(`{"error":"validation_failed"}`),
	}
}

func TestRefusedCallsAreKeptWithoutTheirSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{}, counts{}
		r := activity.New(store, c.options())
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = r.Run(ctx) }()
		x := refused("ours", "/functions/v1/notify/ck_in_the_path")
		x.Message = "No such thing: ck_in_the_message"
		x.Agent, x.Repeat = "curl ck_in_the_agent", "token=quiet-secret"
		r.Refused(x)
		x.Body[3] = 'X' // the body belongs to the request, which is over
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if len(store.calls) != 1 || c.kept[activity.KindRefused] != 1 {
			t.Fatalf("%+v, %v", store.calls, c.kept)
		}
		got := fmt.Sprintf("%+v", store.calls[0])
		for _, secret := range []string{"quiet-secret", "ck_secret", "ck_in_the"} {
			if strings.Contains(got, secret) {
				t.Errorf("it has a secret: %s", got)
			}
		}
		if s := store.calls[0]; s.Query != "access_key=[redacted]&a=b" ||
			s.Body != `{"access_key":"[redacted]","contact":{"number":"1"}}` || s.Response != `{"error":"validation_failed"}` ||
			!s.BodyRead {
			t.Errorf("%+v", s)
		}
		stop()
	})
}

func TestCallsThatAreRefusedAlikeAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{}, counts{}
		r := activity.New(store, c.options())
		ctx, stop := context.WithCancel(t.Context())
		for i := range 500 {
			x := refused("ours", "/a")
			x.RequestID = fmt.Sprint("req_", i)
			r.Refused(x)
		}
		other := refused("ours", "/a")
		other.Body = []byte("{}")
		r.Refused(other)
		r.Refused(refused("theirs", "/a"))
		go func() { _ = r.Run(ctx) }()
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if len(store.calls) != 3 || store.calls[0].Repeats != 499 || store.calls[0].RequestID != "req_499" || store.calls[1].Repeats != 0 {
			t.Errorf("%+v", store.calls)
		}
		stop()
	})
}

func TestWhatHasNoRoomIsDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{}, counts{}
		r := activity.New(store, c.options())
		for i := range 300 {
			r.Refused(refused("loud", fmt.Sprint("/", i)))
		}
		r.Refused(refused("quiet", "/a"))
		for range 250 {
			r.Accepted("loud", audit.AcceptedCall{At: time.Now(), NotificationID: "n"})
		}
		large := refused("large", "/a")
		large.Body = []byte(strings.Repeat("x", 20<<10))
		for i := range 150 {
			for _, company := range []string{"l1", "l2", "l3", "l4"} {
				large.CompanyID, large.Path = company, fmt.Sprint("/", i)
				r.Refused(large)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_ = r.Run(ctx)
		loud, quiet, bytes := 0, 0, 0
		for _, x := range store.calls {
			switch x.CompanyID {
			case "loud":
				loud++
			case "quiet":
				quiet++
			}
			bytes += len(x.Body)
		}
		if loud != 200 || quiet != 1 || bytes > 8<<20 {
			t.Errorf("%d of a company that is loud, %d of a quiet one, %d bytes", loud, quiet, bytes)
		}
		if c.dropped[activity.KindRefused] != 901-len(store.calls) || c.dropped[activity.KindAccepted] != 50 {
			t.Errorf("%d kept, dropped: %v", len(store.calls), c.dropped)
		}
	})
}

func TestTheLastCallsAreWrittenBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{}, counts{}
		r := activity.New(store, c.options())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		r.Refused(refused("ours", "/a"))
		r.Accepted("ours", audit.AcceptedCall{At: time.Now(), NotificationID: "n"})
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n, _ := store.references(); len(store.calls) != 1 || n != 1 {
			t.Errorf("%d calls and %d references were written", len(store.calls), n)
		}
	})
}

func TestReferencesShareRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{}, counts{}
		r := activity.New(store, c.options())
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = r.Run(ctx) }()
		for i := range 300 { // one every two seconds
			r.Accepted("ours", audit.AcceptedCall{At: time.Now(), NotificationID: fmt.Sprint(i)})
			r.Accepted("theirs", audit.AcceptedCall{At: time.Now(), NotificationID: fmt.Sprint(i)})
			time.Sleep(2 * time.Second)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n, chunks := store.references(); n != 600 || chunks != 4 {
			t.Errorf("%d references in %d rows", n, chunks)
		}
		for _, chunk := range store.chunks {
			for i := 1; i < len(chunk.All); i++ {
				if !chunk.All[i].At.After(chunk.All[i-1].At) {
					t.Fatal("not in their order")
				}
			}
		}
		if len(store.trims) < 4 || len(store.trims) > 20 {
			t.Errorf("the rings were trimmed %d times", len(store.trims))
		}
	})
}

func TestADatabaseThatDoesNotTakeThemStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := &kept{fail: errors.New("full")}, counts{}
		r := activity.New(store, c.options())
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = r.Run(ctx) }()
		r.Refused(refused("ours", "/a"))
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		store.mu.Lock()
		store.fail = nil
		store.mu.Unlock()
		r.Refused(refused("ours", "/b"))
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if c.dropped[activity.KindRefused] != 1 || len(store.calls) != 1 || store.calls[0].Path != "/b" {
			t.Errorf("%v, %+v", c.dropped, store.calls)
		}
	})
}

func BenchmarkAccepted(b *testing.B) {
	r := activity.New(&kept{}, activity.Options{})
	a := audit.AcceptedCall{At: time.Now(), RequestID: "req_0123456789012345678901", KeyID: "k", NotificationID: "n"}
	b.ReportAllocs()
	for b.Loop() {
		r.Accepted("ours", a)
	}
}
