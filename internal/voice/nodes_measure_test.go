//go:build measure

package voice_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"carillon/internal/event/realtime"
	"carillon/internal/event/relay"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/storetest"
	"carillon/internal/voice"
)

const (
	measuredTalks = 100
	measuredFor   = 20 * time.Second
	frameTime     = 20 * time.Millisecond
	playout       = 100 * time.Millisecond // buffer of a listener
)

// hall is one dialogue for all conversations of the measurement, in which nothing is said.
type hall struct{ *dialogue }

func (h hall) Begin(ctx context.Context, companyID, id string) (*voice.Talk, error) {
	talk, err := h.dialogue.Begin(ctx, companyID, id)
	talk.Conversation.ID, talk.Agent.Voice.Transcriber = id, "none"
	return talk, err
}

// ear is a line that sends silence and records when it gets sound.
type ear struct {
	next time.Time
	mu   sync.Mutex
	sent []time.Time     // of each frame
	at   []time.Time     // of each write
	len  []time.Duration // of each write
}

func (*ear) Rate() int           { return rate }
func (*ear) Clear() error        { return nil }
func (*ear) Lead() time.Duration { return 0 }
func (*ear) Digits() <-chan rune { return nil }
func (e *ear) Write(pcm []int16) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = append(e.at, time.Now())
	e.len = append(e.len, time.Duration(len(pcm))*time.Second/rate)
	return nil
}

func (e *ear) Read(ctx context.Context) ([]int16, error) {
	if e.next.IsZero() {
		e.next = time.Now()
	}
	e.next = e.next.Add(frameTime)
	select {
	case <-ctx.Done():
		return nil, io.EOF
	case <-time.After(time.Until(e.next)):
	}
	e.mu.Lock()
	e.sent = append(e.sent, time.Now())
	e.mu.Unlock()
	return make([]int16, rate/50), nil
}

// underruns returns how often the buffer of a listener is empty although sound follows.
func (e *ear) underruns() (n int, heard time.Duration) {
	var ends time.Time
	for i, at := range e.at {
		if at.After(ends) {
			if i > 0 {
				n++
			}
			ends = at.Add(playout)
		}
		ends = ends.Add(e.len[i])
		heard += e.len[i]
	}
	return n, heard
}

// TestAHundredTalksWithTeammatesOfAnotherNode measures the sound of teammates on one node for people on another: the time
// from its frame to the person, and the underruns of a listener with 100 ms.
func TestAHundredTalksWithTeammatesOfAnotherNode(t *testing.T) {
	for _, way := range []string{"database", "NATS"} {
		t.Run(way, func(t *testing.T) {
			url, address := storetest.PatientPostgres(t), ""
			if way == "NATS" {
				s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
				if err != nil {
					t.Fatal(err)
				}
				s.Start()
				t.Cleanup(s.Shutdown)
				address = s.ClientURL()
			}
			ctx, stop := context.WithCancel(context.Background())
			var runs sync.WaitGroup
			t.Cleanup(func() { stop(); runs.Wait() })
			here, there := measuredNode(ctx, t, &runs, url, address), measuredNode(ctx, t, &runs, url, address)
			measureTalks(ctx, t, &runs, way, here, there)
		})
	}
}

func measuredNode(ctx context.Context, t *testing.T, runs *sync.WaitGroup, url, nats string) *voice.Sessions {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	log := slog.New(slog.DiscardHandler)
	d := &dialogue{c: chats.Conversation{State: chats.Active, Language: "en"}, spoken: map[int64]chats.Voice{}}
	hub := realtime.NewHub(noEvents{}, log, nil)
	o := voice.Options{Dialogue: hall{d}, Topics: hub, Detector: func(int) voice.Detector { return detector{} }, Nodes: st.DB, Log: log}
	if nats != "" {
		bus := realtime.NewBus(st.DB, log)
		r, err := relay.New(relay.Options{URL: nats, Key: make([]byte, 32), Announce: bus.Publish, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		bus.Add(r.Kind())
		runs.Go(func() { _ = bus.Run(ctx) })
		runs.Go(func() { _ = r.Run(ctx) })
		o.Relay = r
		for hung := time.Now().Add(2 * time.Minute); !r.Active(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(hung) {
				t.Fatal("it hangs: NATS is not used")
			}
		}
	}
	s := voice.NewSessions(o)
	runs.Go(func() { _ = s.Run(ctx) })
	return s
}

func measureTalks(ctx context.Context, t *testing.T, runs *sync.WaitGroup, way string, here, there *voice.Sessions) {
	people, mates := make([]*ear, measuredTalks), make([]*ear, measuredTalks)
	for i := range people {
		id := fmt.Sprintf("talk-%d", i)
		people[i], mates[i] = new(ear), new(ear)
		x, err := here.Open(ctx, voice.Start{
			CompanyID: company, ConversationID: id, Line: people[i], NoGreeting: true, Counted: true, Show: func(voice.Event) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		runs.Go(func() { _ = x.Run(ctx) })
		runs.Go(func() {
			for ctx.Err() == nil { // until the node listens
				_ = there.Join(ctx, voice.Teammate{
					CompanyID: company, AccountID: "ben", Name: "Ben", ConversationID: id, Line: mates[i], Show: func(voice.Event) {},
				})
			}
		})
	}
	settled := func(e *ear) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.at) > 0
	}
	for hung := time.Now().Add(2 * time.Minute); slices.ContainsFunc(people, func(e *ear) bool { return !settled(e) }); {
		if time.Now().After(hung) {
			t.Fatal("it hangs: not all talk")
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(5 * time.Second) // the beginning is not measured
	for _, e := range slices.Concat(people, mates) {
		e.mu.Lock()
		e.at, e.len, e.sent = nil, nil, nil
		e.mu.Unlock()
	}
	before := processorTime(t)
	time.Sleep(measuredFor)
	used := processorTime(t) - before
	var gaps []time.Duration
	total, least := 0, measuredFor
	for _, e := range slices.Concat(people, mates) {
		e.mu.Lock()
		n, heard := e.underruns()
		total += n
		least = min(least, heard)
		for i := 1; i < len(e.at); i++ {
			gaps = append(gaps, max(0, e.at[i].Sub(e.at[i-1])-e.len[i-1]))
		}
		e.mu.Unlock()
	}
	slices.Sort(gaps)
	at := func(q float64) time.Duration { return gaps[int(q*float64(len(gaps)-1))].Round(10 * time.Microsecond) }
	t.Logf("%s: %d talks for %v, both directions: %d underruns of a buffer of %v; a piece is late by p50 %v, p99 %v, at most %v; "+
		"the least heard in a direction: %v; "+
		"processors used by both nodes: %.2f", way, measuredTalks, measuredFor, total, playout, at(0.5), at(0.99), at(1), least,
		used.Seconds()/measuredFor.Seconds())
}

// processorTime returns the processor time of the process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
