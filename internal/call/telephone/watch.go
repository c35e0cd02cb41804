package telephone

import (
	"context"
	"sync"

	"carillon/internal/call/callee"
	"carillon/internal/voice"
)

// watched is the line of a call that we placed, whose sound and words show who answered. It holds nothing back: a
// person's first words reach the conversation while the callee is being judged.
type watched struct {
	voice.Line
	found func() // called once, when a machine is recognized

	mu      sync.Mutex
	tracker *callee.Tracker // nil: not judged
}

func newWatched(line voice.Line, judged, words bool) *watched {
	w := &watched{Line: line}
	if judged {
		w.tracker = callee.New(line.Rate(), words)
	}
	return w
}

// Read implements voice.Line.
func (w *watched) Read(ctx context.Context) ([]int16, error) {
	pcm, err := w.Line.Read(ctx)
	if err == nil {
		w.judge(func(t *callee.Tracker) { t.Sound(pcm) })
	}
	return pcm, err
}

// understood adds words of the callee.
func (w *watched) understood(text string, final bool) {
	w.judge(func(t *callee.Tracker) { t.Words(text, final) })
}

func (w *watched) judge(add func(t *callee.Tracker)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tracker == nil {
		return
	}
	before := w.tracker.Kind()
	add(w.tracker)
	if before == callee.Unknown && w.tracker.Kind().Machine() {
		w.found()
	}
}

// machine returns the tracker of a machine, or nil if the callee may be a person.
func (w *watched) machine() *callee.Tracker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tracker == nil || !w.tracker.Kind().Machine() {
		return nil
	}
	return w.tracker
}
