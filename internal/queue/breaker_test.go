package queue

import (
	"testing"
	"time"

	"carillon"
)

func message(i int) carillon.MessageKey { return carillon.MessageKey(i) }

func TestBreakerOpensByDifferentMessagesAlone(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b breaker
	for i := range 20 {
		if b.fail(message(0), carillon.FaultProvider, false, 0, now.Add(time.Duration(i)*time.Second)) {
			t.Fatal("one message that fails again and again opened it")
		}
	}
	b = breaker{}
	for i := range breakerTrip - 1 {
		if b.fail(message(i), carillon.FaultProvider, false, 0, now) {
			t.Fatalf("opened after %d messages", i+1)
		}
	}
	if b.fail(message(90), carillon.FaultThrottled, false, 0, now) {
		t.Fatal("another class of fault opened it")
	}
	if !b.fail(message(91), carillon.FaultProvider, false, 0, now) || !b.open(now) {
		t.Fatal("it did not open")
	}
	for i := range breakerTrip - 1 {
		if b.spared[message(i)] != 1 {
			t.Errorf("the attempt of message %d that opened it counts", i)
		}
	}
}

func TestBreakerForgetsFaultsThatAreOldOrFewAmongGoodAnswers(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b breaker
	for i := range 50 {
		if b.fail(message(i), carillon.FaultUnknown, false, 0, now.Add(time.Duration(i)*(breakerWithin/(breakerTrip-1)+time.Second))) {
			t.Fatal("faults that lie far apart opened it")
		}
	}
	b = breaker{}
	for i := range 100 {
		if b.fail(message(i), carillon.FaultUnknown, false, 0, now) {
			t.Fatal("one fault in three opened it")
		}
		b.answered(now)
		b.answered(now)
	}
	if b.quiet(now) || !b.quiet(now.Add(breakerWithin+time.Second)) {
		t.Error("it does not become quiet with time")
	}
}

func TestBreakerOpensForLongerEachTimeUpToABound(t *testing.T) {
	for _, f := range carillon.Faults() {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		var b breaker
		first, most := waits(f)
		want := first
		for i := range 15 {
			if !b.fail(message(i), f, true, 0, now) {
				t.Fatalf("%s: the message that tried it did not open it again", f)
			}
			pause := b.until.Sub(now)
			if pause < want || pause > want+want/4 {
				t.Fatalf("%s: time %d it is open for %s, want %s and up to a quarter", f, i, pause, want)
			}
			if b.answered(b.until.Add(-time.Millisecond)) {
				t.Fatalf("%s: an answer to what had started before closed it", f)
			}
			now = b.until
			want = min(2*want, most)
		}
		if !b.answered(now) || b.probing() {
			t.Errorf("%s: an answer does not close it", f)
		}
	}
}

func TestBreakerHeedsHowLongTheChannelWantsToRest(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var b breaker
	b.fail(message(0), carillon.FaultThrottled, true, 2*time.Hour, now)
	if d := b.until.Sub(now); d < 2*time.Hour || d > 2*time.Hour+time.Minute {
		t.Errorf("open for %s", d)
	}
	if b.fail(message(1), carillon.FaultAccount, true, 3*time.Hour, now) || b.until.Sub(now) != 3*time.Hour {
		t.Errorf("one that had started before: open for %s", b.until.Sub(now))
	}
}

func TestSparedAttemptsAreBounded(t *testing.T) {
	var b breaker
	now := time.Now()
	for i := range 3 * sparedMost {
		b.spare(message(i), now)
		b.spare(message(0), now)
	}
	if len(b.spared) != sparedMost || b.spared[message(0)] != 3*sparedMost+1 {
		t.Errorf("%d messages, the first %d times", len(b.spared), b.spared[message(0)])
	}
}
