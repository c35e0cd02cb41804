package lane

import (
	"testing"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store/work"
)

func message(i int) work.Key { return work.Key(i) }

func TestBreakerOpensByDifferentMessagesAlone(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b Breaker
	for i := range 20 {
		if b.RecordFault(message(0), provider.FaultProvider, false, 0, now.Add(time.Duration(i)*time.Second)) {
			t.Fatal("one message that fails again and again opened it")
		}
	}
	b = Breaker{}
	for i := range BreakerTrip - 1 {
		if b.RecordFault(message(i), provider.FaultProvider, false, 0, now) {
			t.Fatalf("opened after %d messages", i+1)
		}
	}
	if b.RecordFault(message(90), provider.FaultThrottled, false, 0, now) {
		t.Fatal("another class of fault opened it")
	}
	if !b.RecordFault(message(91), provider.FaultProvider, false, 0, now) || !b.Open(now) {
		t.Fatal("it did not open")
	}
	for i := range BreakerTrip - 1 {
		if b.forgiven[message(i)] != 1 {
			t.Errorf("the attempt of message %d that opened it counts", i)
		}
	}
}

func TestBreakerForgetsFaultsThatAreOldOrFewAmongGoodAnswers(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b Breaker
	for i := range 50 {
		if b.RecordFault(message(i), provider.FaultUnknown, false, 0,
			now.Add(time.Duration(i)*(BreakerWithin/(BreakerTrip-1)+time.Second))) {
			t.Fatal("faults that lie far apart opened it")
		}
	}
	b = Breaker{}
	for i := range 100 {
		if b.RecordFault(message(i), provider.FaultUnknown, false, 0, now) {
			t.Fatal("one fault in three opened it")
		}
		b.RecordSuccess(now)
		b.RecordSuccess(now)
	}
	if b.Quiet(now) || !b.Quiet(now.Add(BreakerWithin+time.Second)) {
		t.Error("it does not become quiet with time")
	}
}

func TestBreakerOpensForLongerEachTimeUpToABound(t *testing.T) {
	for _, f := range provider.Faults() {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		var b Breaker
		first, most := openFor(f)
		want := first
		for i := range 15 {
			if !b.RecordFault(message(i), f, true, 0, now) {
				t.Fatalf("%s: the message that tried it did not open it again", f)
			}
			pause := b.Until.Sub(now)
			if pause < want || pause > want+want/4 {
				t.Fatalf("%s: time %d it is open for %s, want %s and up to a quarter", f, i, pause, want)
			}
			if b.RecordSuccess(b.Until.Add(-time.Millisecond)) {
				t.Fatalf("%s: an answer to what had started before closed it", f)
			}
			now = b.Until
			want = min(2*want, most)
		}
		if !b.RecordSuccess(now) || b.Tripped() {
			t.Errorf("%s: an answer does not close it", f)
		}
	}
}

func TestBreakerHeedsHowLongTheChannelWantsToRest(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b Breaker
	b.RecordFault(message(0), provider.FaultThrottled, true, 2*time.Hour, now)
	if d := b.Until.Sub(now); d < 2*time.Hour || d > 2*time.Hour+time.Minute {
		t.Errorf("open for %s", d)
	}
	if b.RecordFault(message(1), provider.FaultAccount, true, 3*time.Hour, now) || b.Until.Sub(now) != 3*time.Hour {
		t.Errorf("one that had started before: open for %s", b.Until.Sub(now))
	}
}

func TestSparedAttemptsAreBounded(t *testing.T) {
	var b Breaker
	now := time.Now()
	for i := range 3 * maxForgiven {
		b.Forgive(message(i), now)
		b.Forgive(message(0), now)
	}
	if len(b.forgiven) != maxForgiven || b.forgiven[message(0)] != 3*maxForgiven+1 {
		t.Errorf("%d messages, the first %d times", len(b.forgiven), b.forgiven[message(0)])
	}
}

func TestProbesGoOnToOtherClasses(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ due, want []int }{
		"each in turn":                   {[]int{9, 9, 9}, []int{0, 1, 2, 0, 1}},
		"a class without work is passed": {[]int{9, 0, 9}, []int{0, 2, 0, 2}},
		"one alone":                      {[]int{0, 9, 0}, []int{1, 1, 1}},
	} {
		l := due(now, c.due...)
		l.Breaker = &Breaker{}
		l.Breaker.RecordFault(message(0), provider.FaultProvider, true, 0, now)
		for i, want := range c.want {
			now := l.Breaker.Until
			got, ok := l.Pick(now)
			if !ok || got != want {
				t.Errorf("%s: probe %d is of class %d, want %d", name, i, got, want)
			}
			m := l.Buffers[got].Pop()
			l.Breaker.RecordFault(m.Key, provider.FaultProvider, false, 0, now)
			m.Due = l.Breaker.Until // it returns behind those of its class that have not been tried
			l.Buffers[got].Push(m)
		}
	}
}

func TestTheLastAttemptOfAMessageThatFailedAloneCounts(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	bad, whole := message(1), message(2)
	var b Breaker
	b.RecordFault(whole, provider.FaultUnreachable, true, 0, now)
	b.Forgive(whole, now)
	for range 3 {
		now = b.Until
		b.RecordFault(bad, provider.FaultProvider, false, 0, now)
		b.Forgive(bad, now)
	}
	if !b.RecordSuccess(b.Until) || b.forgiven[bad] != 2 || b.forgiven[whole] != 1 {
		t.Errorf("%d of its 3 attempts are forgiven, and %d of the one that met the outage", b.forgiven[bad], b.forgiven[whole])
	}
}
