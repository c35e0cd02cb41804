package faults

import (
	"testing"
	"time"
)

// TestFaultsWaitsOfAMonth kills the only node while runs wait for 31 days, over a change to daylight saving time in
// its zone. A run does nothing before its time and continues at its time; one that became due while the node was down
// continues too. Then the node dies after placing a call whose outcome it did not store, for longer than the call's
// key is remembered: the call is not placed again.
func TestFaultsWaitsOfAMonth(t *testing.T) {
	long(t)
	t.Parallel()
	s := newStepSite(t, "sqlite", "127.0.0.48")
	n := s.nodes["0"]
	n.kill()
	c := clocked(t, n)
	n.env = append(n.env, "TZ=Europe/Madrid")
	set := func(when time.Time) { // sets the machine's clock while the program is down
		s.ahead = time.Until(when).Truncate(time.Second)
		c.set(t, s.ahead)
	}
	now := func() time.Time { return time.Now().Add(s.ahead) }
	const day = 24 * time.Hour

	begin := time.Date(time.Now().Year()+1, time.March, 10, 10, 0, 0, 0, time.UTC) // clocks go forward in its last days
	set(begin)
	n.start()
	first := s.month("346000900001")
	set(begin.Add(day))
	second := s.month("346000900002")
	if d := second.Sub(first); d < day-time.Minute || d > day+time.Minute {
		t.Errorf("the second is due %s after the first", d)
	}

	n.kill()
	set(first.Add(-6 * time.Second))
	n.start()
	if !await(t.Context(), time.Minute, func() bool { return s.ordered("346000900001") > 0 }) {
		t.Fatal("it does not go on at its time")
	}
	if late := now().Sub(first); late < 0 || late > 2*time.Second {
		t.Errorf("it goes on %s after its time", late)
	}

	n.kill()
	set(second.Add(5 * day))
	n.start()
	if !await(t.Context(), time.Minute, func() bool { return s.ordered("346000900002") > 0 }) {
		t.Fatal("what was due while the node was down does not go on")
	}

	for _, k := range kindsOfSteps {
		for _, d := range k.deaths() {
			if k.name != "place_call" || d.name != "before the commit of the outcome" {
				continue
			}
			s.die(d)
			set(now().Add(day))
			n.start()
			d.unknown = true
			s.judge([]*death{d})
		}
	}
	if a, b := s.ordered("346000900001"), s.ordered("346000900002"); a != 1 || b != 1 {
		t.Errorf("the shop was asked %d and %d times", a, b)
	}
}

// month starts a wait of a month for a person, and returns its end.
func (s *stepSite) month(number string) time.Time {
	s.t.Helper()
	s.write(number, number, "walk month")
	var due, began int64
	s.awaiting(30*time.Second, "a wait of a month", func() bool {
		return s.db.QueryRowContext(s.t.Context(),
			"SELECT due_at, changed_at FROM flow_run WHERE state = 'waiting' AND variables LIKE '%' || $1 || '%'",
			number).Scan(&due, &began) == nil
	})
	if want := (31 * 24 * time.Hour).Milliseconds(); due-began != want {
		s.t.Errorf("a wait of 31 days is one of %d ms, not %d", due-began, want)
	}
	return time.UnixMilli(due)
}

// ordered returns how often the shop received a request for a number.
func (s *stepSite) ordered(number string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[number]
}
