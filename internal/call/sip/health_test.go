package sip

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/call/rtp/rtptest"
)

func TestATrunkThatHasGoneIsAskedFirst(t *testing.T) {
	inFakeTime(t, func(t *testing.T, n *rtptest.Network) {
		refuse := func(in *Incoming) { in.Refuse(486, "Busy Here") }
		far := engine(t, Options{Network: n, OnCall: refuse})
		trunk := Trunk{Host: far.Address().String(), Transport: "udp"}
		e := engine(t, Options{Network: n})
		var refused *Refused
		if _, err := dial(t, e, Dial{Trunk: trunk}); !errors.As(err, &refused) {
			t.Fatal(err)
		}
		// The known state after another query.
		state := func(lost bool) {
			t.Helper()
			time.Sleep(keepAlive + maxCheck)
			e.health.mu.Lock()
			defer e.health.mu.Unlock()
			if k := *e.health.trunks[trunk.key()]; !k.responds || k.lost != lost {
				t.Fatalf("%+v", k)
			}
		}
		state(false)
		_ = far.Close()
		state(true)
		dead, err := n.ListenPacket(t.Context(), "udp", trunk.Host)
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		listened := make(chan struct{})
		go func() {
			defer close(listened)
			for b := make([]byte, 4096); ; {
				n, _, err := dead.ReadFrom(b)
				if err != nil {
					return
				}
				method, _, _ := strings.Cut(string(b[:n]), " ")
				heard = append(heard, method)
			}
		}()
		begin := time.Now()
		_, err = dial(t, e, Dial{Trunk: trunk})
		if took := time.Since(begin); !errors.Is(err, ErrUnreachable) || took > maxCheck {
			t.Errorf("%v after %v", err, took)
		}
		_ = dead.Close()
		<-listened
		if len(heard) == 0 || slices.ContainsFunc(heard, func(m string) bool { return m != "OPTIONS" }) {
			t.Errorf("it gets %q", heard)
		}
		engine(t, Options{Network: n, Address: trunk.Host, OnCall: refuse})
		if _, err := dial(t, e, Dial{Trunk: trunk}); !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}

func TestARefusalLeavesTheTrunkToOthers(t *testing.T) {
	h := &health{trunks: map[string]*trunkHealth{}}
	one, other := Trunk{Host: "trunk.test", Transport: "udp", Username: "one"},
		Trunk{Host: "trunk.test", Transport: "udp", Username: "other"}
	h.use(one, time.Now())
	h.checked(one, Health{Code: 200})
	for _, code := range []int{401, 403, 404, 503} {
		h.called(one, &Refused{Code: code})
		if h.use(other, time.Now()) {
			t.Errorf("%d makes the trunk suspect", code)
		}
	}
	h.called(one, ErrUnreachable)
	if !h.use(other, time.Now()) {
		t.Error("a trunk that does not respond is not asked")
	}
}
