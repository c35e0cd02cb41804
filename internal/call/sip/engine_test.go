package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/audio/audiotest"
	"carillon/internal/call/rtp/rtptest"
)

func engine(t *testing.T, o Options) *Engine {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	e, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func tone(d time.Duration, step int) []int16 {
	pcm := make([]int16, int(d*8000/time.Second))
	v := 1
	for i := range pcm {
		v = (v*1103515245 + 12345 + step) & 0x7fffffff
		if i%40 == 0 {
			pcm[i] = int16(v>>16) / 4
		} else {
			pcm[i] = pcm[i-1] - pcm[i-1]/20
		}
	}
	return pcm
}

// hung is the time after which a wait counts as hung.
const hung = 2 * time.Minute

// await returns the next value of a channel, or its zero value once it is closed.
func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(hung):
		t.Fatal("nothing comes")
	}
	return v
}

// inFakeTime runs a test, which takes as long as its calls, with a fake clock in an in-memory network.
func inFakeTime(t *testing.T, test func(t *testing.T, n *rtptest.Network)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &rtptest.Network{}) })
}

// answerer returns an engine that rings and then answers all calls.
func answerer(t *testing.T, o Options) (e *Engine, answered chan *Call) {
	t.Helper()
	answered = make(chan *Call, 1)
	o.OnCall = func(in *Incoming) {
		go func() {
			_ = in.Progress(180, "Ringing")
			time.Sleep(20 * time.Millisecond)
			c, err := in.Answer(context.Background(), nil)
			if err != nil {
				t.Error(err)
			}
			answered <- c
		}()
	}
	return engine(t, o), answered
}

// pressed reads three keys.
func pressed(t *testing.T, c *Call) (digits string) {
	t.Helper()
	for range 3 {
		digits += string(await(t, c.Digits()))
	}
	return digits
}

func TestACallIsAnsweredTalkedAndHungUp(t *testing.T) {
	t.Parallel()
	for _, by := range []By{Us, Them} {
		t.Run(string(by), func(t *testing.T) {
			inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
				callee, answered := answerer(t, Options{Network: n})
				caller := engine(t, Options{Network: n})
				rang := 0
				c, err := caller.Dial(t.Context(), Dial{
					Trunk: Trunk{Host: callee.Address().String(), Transport: "udp", Encrypt: by == Them}, To: "15555550100",
					From:      "15555550101",
					OnRinging: func(int, string) { rang++ },
				})
				if err != nil {
					t.Fatal(err)
				}
				far := await(t, answered)
				if rang != 1 || c.Encrypted() != (by == Them) {
					t.Errorf("rang %d times, encrypted %v", rang, c.Encrypted())
				}
				there, back := tone(time.Second, 1), tone(time.Second, 7)
				_, _ = c.Write(there), far.Write(back)
				hears := func(s *Call, want []int16, least float64) {
					var all []int16
					ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
					defer cancel()
					for {
						pcm, err := s.Read(ctx)
						if err != nil {
							break
						}
						all = append(all, pcm...)
					}
					if ncc, _ := audiotest.Correlate(all, want); ncc < least {
						t.Errorf("the sound correlates by %.2f", ncc)
					}
				}
				var both sync.WaitGroup
				both.Go(func() { hears(far, there, 0.99) })
				both.Go(func() { hears(c, back, 0.99) })
				both.Wait()
				c.SendDigits("42#")
				if digits := pressed(t, far); digits != "42#" {
					t.Errorf("digits %q", digits)
				}
				if by == Us {
					c.HangUp(t.Context())
				} else {
					far.HangUp(t.Context())
				}
				if a, b := ended(t, c).By, ended(t, far).By; a != by || b == by {
					t.Errorf("ended by %s and %s", a, b)
				}
			})
		})
	}
}

func TestACallIsAnsweredAndHungUpOverSockets(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			callee, answered := answerer(t, Options{})
			trunk := Trunk{Host: callee.Address().String(), Transport: transport, Encrypt: transport == "tcp"}
			c, err := dial(t, engine(t, Options{}), Dial{Trunk: trunk})
			if err != nil {
				t.Fatal(err)
			}
			far := await(t, answered)
			c.SendDigits("42#")
			if digits := pressed(t, far); digits != "42#" {
				t.Errorf("digits %q", digits)
			}
			if transport == "udp" {
				c.HangUp(t.Context())
			} else {
				far.HangUp(t.Context())
			}
			if a, b := ended(t, c).By, ended(t, far).By; (a != Us || b != Them) == (transport == "udp") {
				t.Errorf("ended by %s and %s", a, b)
			}
		})
	}
}

