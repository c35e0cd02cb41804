package voice_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/event/realtime"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// bus connects nodes: every node receives everything.
type bus struct {
	mu       sync.Mutex
	received []func(payload string)
	longest  int
}

func (b *bus) Notify(_ context.Context, _, payload string) error {
	b.mu.Lock()
	b.longest = max(b.longest, len(payload))
	all := b.received
	b.mu.Unlock()
	for _, f := range all {
		f(payload)
	}
	return nil
}

func (b *bus) Listen(ctx context.Context, _ string, ready func(), received func(payload string)) error {
	b.mu.Lock()
	b.received = append(b.received, received)
	b.mu.Unlock()
	ready()
	<-ctx.Done()
	return ctx.Err()
}

func TestATeammateOnAnotherNodeTalksWithThePerson(t *testing.T) {
	b := &bus{}
	talk(t, func(r *rig) { r.nodes = b }, func(r *rig) {
		other, stop := r.besides(b, nil)
		r.dialogue.mu.Lock()
		r.dialogue.c.State = chats.Active
		r.dialogue.mu.Unlock()

		mate := &line{in: make(chan []int16)}
		teammate := voice.Teammate{
			CompanyID: company, AccountID: "ben", Name: "Ben", ConversationID: talkID, Line: mate, Show: func(voice.Event) {},
		}
		absent := teammate
		absent.CompanyID = "other"
		if err := other.Join(r.t.Context(), absent); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company: %v", err)
		}
		left := make(chan error, 1)
		go func() { left <- other.Join(r.t.Context(), teammate) }()
		synctest.Wait()
		second := teammate
		second.AccountID = "ana"
		if err := other.Join(r.t.Context(), second); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("a second teammate: %v", err)
		}
		before := r.line.written()
		for range 50 {
			pcm := make([]int16, 512)
			pcm[256] = 2
			mate.in <- pcm
			time.Sleep(32 * time.Millisecond)
		}
		synctest.Wait()
		if got := r.line.written() - before; got < 1500*time.Millisecond || got > 1600*time.Millisecond {
			t.Errorf("the person got %v of 1.6 s", got)
		}
		r.speaks(1, time.Second, 800*time.Millisecond)
		if got := mate.written(); got < 1600*time.Millisecond {
			t.Errorf("the teammate got %v of 1.8 s", got)
		}
		close(mate.in)
		if err := <-left; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(r.shown(voice.Connected)) != 1 || len(r.shown(voice.Gone)) != 1 {
			t.Errorf("connected %d, gone %d", len(r.shown(voice.Connected)), len(r.shown(voice.Gone)))
		}
		if b.longest > 7900 {
			t.Errorf("a payload of %d bytes", b.longest)
		}

		// A node that has stopped is not waited for.
		again := &line{in: make(chan []int16)}
		teammate.Line = again
		go func() { left <- other.Join(r.t.Context(), teammate) }()
		synctest.Wait()
		b.mu.Lock()
		b.received = b.received[:0]
		b.mu.Unlock()
		go func() {
			for {
				select {
				case again.in <- make([]int16, 512):
					time.Sleep(32 * time.Millisecond)
				case <-r.t.Context().Done():
					return
				}
			}
		}()
		select {
		case <-left:
		case <-time.After(20 * time.Second):
			t.Error("a teammate talks to a node that is gone")
		}
		stop()
		time.Sleep(time.Second)
	})
}

// fast is a relay in memory, which a test switches on and off.
type fast struct {
	active   atomic.Bool
	mu       sync.Mutex
	received map[string]func(payload []byte)
	pieces   int
	longest  int
}

func (f *fast) Active() bool { return f.active.Load() }

func (f *fast) Publish(companyID, topic string, payload []byte) {
	f.mu.Lock()
	received := f.received[companyID+"|"+topic]
	f.pieces++
	f.longest = max(f.longest, len(payload))
	f.mu.Unlock()
	if received != nil {
		received(payload)
	}
}

func (f *fast) Subscribe(companyID, topic string, received func(payload []byte)) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.received[companyID+"|"+topic] = received
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.received, companyID+"|"+topic)
	}
}

