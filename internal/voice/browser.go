package voice

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/agent/knowledge"
)

// Times of the recognizer in a person's browser.
const (
	finalWait     = 800 * time.Millisecond // after the detected end of the speech
	lateFinal     = 2 * time.Second        // a later final no longer corrects the record
	maxHypotheses = 16                     // kept; the oldest are forgotten
	echoMemory    = 5 * time.Second
	echoTail      = 300 * time.Millisecond // from the end of our sound to the person's microphone
	echoShare     = 0.8                    // of the words of a text that is an echo
)

// HeardByBrowser marks words that the person's browser recognized.
const HeardByBrowser = "browser"

// Hypothesis is a browser's text of an utterance so far. The utterances of its recognizer begin and end elsewhere than the
// detected ones.
type Hypothesis struct {
	Utterance int64
	Text      string // the whole text of the utterance; an empty final one means that nothing was understood
	Final     bool
	At        time.Duration // position in the person's sound
}

// BrowserState is the state of the recognizer in a browser.
type BrowserState string

// The states of the recognizer. It has none before it reports one.
const (
	BrowserOn     BrowserState = "on"
	BrowserOff    BrowserState = "off"
	BrowserFailed BrowserState = "failed"
)

// Browser is the Transcriber of a person whose browser recognizes their speech: it returns the hypotheses that arrive from
// half a second before an utterance (see preRoll) until finalWait after it. The detector of this program decides when an
// utterance begins and ends.
type Browser struct {
	echoFree bool // the recognizer gets sound without our words

	mu      sync.Mutex
	state   BrowserState
	all     []*hypotheses
	last    *browserRecognizer // the newest one
	changed chan struct{}      // closed at the next change
	said    []ownSentence      // our words, oldest first
}

var _ Transcriber = (*Browser)(nil)

// hypotheses are the successive hypotheses about one utterance of the recognizer.
type hypotheses struct {
	id        int64
	words     []string // of the latest hypothesis
	final     bool
	first, at time.Duration // positions of the first and the latest hypothesis
	used      int           // words that belong to earlier turns
	turn      *browserRecognizer
}

// ownSentence is a sentence of ours, and when it is audible.
type ownSentence struct {
	text     string
	from, to time.Time
}

// NewBrowser returns a Browser. echoFree means that its recognizer gets sound without our own words.
func NewBrowser(echoFree bool) *Browser {
	return &Browser{echoFree: echoFree, changed: make(chan struct{})}
}

// State returns the state of the recognizer; "" before it has one.
func (b *Browser) State() BrowserState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// set changes the state of the recognizer.
func (b *Browser) set(s BrowserState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = s
	b.signal()
}

func (b *Browser) signal() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// add takes a hypothesis.
func (b *Browser) add(h Hypothesis) {
	b.mu.Lock()
	i := slices.IndexFunc(b.all, func(x *hypotheses) bool { return x.id == h.Utterance })
	if i < 0 {
		if len(b.all) > 0 && h.Utterance < b.all[0].id { // forgotten
			b.mu.Unlock()
			return
		}
		i = len(b.all)
		b.all = append(b.all, &hypotheses{id: h.Utterance, first: h.At})
	}
	x := b.all[i]
	if x.final {
		b.mu.Unlock()
		return
	}
	x.words, x.final, x.at = strings.Fields(h.Text), h.Final, h.At
	b.all = b.all[max(0, len(b.all)-maxHypotheses):]
	if x.final && x.turn != nil && x.turn == b.last {
		x.turn.correct()
	}
	var tentative func()
	if r := b.last; r != nil && r.result == nil {
		tentative = r.tentative()
	}
	b.signal()
	b.mu.Unlock()
	if tentative != nil {
		tentative()
	}
}

// speaks records that a sentence of ours is audible until the given time.
func (b *Browser) speaks(text string, now, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.said); n > 0 && b.said[n-1].text == text {
		b.said[n-1].to = until
		return
	}
	b.said = slices.DeleteFunc(b.said, func(s ownSentence) bool { return now.Sub(s.to) > maxUtterance })
	b.said = append(b.said, ownSentence{text, now, until})
}

// silenced records that our words were stopped.
func (b *Browser) silenced(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.said {
		if b.said[i].to.After(now) {
			b.said[i].to = now
		}
	}
}

// echoes reports whether words that were recognized in speech since a time are probably our own.
func (b *Browser) echoes(words []string, since time.Time) bool {
	if b.echoFree {
		return false
	}
	ours, over := map[string]bool{}, false
	for _, s := range b.said {
		if since.Sub(s.to) > echoMemory {
			continue
		}
		over = over || s.to.Add(echoTail).After(since)
		for _, w := range knowledge.Words(s.text) {
			ours[w] = true
		}
	}
	folded := knowledge.Words(strings.Join(words, " "))
	n := 0
	for _, w := range folded {
		if ours[w] {
			n++
		}
	}
	return over && n > 0 && float64(n) >= echoShare*float64(len(folded))
}

