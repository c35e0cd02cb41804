package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"carillon/internal/audio"
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

func TestACallIsAnsweredTalkedAndHungUp(t *testing.T) {
	for _, transport := range []string{"udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			answered := make(chan *Call, 1)
			callee := engine(t, Options{OnCall: func(in *Incoming) {
				go func() {
					_ = in.Progress(180, "Ringing")
					time.Sleep(20 * time.Millisecond)
					c, err := in.Answer(context.Background(), nil)
					if err != nil {
						t.Error(err)
					}
					answered <- c
				}()
			}})
			caller := engine(t, Options{})
			rang := 0
			c, err := caller.Dial(t.Context(), Dial{
				Trunk: Trunk{Host: callee.Address().String(), Transport: transport, Encrypt: transport == "tcp"}, To: "15555550100", From: "15555550101",
				OnRinging: func(int, string) { rang++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			far := <-answered
			if rang != 1 || c.Encrypted() != (transport == "tcp") {
				t.Errorf("rang %d times, encrypted %v", rang, c.Encrypted())
			}
			there, back := tone(time.Second, 1), tone(time.Second, 7)
			_, _ = c.Write(there), far.Write(back)
			c.SendDigits("42#")
			got := make(chan []int16, 2)
			for _, s := range []*Call{far, c} {
				go func() {
					var all []int16
					ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)
					defer cancel()
					for {
						pcm, err := s.Read(ctx)
						if err != nil {
							break
						}
						all = append(all, pcm...)
					}
					ncc1, _ := audio.Correlate(all, there)
					ncc2, _ := audio.Correlate(all, back)
					if max(ncc1, ncc2) < 0.5 { // the digits interrupt one of them
						t.Errorf("%.2f %.2f", ncc1, ncc2)
					}
					got <- all
				}()
			}
			digits := ""
			for range 3 {
				select {
				case d := <-far.Digits():
					digits += string(d)
				case <-time.After(2 * time.Second):
				}
			}
			if digits != "42#" {
				t.Errorf("digits %q", digits)
			}
			<-got
			<-got
			if transport == "udp" {
				c.HangUp(t.Context())
			} else {
				far.HangUp(t.Context())
			}
			for _, s := range []*Call{far, c} {
				select {
				case <-s.Done():
				case <-time.After(2 * time.Second):
					t.Error("a side goes on")
				}
			}
			if a, b := c.Cause().By, far.Cause().By; (a != Us || b != Them) == (transport == "udp") {
				t.Errorf("ended by %s and %s", a, b)
			}
		})
	}
}

func TestWhatIsRefusedHasItsCode(t *testing.T) {
	t.Parallel()
	callee := engine(t, Options{OnCall: func(in *Incoming) {
		go func() {
			for range 12 {
				_ = in.Progress(183, "Session Progress")
				time.Sleep(5 * time.Millisecond)
			}
			in.Refuse(486, "Busy Here")
		}()
	}})
	caller := engine(t, Options{})
	rang := 0
	_, err := caller.Dial(t.Context(), Dial{Trunk: Trunk{Host: callee.Address().String(), Transport: "udp"}, To: "1", From: "2", OnRinging: func(int, string) { rang++ }})
	var refused *Refused
	if !errors.As(err, &refused) || refused.Code != 486 || rang != 12 {
		t.Errorf("%v after %d", err, rang)
	}
}

func TestNobodyAnswersOrExists(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	callee := engine(t, Options{OnCall: func(in *Incoming) {
		_ = in.Progress(180, "Ringing")
		go func() {
			<-in.Gone()
			close(gone)
		}()
	}})
	caller := engine(t, Options{})
	begin := time.Now()
	_, err := caller.Dial(t.Context(), Dial{Trunk: Trunk{Host: callee.Address().String(), Transport: "udp"}, To: "1", From: "2", Ring: 300 * time.Millisecond})
	if !errors.Is(err, ErrUnanswered) || time.Since(begin) > 3*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	select {
	case <-gone:
	case <-time.After(time.Second):
		t.Error("the telephone goes on ringing")
	}
}

// A host that is not there, and one that takes connections and says nothing, are given up in time.
func TestDeadTrunksAreGivenUp(t *testing.T) {
	t.Parallel()
	if unreachableAfter > 8*time.Second {
		t.Error("a dead host is given up late")
	}
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, c := range []struct{ name, host, transport string }{
		{"udp", "127.0.0.1:9", "udp"},
		{"tcp", silent.Addr().String(), "tcp"},
		{"tls", silent.Addr().String(), "tls"},
		{"refused", "127.0.0.1:9", "tcp"},
		{"no name", "carillon.invalid", "udp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := engine(t, Options{TLSFiles: &tls.Config{MinVersion: tls.VersionTLS12}})
			e.patience = 400 * time.Millisecond
			begin := time.Now()
			_, err := e.Dial(t.Context(), Dial{Trunk: Trunk{Host: c.host, Transport: c.transport}, To: "1", From: "2"})
			if !errors.Is(err, ErrUnreachable) || time.Since(begin) > 3*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
	}
}
