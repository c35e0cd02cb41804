package voice_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
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
		ctx, stop := context.WithCancel(r.t.Context())
		other := voice.NewSessions(voice.Options{
			Dialogue: r.dialogue, Topics: r.hub, Detector: func(int) voice.Detector { return detector{} }, Nodes: b,
			Log: slog.New(slog.DiscardHandler),
		})
		var runs sync.WaitGroup
		runs.Go(func() { _ = r.sessions.Run(ctx) })
		runs.Go(func() { _ = other.Run(ctx) })
		r.wait(2 * time.Second)
		r.dialogue.mu.Lock()
		r.dialogue.c.State = chats.Active
		r.dialogue.mu.Unlock()

		mate := &line{in: make(chan []int16)}
		teammate := voice.Teammate{
			CompanyID: company, AccountID: "ben", Name: "Ben", ConversationID: talkID, Line: mate, Show: func(voice.Event) {},
		}
		absent := teammate
		absent.CompanyID = "other"
		if err := other.Join(ctx, absent); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company: %v", err)
		}
		left := make(chan error, 1)
		go func() { left <- other.Join(ctx, teammate) }()
		synctest.Wait()
		second := teammate
		second.AccountID = "ana"
		if err := other.Join(ctx, second); !carillon.IsCode(err, carillon.Conflict) {
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
		go func() { left <- other.Join(ctx, teammate) }()
		synctest.Wait()
		b.mu.Lock()
		b.received = b.received[:0]
		b.mu.Unlock()
		go func() {
			for {
				select {
				case again.in <- make([]int16, 512):
					time.Sleep(32 * time.Millisecond)
				case <-ctx.Done():
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
		runs.Wait()
		time.Sleep(time.Second)
	})
}

func TestAPersonWhoComesBackOnAnotherNodeEndsTheTalkOnThisOne(t *testing.T) {
	b := &bus{}
	talk(t, func(r *rig) { r.nodes = b }, func(r *rig) {
		ctx, stop := context.WithCancel(r.t.Context())
		other := voice.NewSessions(voice.Options{
			Dialogue: r.dialogue, Topics: r.hub, Detector: func(int) voice.Detector { return detector{} }, Nodes: b,
			Log: slog.New(slog.DiscardHandler),
		})
		var runs sync.WaitGroup
		runs.Go(func() { _ = r.sessions.Run(ctx) })
		runs.Go(func() { _ = other.Run(ctx) })
		r.wait(2 * time.Second)
		if len(r.shown(voice.Ended)) != 0 {
			t.Error("it ended before")
		}
		if _, err := other.Open(ctx, voice.Start{CompanyID: company, ConversationID: talkID, Show: func(voice.Event) {}}); err != nil {
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
		runs.Wait()
	})
}
