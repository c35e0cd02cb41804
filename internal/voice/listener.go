package voice

import (
	"context"
	"time"
)

const (
	preRoll         = 400 * time.Millisecond // sound before the detected speech that belongs to it
	resultTimeout   = 8 * time.Second
	maxPending      = 4096 // pieces of sound that wait for a transcriber
	scoreEveryChunk = 3
)

// listener detects the utterances of one person and passes them to a transcriber.
type listener struct {
	rate     int
	detector Detector
	services Transcriber    // nil: no transcription
	hearing  func() Hearing // describes the next utterance
	post     func(func())   // runs a function on the session's goroutine
	ears     ears
	rest     []int16 // less than a chunk
	before   []int16 // the last preRoll of sound
	current  *utterance
	counted  int
	page     *pageSpeech // detected by the page; nil if the person's sound arrives here
	// Callbacks on the session's goroutine:
	onScore func(score float32)
	onBegan func(u *utterance)
	onGoes  func(u *utterance)
	onOver  func(u *utterance)
	onText  func(u *utterance, t Transcript, err error)
	onEarly func(u *utterance, text string)     // words up to a pause; without it turns are not transcribed early
	onPause func(u *utterance, d time.Duration) // a pause after which the person continued; may be nil
}

// utterance is an uninterrupted stretch of a person's speech.
type utterance struct {
	spoken time.Duration
	length time.Duration // of the sound, including the silence at its end
	detect time.Duration // from the last word to the detected end
	ended  time.Time
	took   time.Duration // duration of the transcription
	early  bool          // began before the response to the person's previous words was played
	until  time.Duration // position of its end in the person's sound
	// continues means that the previous turn was mistaken for complete.
	continues bool
	sound     chan sound
	cancel    context.CancelFunc
	pause     *pause // the current one, once it is long enough for an early transcript
	paused    int    // early transcripts so far
}

// sound is a piece of an utterance: samples, or a pause.
type sound struct {
	pcm   []int16
	pause *pause
}

func newListener(rate int, d Detector, services Transcriber) *listener {
	return &listener{
		rate: rate, detector: d, services: services, ears: ears{chunk: time.Duration(d.Chunk()) * time.Second / time.Duration(rate)},
	}
}

// speaks reports whether the person is speaking. It is false without a listener.
func (l *listener) speaks() bool { return l != nil && l.current != nil }

// add processes sound. An utterance ends after the given silence.
func (l *listener) add(ctx context.Context, pcm []int16, silence time.Duration) {
	l.rest = append(l.rest, pcm...)
	n := l.detector.Chunk()
	for len(l.rest) >= n {
		chunk := append([]int16(nil), l.rest[:n]...)
		l.rest = l.rest[:copy(l.rest, l.rest[n:])]
		l.addChunk(ctx, chunk, silence)
	}
}

func (l *listener) addChunk(ctx context.Context, chunk []int16, silence time.Duration) {
	score := l.detector.Score(chunk)
	if l.counted++; l.counted%scoreEveryChunk == 0 && l.onScore != nil {
		l.onScore(score)
	}
	paused := l.ears.silence
	what := l.ears.add(score, silence)
	if what != nothing && what != began && l.current != nil {
		l.give(chunk)
		l.current.spoken = l.ears.spoken
		l.pauses(ctx, paused)
	}
	switch what {
	case began:
		l.begin(ctx, chunk)
	case goes:
		l.onGoes(l.current)
	case over:
		l.end()
	default:
		if most := int(preRoll * time.Duration(l.rate) / time.Second); len(l.before)+len(chunk) > most {
			l.before = l.before[:copy(l.before, l.before[min(len(l.before), len(l.before)+len(chunk)-most):])]
		}
		l.before = append(l.before, chunk...)
	}
}

func (l *listener) begin(ctx context.Context, chunk []int16) {
	ctx, cancel := context.WithCancel(ctx)
	u := &utterance{spoken: l.ears.spoken, sound: make(chan sound, maxPending), cancel: cancel}
	l.current = u
	from := l.ears.at - l.length(len(l.before)+len(chunk))
	l.give(l.before)
	l.before = nil
	l.give(chunk)
	if l.services != nil {
		h := l.hearing()
		h.From, h.utterance = from, u
		go l.transcribe(ctx, u, h)
	}
	l.onBegan(u)
}

