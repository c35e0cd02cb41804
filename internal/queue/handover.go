package queue

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/store/work"
)

// handover gives shards to other nodes without causing unknown outcomes: a closing shard starts nothing more, work in
// flight gets its response and is written, and only then is the shard given back. The next owner finds nothing in
// flight and waits a second for the pacing.
//
//	owned ── shed ──▶ closing ── nothing in flight ──▶ given ──▶ another node takes it
//	  ▲                  │
//	  └── maxHandOver ──┘ a provider hangs: canceled, another shard is tried
type handover struct{ d *dispatcher }

const (
	maxHandOver  = 5 * time.Second  // limit of the time in which a shard starts nothing
	handOverRest = 30 * time.Second // pause after that
)

// shed brings the number of shards in hand-over to n, beginning with those with the least work in flight.
func (h *handover) shed(n int, now time.Time) {
	var open, closing []*shard
	for _, s := range h.d.shards {
		switch {
		case s.closing:
			closing = append(closing, s)
		case !now.Before(s.keep):
			open = append(open, s)
		}
	}
	for ; len(closing) > n; closing = closing[1:] {
		h.reopen(closing[0], now)
	}
	slices.SortFunc(open, func(a, b *shard) int { return cmp.Or(cmp.Compare(a.inFlight(), b.inFlight()), cmp.Compare(a.id, b.id)) })
	for _, s := range open[:min(len(open), n-len(closing))] {
		h.close(s, now.Add(maxHandOver))
	}
	h.d.upkeepDue = true
}

// closeAll begins to hand over all shards because the node is leaving. A single node has no other node to hand over
// to.
func (h *handover) closeAll() {
	if h.d.q.members.Alone() {
		return
	}
	for _, s := range h.d.shards {
		h.close(s, time.Time{})
	}
}

func (h *handover) close(s *shard, until time.Time) {
	s.closing, s.until, h.d.upkeepDue = true, until, true
	for _, k := range h.d.kinds {
		k.halt(s.id, true, time.Time{})
	}
}

// reopen cancels a hand-over.
func (h *handover) reopen(s *shard, now time.Time) {
	s.closing = false
	for _, k := range h.d.kinds {
		k.halt(s.id, false, now)
	}
}

// giveQuiet gives back the closing shards without work in flight.
func (h *handover) giveQuiet(now time.Time) {
	var quiet []work.Fence
	for _, s := range h.d.shards {
		switch {
		case !s.closing:
		case h.quiet(s):
			quiet = append(quiet, h.d.fence(s))
		case !s.until.IsZero() && now.After(s.until):
			s.keep = now.Add(handOverRest)
			h.reopen(s, now)
		}
	}
	if len(quiet) == 0 {
		return
	}
	for _, f := range quiet {
		h.d.lose(f.Shard)
	}
	h.d.q.members.Give(quiet)
}

// quiet reports whether the results of all work that this node began in a shard are written. This node writes those of
// lasting work even if another node owns the shard.
func (h *handover) quiet(s *shard) bool {
	for i, w := range s.work {
		if w.unwritten > 0 || w.busy || w.audit {
			return false
		}
		for _, o := range h.d.kinds[i].orphans {
			if shardOf(o.wake.SenderUID) == s.id {
				return false
			}
		}
	}
	return true
}

// inFlight is the amount of work of all kinds that keeps the shard from being handed over.
func (s *shard) inFlight() (n int) {
	for _, w := range s.work {
		n += w.unwritten
	}
	return n
}
