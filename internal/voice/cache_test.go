package voice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/agent"
)

// slow is a Speaker that needs 100 ms for the sound of each letter, which is 100 ms long.
type slow struct {
	calls atomic.Int32
	fail  error
}

func (s *slow) Speak(ctx context.Context, u Utterance, emit func(pcm []int16) error) error {
	s.calls.Add(1)
	for _, r := range u.Text {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := emit(slices.Repeat([]int16{int16(r)}, u.Rate/10)); err != nil {
			return err
		}
	}
	return s.fail
}

func spokenText(text string) Utterance {
	return Utterance{CompanyID: "c", Voice: (&agent.Voice{}).Settings(), Language: "en", Text: text, Rate: 8000}
}

func soundOf(ctx context.Context, t *testing.T, s Speaker, u Utterance) (string, error) {
	t.Helper()
	var text strings.Builder
	err := s.Speak(ctx, u, func(pcm []int16) error {
		for i := 0; i < len(pcm); i += u.Rate / 10 {
			text.WriteRune(rune(pcm[i]))
		}
		clear(pcm) // a listener may modify its copy
		return nil
	})
	return text.String(), err
}

func TestWhatWasSpokenIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &slow{}
		c := NewCache(next, 0)
		for i := range 3 {
			begin := time.Now()
			if got, err := soundOf(t.Context(), t, c, spokenText("hello")); got != "hello" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if took := time.Since(begin); (took > 0) != (i == 0) {
				t.Errorf("time %d took %v", i, took)
			}
		}
		for name, change := range map[string]func(u *Utterance){
			"company":  func(u *Utterance) { u.CompanyID = "d" },
			"language": func(u *Utterance) { u.Language = "es" },
			"text":     func(u *Utterance) { u.Text = "hellO" },
			"rate":     func(u *Utterance) { u.Rate = 16000 },
			"speed":    func(u *Utterance) { u.Voice.Speed = 2 },
			"name":     func(u *Utterance) { u.Voice.Name = "f" },
			"speaker":  func(u *Utterance) { u.Voice.Speaker = "openai" },
			"server":   func(u *Utterance) { u.Voice.SpeakerService = &agent.Service{BaseURL: "https://x.test"} },
		} {
			u, before := spokenText("hello"), next.calls.Load()
			change(&u)
			if _, err := soundOf(t.Context(), t, c, u); err != nil || next.calls.Load() != before+1 {
				t.Errorf("another %s: %v, %d calls", name, err, next.calls.Load()-before)
			}
		}
	})
}

func TestOnePromptIsMadeForAllWhoAskForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &slow{}
		c := NewCache(next, 0)
		var all sync.WaitGroup
		for i := range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			all.Go(func() {
				defer cancel()
				<-time.After(time.Duration(i) * 70 * time.Millisecond)
				begin := time.Now()
				got, err := soundOf(ctx, t, c, spokenText("hello"))
				if i > 0 && (got != "hello" || err != nil || time.Since(begin) > 450*time.Millisecond) {
					t.Errorf("listener %d: %q, %v after %v", i, got, err, time.Since(begin))
				}
				if i == 0 && (got != "he" || !errors.Is(err, context.Canceled)) {
					t.Errorf("who left: %q, %v", got, err)
				}
			})
			if i == 0 {
				time.AfterFunc(250*time.Millisecond, cancel)
			}
		}
		all.Wait()
		if n := next.calls.Load(); n != 1 {
			t.Errorf("made %d times", n)
		}
	})
}

func TestWhatNobodyListensToIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &slow{}
		c := NewCache(next, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		if got, err := soundOf(ctx, t, c, spokenText("hello")); got != "he" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := soundOf(t.Context(), t, c, spokenText("hello")); got != "hello" || err != nil || next.calls.Load() != 2 {
			t.Errorf("%q, %v, made %d times", got, err, next.calls.Load())
		}
		unheard := errors.New("unheard")
		if err := c.Speak(t.Context(), spokenText("bye"), func([]int16) error { return unheard }); !errors.Is(err, unheard) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if len(c.entries) != 1 {
			t.Errorf("%d entries", len(c.entries))
		}
	})
}

func TestWhatFailedIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &slow{fail: errors.New("broken")}
		c := NewCache(next, 0)
		for range 2 {
			if got, err := soundOf(t.Context(), t, c, spokenText("hello")); got != "hello" || !errors.Is(err, next.fail) {
				t.Errorf("%q, %v", got, err)
			}
		}
		if next.calls.Load() != 2 || len(c.entries) != 0 || c.size != 0 {
			t.Errorf("made %d times, %d kept", next.calls.Load(), len(c.entries))
		}
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &slow{}
		c := NewCache(next, 10*1600) // ten letters
		say := func(text string, made int32) {
			t.Helper()
			before := next.calls.Load()
			if got, err := soundOf(t.Context(), t, c, spokenText(text)); got != text || err != nil || next.calls.Load()-before != made {
				t.Errorf("%q: %q, %v, made %d times", text, got, err, next.calls.Load()-before)
			}
		}
		for _, text := range []string{"aa", "bb", "cc", "dd", "ee"} {
			say(text, 1)
		}
		say("aa", 0)
		say("ff", 1) // bb is the most recently used one
		say("aa", 0)
		say("bb", 1)
		say("long", 1)
		say("long", 1) // too long for the cache
		if c.size > c.max {
			t.Errorf("%d bytes", c.size)
		}
	})
}