// give adds sound to the current utterance. If the transcriber is too slow, the sound is dropped.
func (l *listener) give(pcm []int16) {
	l.current.length += l.length(len(pcm))
	select {
	case l.current.sound <- sound{pcm: pcm}:
	default:
	}
}

func (l *listener) length(samples int) time.Duration {
	return time.Duration(samples) * time.Second / time.Duration(l.rate)
}

func (l *listener) end() {
	u := l.current
	l.current = nil
	u.ended, u.detect, u.until = time.Now(), l.ears.silence, l.ears.at
	close(u.sound)
	l.onOver(u)
}

// transcribe passes an utterance to the service while the person is speaking.
func (l *listener) transcribe(ctx context.Context, u *utterance, h Hearing) {
	defer u.cancel()
	var t Transcript
	err := Guard(func() (err error) {
		t, err = l.result(ctx, u, h)
		return err
	})
	for range u.sound { // after a panic, drain: the error is reported when the person has finished
	}
	if ctx.Err() != nil {
		return
	}
	l.post(func() {
		u.took = time.Since(u.ended)
		l.onText(u, t, err)
	})
}

func (l *listener) result(ctx context.Context, u *utterance, h Hearing) (Transcript, error) {
	r, err := l.services.Listen(ctx, h)
	if err == nil {
		defer r.Close()
	}
	var last *pause
	for x := range u.sound { // drain in any case, so that the error is reported when the person has finished
		switch {
		case x.pause != nil:
			last = x.pause
			l.early(u, last, r, err)
		case err == nil:
			err = r.Write(x.pcm)
		}
	}
	if last != nil {
		defer last.cancel()
	}
	if err != nil {
		return Transcript{}, err
	}
	if last.holds() {
		return last.transcript, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resultTimeout)
	defer cancel()
	return r.Result(ctx)
}

// pageSpeech is speech that the person's page detected, because their microphone cannot be shared with it.
type pageSpeech struct {
	since time.Time
	quiet time.Time     // end of the speech so far; zero while the person speaks
	at    time.Duration // position of since in the person's sound
}

// mark handles the beginning or the end of speech that the page detected.
func (l *listener) mark(ctx context.Context, speech bool, at time.Duration, now time.Time) {
	p := l.page
	switch {
	case l.current == nil && speech:
		l.ears.at = max(l.ears.at, at)
		l.page = &pageSpeech{since: now, at: l.ears.at}
		l.begin(ctx, nil)
	case l.current == nil || p == nil:
	case speech:
		p.quiet = time.Time{}
	case p.quiet.IsZero():
		p.quiet = now
	}
}

// marked advances an utterance that the page detected, and returns the time until more is due.
func (l *listener) marked(now time.Time, silence time.Duration) time.Duration {
	if l == nil || l.page == nil || l.current == nil {
		return never
	}
	u, p := l.current, l.page
	length := now.Sub(p.since)
	l.ears.at = p.at + length
	if p.quiet.IsZero() && length < maxUtterance {
		u.spoken, u.length = length, length
		l.onGoes(u)
		if !cuts(length) {
			return cutAfter - length
		}
		return maxUtterance - length
	}
	l.ears.silence = 0
	if !p.quiet.IsZero() {
		l.ears.silence = now.Sub(p.quiet)
	}
	if !ends(l.ears.silence, silence, length) {
		return silence - l.ears.silence
	}
	u.length, l.page = length, nil
	l.end()
	return never
}

// finish ends the current utterance, because no more of it arrives.
func (l *listener) finish() {
	if l.current == nil {
		return
	}
	l.page, l.ears.talking = nil, false
	l.end()
}

// close abandons the current utterance.
func (l *listener) close() {
	if u := l.current; u != nil {
		l.current, l.page = nil, nil
		u.resumed()
		u.cancel()
		close(u.sound)
	}
}