// besides runs the sessions of the rig's node and of another one, until stop ends both.
func (r *rig) besides(b *bus, f realtime.Relay) (other *voice.Sessions, stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	other = voice.NewSessions(voice.Options{
		Dialogue: r.dialogue, Topics: r.hub, Detector: func(int) voice.Detector { return detector{} }, Nodes: b, Relay: f,
		Log: slog.New(slog.DiscardHandler),
	})
	var runs sync.WaitGroup
	runs.Go(func() { _ = r.sessions.Run(ctx) })
	runs.Go(func() { _ = other.Run(ctx) })
	r.wait(2 * time.Second)
	return other, func() {
		cancel()
		runs.Wait()
	}
}

// joins lets a teammate take over the talk on another node; closing the line's input ends that.
func (r *rig) joins(other *voice.Sessions) (mate *line, left <-chan error) {
	r.dialogue.mu.Lock()
	r.dialogue.c.State = chats.Active
	r.dialogue.mu.Unlock()
	mate = &line{in: make(chan []int16)}
	ended := make(chan error, 1)
	go func() {
		ended <- other.Join(r.t.Context(), voice.Teammate{
			CompanyID: company, AccountID: "ben", Name: "Ben", ConversationID: talkID, Line: mate, Show: func(voice.Event) {},
		})
	}()
	synctest.Wait()
	return mate, ended
}

func TestATeammatesSoundGoesOverTheRelayWhileItIsActive(t *testing.T) {
	b, f := &bus{}, &fast{received: map[string]func([]byte){}}
	talk(t, func(r *rig) { r.nodes, r.relay = b, f }, func(r *rig) {
		other, stop := r.besides(b, f)
		mate, left := r.joins(other)
		speak := func() (heard time.Duration, pieces int) {
			t.Helper()
			before, begun := r.line.written(), f.pieces
			for range 50 {
				mate.in <- make([]int16, 512)
				time.Sleep(32 * time.Millisecond)
			}
			synctest.Wait()
			return r.line.written() - before, f.pieces - begun
		}
		f.active.Store(true)
		if heard, pieces := speak(); heard != 1600*time.Millisecond || pieces < 80 { // and the person's silence
			t.Errorf("over the relay the person got %v in %d pieces", heard, pieces)
		}
		f.active.Store(false)
		if heard, pieces := speak(); heard < 1500*time.Millisecond || pieces != 0 {
			t.Errorf("without it the person got %v, and the relay %d pieces", heard, pieces)
		}
		f.active.Store(true)
		if heard, _ := speak(); heard < 1600*time.Millisecond {
			t.Errorf("over the relay again the person got %v", heard)
		}
		f.mu.Lock()
		for _, received := range f.received { // unusable sound
			received(nil)
			received([]byte{1})
			received(make([]byte, 1<<20))
		}
		if f.longest != 2*rate/50 || len(f.received) != 2 {
			t.Errorf("a piece of %d bytes, %d subscriptions", f.longest, len(f.received))
		}
		f.mu.Unlock()
		close(mate.in)
		if err := <-left; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(f.received) != 0 {
			t.Errorf("%d subscriptions are left", len(f.received))
		}
		stop()
	})
}

func TestSoundForANodeWithoutARelayGoesInParcels(t *testing.T) {
	b, f := &bus{}, &fast{received: map[string]func([]byte){}}
	f.active.Store(true)
	talk(t, func(r *rig) { r.nodes, r.relay = b, f }, func(r *rig) {
		earlier, stop := r.besides(b, nil)
		mate, left := r.joins(earlier)
		r.speaks(0, time.Second, time.Second)
		if heard := mate.written(); heard < 1800*time.Millisecond || f.pieces != 0 {
			t.Errorf("the teammate got %v, and the relay %d pieces", heard, f.pieces)
		}
		close(mate.in)
		if err := <-left; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		stop()
	})
}

func TestAPersonWhoComesBackOnAnotherNodeEndsTheTalkOnThisOne(t *testing.T) {
	b := &bus{}
	talk(t, func(r *rig) { r.nodes = b }, func(r *rig) {
		other, stop := r.besides(b, nil)
		if len(r.shown(voice.Ended)) != 0 {
			t.Error("it ended before")
		}
		start := voice.Start{CompanyID: company, ConversationID: talkID, Show: func(voice.Event) {}}
		if _, err := other.Open(r.t.Context(), start); err != nil {
			t.Error(err)
		}
		r.wait(5 * time.Second)
		if ended := r.shown(voice.Ended); len(ended) != 1 || ended[0].Code != "replaced" {
			t.Errorf("ended with %+v", ended)
		}
		if r.dialogue.left {
			t.Error("the conversation ended too")
		}
		stop()
	})
}