// Listen implements Transcriber.
func (b *Browser) Listen(_ context.Context, h Hearing) (Recognizer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &browserRecognizer{b: b, h: h, began: time.Now()}
	if b.last != nil {
		b.last.next = r
	}
	if b.last == nil || b.last.result != nil { // otherwise they belong to the previous utterance, whose result is due
		for _, x := range b.all { // words from before this utterance
			if x.at < h.From {
				x.used = len(x.words)
			}
		}
	}
	b.last = r
	return r, nil
}

// browserRecognizer collects the hypotheses about one utterance.
type browserRecognizer struct {
	b       *Browser
	h       Hearing
	began   time.Time
	over    bool               // the person has finished
	next    *browserRecognizer // of the next utterance, or nil
	shown   string
	result  []*piecesOf // nil until the result was returned
	final   chan string // receives the final text if it differs from the result
	deliver time.Time   // of the result
}

// piecesOf are the words of an utterance of the recognizer from a position on.
type piecesOf struct {
	of   *hypotheses
	from int
}

// Write implements Recognizer. The browser has the sound already.
func (*browserRecognizer) Write([]int16) error { return nil }

// pieces returns the hypotheses about this utterance.
func (r *browserRecognizer) pieces() (all []*piecesOf) {
	for _, x := range r.b.all {
		mine := x.at >= r.h.From && (!r.over || x.first <= r.h.utterance.until+finalWait)
		if n := r.next; n != nil && x.first > n.h.From+preRoll {
			mine = false
		}
		if mine && (x.used < len(x.words) || x.used == 0) {
			all = append(all, &piecesOf{x, min(x.used, len(x.words))})
		}
	}
	return all
}

func textOf(all []*piecesOf) string {
	var words []string
	for _, p := range all {
		words = append(words, p.of.words[min(p.from, len(p.of.words)):]...)
	}
	return strings.Join(words, " ")
}

// tentative returns a function that shows the words so far, or nil if they have not changed.
func (r *browserRecognizer) tentative() func() {
	text := textOf(r.pieces())
	if text == r.shown || r.h.Partial == nil || r.b.echoes(strings.Fields(text), r.began) {
		return nil
	}
	r.shown = text
	return func() { r.h.Partial(text) }
}

var errNothingYet = errors.New("the browser has recognized nothing yet")

// Early implements Early. The words so far only decide how long a pause may last.
func (r *browserRecognizer) Early(context.Context) (Transcript, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	text := textOf(r.pieces())
	if text == "" {
		return Transcript{}, errNothingYet
	}
	return Transcript{Text: text, Partial: true}, nil
}

// Result implements Recognizer. It waits for a final hypothesis about the last words; if there is none in time, the
// latest hypothesis counts.
func (r *browserRecognizer) Result(ctx context.Context) (Transcript, error) {
	late := time.NewTimer(finalWait)
	defer late.Stop()
	r.b.mu.Lock()
	r.over = true
	r.b.mu.Unlock()
	for waits := true; waits; {
		r.b.mu.Lock()
		changed := r.b.changed
		waits = !r.settled()
		r.b.mu.Unlock()
		if !waits {
			break
		}
		select {
		case <-changed:
		case <-late.C:
			waits = false
		case <-ctx.Done():
			return Transcript{}, ctx.Err()
		}
	}
	return r.take(), nil
}

// settled reports whether no better text is to be expected: there is a final one that was reported after the last word.
func (r *browserRecognizer) settled() bool {
	all := r.pieces()
	if len(all) == 0 {
		return r.b.state != BrowserOn
	}
	last, u := all[len(all)-1].of, r.h.utterance
	return last.final && last.at >= u.until-u.detect || r.b.state != BrowserOn
}

// take returns the text, which no later utterance gets again.
func (r *browserRecognizer) take() Transcript {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	r.result, r.deliver = r.pieces(), time.Now()
	text, final := textOf(r.result), true
	if r.result == nil {
		r.result = []*piecesOf{}
	}
	for _, p := range r.result {
		final = final && p.of.final
		p.of.used, p.of.turn = len(p.of.words), r
	}
	t := Transcript{Text: text, HeardBy: HeardByBrowser}
	switch {
	case text != "" && r.b.echoes(strings.Fields(text), r.began):
		t.Text = ""
	case text != "" && !final:
		r.final = make(chan string, 1)
		t.final = r.final
	}
	return t
}

// correct passes on the text of a turn whose last hypothesis became final after the result.
func (r *browserRecognizer) correct() {
	if r.final == nil || time.Since(r.deliver) > lateFinal {
		return
	}
	for _, p := range r.result {
		if !p.of.final {
			return
		}
		p.of.used = len(p.of.words)
	}
	if text := textOf(r.result); text != "" {
		r.final <- text
		r.final = nil
	}
}

// Close implements Recognizer.
func (*browserRecognizer) Close() {}
