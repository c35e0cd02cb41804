package store

import (
	"runtime"
	"time"
)

// turns decides for one committer what its next transaction holds.
type turns struct {
	c          *committer
	in, behind chan *work // nil once closed and empty
	yield      bool       // the last batch was of callers: what is behind goes before the next one
	alone      *work      // was taken from behind, and must be run by itself
	spent      time.Duration
}

// next fills a batch, waiting for its first write; it stays empty when the committer is closed and all is done.
func (t *turns) next(batch []*work) []*work {
	w := t.first()
	if w == nil {
		return batch
	}
	batch = append(batch, w)
	if w.kind >= workAlone {
		t.yield = false
		return batch
	}
	if w.callers() {
		t.c.linger()
	}
	many := len(t.in) >= togetherFrom
	if t.yield = w.callers(); t.yield || many {
		batch = t.gather(batch, t.in)
	}
	if !t.yield || many {
		batch = t.gather(batch, t.behind)
	}
	return batch
}

// first waits for a write and takes it.
func (t *turns) first() *work {
	if t.yield {
		if w := t.pollBehind(); w != nil {
			return w
		}
	}
	if w := t.poll(&t.in); w != nil {
		return w
	}
	if t.alone != nil {
		return t.pollBehind()
	}
	for t.in != nil || t.behind != nil {
		from := &t.in
		var w *work
		select {
		case w = <-t.in:
		case w = <-t.behind:
			from = &t.behind
		}
		if w != nil {
			t.c.leave(w)
			return w
		}
		*from = nil
	}
	return nil
}

// pollBehind takes what is not of callers, where it waits.
func (t *turns) pollBehind() *work {
	if w := t.alone; w != nil {
		t.alone = nil
		return w
	}
	return t.poll(&t.behind)
}

// poll takes a write where one waits.
func (t *turns) poll(from *chan *work) *work {
	select {
	case w := <-*from:
		if w == nil && *from != nil {
			*from = nil // closed
			return nil
		}
		t.c.leave(w)
		return w
	default:
		return nil
	}
}

// gather adds what waits already. A write that must be alone ends the batch and is the next of those behind.
func (t *turns) gather(batch []*work, from chan *work) []*work {
	for len(batch) < batchMax && (t.alone == nil || from == t.in) {
		w := t.poll(&from)
		switch {
		case w == nil:
			return batch
		case w.kind >= workAlone:
			t.alone = w
		default:
			batch = append(batch, w)
		}
	}
	return batch
}

// note takes in what a transaction took. For callers that wait, the turns of others are part of it.
func (t *turns) note(batch []*work, took time.Duration) {
	if !batch[0].callers() && len(t.in) == 0 {
		t.spent = 0
		return
	}
	t.spent += took
	if batch[0].callers() || batch[len(batch)-1].callers() {
		t.c.note(t.spent)
		t.spent = 0
	}
}

// linger lets the requests that are being read put their writes into this batch too, as long as more of them come. On
// an idle node it costs nothing.
func (c *committer) linger() {
	for n := -1; n < len(c.in); {
		n = len(c.in)
		runtime.Gosched()
	}
}

// callers tells whether somebody outside waits for the write.
func (w *work) callers() bool { return w.kind == workAccept || w.kind == workReceipt }
