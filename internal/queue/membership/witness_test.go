package membership

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/store/work"
)

func TestACounterThatFellShowsLostCommits(t *testing.T) {
	nodes := func(beat int64) []work.Node { return []work.Node{{ID: "other", Beat: 1}, {ID: "self", Beat: beat}} }
	shard := func(epoch int64) []work.Shard { return []work.Shard{{ID: 3, Epoch: epoch}} }
	for name, c := range map[string]struct {
		turns  []int64 // beats, then the same as epochs
		epochs []int64
		want   string
	}{
		"they rise":               {[]int64{7, 8, 9}, []int64{1, 1, 2}, ""},
		"they stand still":        {[]int64{7, 7}, []int64{2, 2}, ""},
		"the heartbeat fell":      {[]int64{7, 8, 7}, []int64{1, 1, 1}, "heartbeat 8 is followed by 7"},
		"the epoch fell":          {[]int64{7, 8, 9}, []int64{1, 5, 4}, "epoch 5 of shard 3 is followed by 4"},
		"the node was replaced":   {[]int64{0, 0}, []int64{1, 2}, ""},
		"an epoch fell to naught": {[]int64{7, 8}, []int64{3, 0}, "epoch 3 of shard 3 is followed by 0"},
	} {
		var w witness
		got := ""
		for i, beat := range c.turns {
			got = w.look(nodes(beat), shard(c.epochs[i]), "self")
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestClocksAreComparedWithTheMiddleOfAll(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		own    time.Duration
		others []time.Duration
		want   time.Duration
	}{
		"alone, the database's clock is behind": {own: time.Hour},
		"all agree, the database's is behind":   {own: time.Hour, others: []time.Duration{time.Hour, time.Hour}},
		"ahead of one":                          {own: 600 * ms, others: []time.Duration{0}, want: 600 * ms},
		"the other one is ahead":                {own: 0, others: []time.Duration{time.Hour}},
		"behind one":                            {own: -time.Hour, others: []time.Duration{0}, want: -time.Hour},
		"the other one is behind":               {own: 0, others: []time.Duration{-time.Hour}},
		"ahead of two":                          {own: time.Hour, others: []time.Duration{0, 10 * ms}, want: time.Hour},
		"as many clocks say otherwise":          {own: time.Hour, others: []time.Duration{time.Hour, 0}, want: time.Hour},
	} {
		nodes := []work.Node{{ID: "self", Ahead: 5 * time.Hour}, {ID: "leaving", Ahead: -time.Hour, Fit: work.Leaving}}
		for _, ahead := range c.others {
			nodes = append(nodes, work.Node{ID: "other", Ahead: ahead, Fit: work.Fit})
		}
		if got := apart(c.own, nodes, "self"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
