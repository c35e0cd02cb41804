package queue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store"
)

// due is a lane with so many messages due of each class.
func due(now time.Time, perClass ...int) *lane {
	l := &lane{sender: &carillon.Sender{}, credit: weights, index: -1, space: new(spacer)}
	for c, n := range perClass {
		rows := make([]store.Queued, n)
		for i := range rows {
			rows[i] = store.Queued{Key: carillon.Seq(c).Message(i), Number: "34600111222", Due: now.Add(-time.Second)}
		}
		l.class[c].fill(rows, false, time.Time{})
	}
	return l
}

// picks takes n turns and counts them by class.
func (l *lane) picks(now time.Time, n int) (got [carillon.Classes]int) {
	for range n {
		c, ok := l.pick(now)
		if !ok {
			return got
		}
		l.class[c].queue = l.class[c].queue[1:]
		got[c]++
	}
	return got
}

func TestClassesAreServedEightToThreeToOne(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := due(now, 100, 100, 100)
	for round := range 8 {
		if d := cmp.Diff([carillon.Classes]int{8, 3, 1}, l.picks(now, 12)); d != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, d)
		}
	}
}

func TestTurnsThatAClassDoesNotUsePassOn(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		due  []int
		n    int
		want [carillon.Classes]int
	}{
		{[]int{0, 100, 100}, 40, [carillon.Classes]int{0, 30, 10}},
		{[]int{0, 0, 100}, 50, [carillon.Classes]int{0, 0, 50}},
		{[]int{100, 0, 100}, 45, [carillon.Classes]int{40, 0, 5}},
		{[]int{3, 100, 100}, 7, [carillon.Classes]int{3, 3, 1}}, // the three are served first, and nobody waits for more of them
	} {
		if d := cmp.Diff(c.want, due(now, c.due...).picks(now, c.n)); d != "" {
			t.Errorf("%v due (-want +got):\n%s", c.due, d)
		}
	}
}

func TestNoLaneTakesMoreThanItsShareOfTheProcess(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		lanes, laneCap, processCap int
		most, total                int
	}{
		{1, 0, 0, 64, 64},
		{17, 0, 0, 64, 1024},
		{4, 500, 256, 32, 128}, // whatever is asked for, an eighth is the most
		{100, 64, 1024, 2 * turnRows, 1024},
	} {
		q := New(nil, Options{LaneCap: c.laneCap, ProcessCap: c.processCap})
		q.beat.forever.Store(true)
		p := &pump{q: q, lanes: map[int64]*lane{}, shards: map[int]*shardState{}}
		for i := range c.lanes {
			l := due(now, 100, 100, 100)
			l.uid, l.inReady = int64(i), true
			p.lanes[l.uid] = l
			p.ready = append(p.ready, l)
		}
		flights := p.choose(now)
		if len(flights) != c.total {
			t.Errorf("%d lanes start %d messages, want %d", c.lanes, len(flights), c.total)
		}
		for _, l := range p.lanes {
			if l.flying > c.most {
				t.Errorf("of %d lanes one has %d in flight, want at most %d", c.lanes, l.flying, c.most)
			}
		}
	}
}
