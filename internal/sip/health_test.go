package sip

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestATrunkThatHasGoneIsAskedFirst(t *testing.T) {
	t.Parallel()
	refuse := func(in *Incoming) { in.Refuse(486, "Busy Here") }
	far := engine(t, Options{OnCall: refuse})
	trunk := Trunk{Host: far.Address().String(), Transport: "udp"}
	e := engine(t, Options{KeepAlive: 100 * time.Millisecond})
	var refused *Refused
	if _, err := dial(t, e, Dial{Trunk: trunk}); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	state := func(lost bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			e.health.mu.Lock()
			k := *e.health.trunks[trunk.key()]
			e.health.mu.Unlock()
			if k.responds && k.lost == lost {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%+v", k)
			}
		}
	}
	state(false)
	_ = far.Close()
	state(true)
	dead, err := net.ListenPacket("udp4", trunk.Host)
	if err != nil {
		t.Fatal("the port was taken meanwhile: ", err)
	}
	begin := time.Now()
	if _, err := dial(t, e, Dial{Trunk: trunk}); !errors.Is(err, ErrUnreachable) || time.Since(begin) > 2*checkMost {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	_ = dead.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	for b := make([]byte, 4096); ; {
		n, _, err := dead.ReadFrom(b)
		if err != nil {
			break
		}
		if strings.HasPrefix(string(b[:n]), "INVITE") {
			t.Error("it was called")
		}
	}
	_ = dead.Close()
	engine(t, Options{Address: trunk.Host, OnCall: refuse})
	if _, err := dial(t, e, Dial{Trunk: trunk}); !errors.As(err, &refused) {
		t.Error(err)
	}
}

func TestARefusalLeavesTheTrunkToOthers(t *testing.T) {
	h := &health{trunks: map[string]*trunkHealth{}}
	one, other := Trunk{Host: "trunk.test", Transport: "udp", Username: "one"}, Trunk{Host: "trunk.test", Transport: "udp", Username: "other"}
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