func TestWhatIsRefusedHasItsCode(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		callee := engine(t, Options{Network: n, OnCall: func(in *Incoming) {
			go func() {
				for range 12 {
					_ = in.Progress(183, "Session Progress")
					time.Sleep(5 * time.Millisecond)
				}
				in.Refuse(486, "Busy Here")
			}()
		}})
		rang := 0
		_, err := dial(t, engine(t, Options{Network: n}), Dial{
			Trunk: Trunk{Host: callee.Address().String(), Transport: "udp"}, OnRinging: func(int, string) { rang++ },
		})
		var refused *Refused
		if !errors.As(err, &refused) || refused.Code != 486 || rang != 12 {
			t.Errorf("%v after %d", err, rang)
		}
	})
}

func TestNobodyAnswersOrExists(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		gone := make(chan struct{})
		callee := engine(t, Options{Network: n, OnCall: func(in *Incoming) {
			_ = in.Progress(180, "Ringing")
			go func() {
				<-in.Gone()
				close(gone)
			}()
		}})
		begin := time.Now()
		trunk := Trunk{Host: callee.Address().String(), Transport: "udp"}
		_, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: trunk, Ring: 3 * time.Second})
		if took := time.Since(begin); !errors.Is(err, ErrUnanswered) || took < 3*time.Second || took > 4*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		await(t, gone)
	})
}

// An unreachable host, and one that accepts connections but never responds, are given up.
func TestDeadTrunksAreGivenUp(t *testing.T) {
	t.Parallel()
	t.Run("udp", func(t *testing.T) {
		inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
			e := engine(t, Options{Network: n})
			begin := time.Now()
			_, err := dial(t, e, Dial{Trunk: Trunk{Host: "127.0.0.1:9", Transport: "udp"}})
			if took := time.Since(begin); !errors.Is(err, ErrUnreachable) || took > 8*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for _, c := range []struct{ name, host, transport string }{
		{"udp, over sockets", "127.0.0.1:9", "udp"},
		{"tcp", silent.Addr().String(), "tcp"},
		{"tls", silent.Addr().String(), "tls"},
		{"refused", "127.0.0.1:9", "tcp"},
		{"no name", "carillon.invalid", "udp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := engine(t, Options{TLSFiles: &tls.Config{MinVersion: tls.VersionTLS12}})
			e.patience = 400 * time.Millisecond
			if _, err := dial(t, e, Dial{Trunk: Trunk{Host: c.host, Transport: c.transport}}); !errors.Is(err, ErrUnreachable) {
				t.Error(err)
			}
		})
	}
}

// A call whose far side disappeared without a BYE is ended.
func TestACallWithoutSoundIsEnded(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		callee, answered := answerer(t, Options{Network: n, Silent: time.Hour})
		c, err := dial(t, engine(t, Options{Network: n}), Dial{Trunk: Trunk{Host: callee.Address().String(), Transport: "udp"}})
		if err != nil {
			t.Fatal(err)
		}
		far := await(t, answered)
		time.Sleep(time.Minute)
		select {
		case <-c.Done():
			t.Fatalf("a call with sound is ended: %+v", c.Cause())
		default:
		}
		_ = far.Session.Close()
		begin := time.Now()
		cause := ended(t, c)
		if took := time.Since(begin); cause != (Cause{System, "no sound came for 20s"}) || took < 19*time.Second || took > 22*time.Second {
			t.Errorf("%+v after %v", cause, took)
		}
		if far := ended(t, far); far.By != Them { // it still gets a BYE
			t.Errorf("%+v", far)
		}
	})
}

// On a machine with several addresses, the far side only accepts sound from the one named in the SDP.
func TestSoundIsSentFromTheAddressOfSIP(t *testing.T) {
	for own, want := range map[string]string{"127.0.0.41:0": "127.0.0.41", "0.0.0.0:0": "0.0.0.0"} {
		e, err := New(t.Context(), Options{Address: own, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c, err := e.ports.open(t.Context(), e.soundHost(e.hostFor("127.0.0.1:5060")))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().String(); got != want && !(want == "0.0.0.0" && got == "::") {
			t.Errorf("sound of %s is sent from %s", own, got)
		}
		if err := errors.Join(c.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}
}
