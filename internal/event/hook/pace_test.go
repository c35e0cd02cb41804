package hook

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestEventsGiveWayAndComeBack(t *testing.T) {
	busy := false
	p := newPace(func() bool { return busy })
	now, sends := time.Now(), true
	look := func(n int) float64 {
		for range n {
			now = now.Add(paceWindow)
			p.waited = sends
			p.adjust(now)
		}
		return p.perSecond()
	}
	if r := look(1); r != paceFirst() {
		t.Errorf("begins with %v events a second, not %v", r, paceFirst())
	}
	sends = false
	if r := look(20); r != paceFirst() {
		t.Errorf("%v events a second although few were sent, not %v", r, paceFirst())
	}
	sends = true
	if r := look(25); r != maxPace { // from 200 a second, on one processor
		t.Errorf("%v events a second after a second with room, not %v", r, maxPace)
	}
	busy = true
	if r := look(10); r != minPace() {
		t.Errorf("%v events a second after half a second without room, not %v", r, minPace())
	}
	busy = false
	now = now.Add(2 * paceIdle) // idle
	if r := look(1); r != paceFirst() {
		t.Errorf("begins again with %v events a second, not %v", r, paceFirst())
	}
}

func TestNoMoreEventsThanThePaceAreSent(t *testing.T) {
	p := newPace(func() bool { return true })
	for range 20 {
		time.Sleep(paceWindow)
		p.adjust(time.Now())
	}
	const each = 13 // of four lanes
	began := time.Now()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range each {
				if err := p.wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	took, least := time.Since(began), time.Duration((4*each-4)/minPace()*float64(time.Second))
	if took < least {
		t.Errorf("%d events took %v, less than %v", 4*each, took, least)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, once it is over", err)
	}
}
