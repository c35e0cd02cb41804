package callee

import (
	"math"
	"time"

	"carillon/internal/base/audio"
)

// The beep of a mailbox: a single sine of 0.15 to 1.2 s. A frame counts as a tone if one sine explains nearly all of
// its energy; a second-order predictor finds the frequency, and a few Goertzel filters refine it.
const (
	toneFrame   = 40 * time.Millisecond
	toneHop     = 20 * time.Millisecond
	toneFrames  = 5    // consecutive frames of one tone
	explained   = 0.88 // minimum share of a frame's energy
	predicted   = 0.5  // minimum share before the filters are tried
	lowestTone  = 380.0
	highestTone = 2300.0
	sameTone    = 12.0 // Hz
	sameLevel   = 1.5  // dB
	quietTone   = 100.0
	maxBeep     = 1200 * time.Millisecond

	filters    = 12
	filterStep = 12.5 // Hz

	// ringback is the tone of European exchanges while a telephone rings or is busy.
	ringback, nearRingback = 425.0, 15.0
	// special is the first of the three tones of "this number is not in service"; the second follows immediately.
	special, nearSpecial = 950.0, 30.0
	specialWait          = 300 * time.Millisecond
)

// Beep is a tone in a call's sound, in the time of the samples.
type Beep struct {
	From, To time.Duration
	Hz       float64
}

// tones finds beeps.
type tones struct {
	rate   int
	pcm    []int16 // less than a frame, and the overlap
	at     time.Duration
	frames int
	hz, db float64
	from   time.Duration
	held   *Beep         // may be the first of three tones
	row    time.Duration // end of the last of several tones in a row; 0 for none
}

// add returns the beep that ended in a piece of sound, or nil.
func (d *tones) add(pcm []int16) (ended *Beep) {
	d.pcm = append(d.pcm, pcm...)
	frame, hop := audio.Count(toneFrame, d.rate), audio.Count(toneHop, d.rate)
	for len(d.pcm) >= frame {
		if b := d.frame(d.pcm[:frame]); b != nil {
			ended = b
		}
		d.pcm = d.pcm[:copy(d.pcm, d.pcm[hop:])]
		d.at += toneHop
	}
	return ended
}

// sounds reports whether a tone is sounding.
func (d *tones) sounds() bool { return d.frames >= toneFrames }

func (d *tones) frame(pcm []int16) *Beep {
	hz, db, ok := tone(pcm, d.rate)
	if ok && d.frames > 0 && math.Abs(hz-d.hz) <= sameTone && math.Abs(db-d.db) <= sameLevel {
		d.frames++
		return nil
	}
	var ended *Beep
	if d.frames >= toneFrames {
		// The last frame of the tone was the previous one.
		ended = &Beep{d.from, d.at - toneHop + toneFrame, d.hz}
	}
	if d.frames = 0; ok {
		d.frames, d.hz, d.db, d.from = 1, hz, db, d.at
	}
	return d.filter(ended)
}

// filter drops tones of exchanges.
func (d *tones) filter(b *Beep) *Beep {
	held := d.held
	switch {
	case held == nil:
	case b != nil:
		d.held, d.row = nil, b.To
		return nil
	case d.at-held.To >= specialWait && d.frames == 0:
		d.held = nil
		return held
	}
	switch {
	case b != nil && d.row > 0 && b.From-d.row < specialWait:
		d.row = b.To
		return nil
	case b == nil, b.To-b.From > maxBeep, math.Abs(b.Hz-ringback) <= nearRingback:
		return nil
	case math.Abs(b.Hz-special) <= nearSpecial:
		d.held = b
		return nil
	}
	return b
}

// tone returns the frequency and the level of the sine that a frame consists of. ok is false if it is none.
func tone(pcm []int16, rate int) (hz, db float64, ok bool) {
	energy, cross, inner := 0.0, 0.0, 0.0
	for _, s := range pcm {
		energy += float64(s) * float64(s)
	}
	n := float64(len(pcm))
	if energy < quietTone*quietTone*n {
		return 0, 0, false
	}
	for i := 2; i < len(pcm); i++ {
		before := float64(pcm[i-1])
		cross += before * (float64(pcm[i]) + float64(pcm[i-2]))
		inner += before * before
	}
	c := cross / (2 * inner)
	if math.Abs(c) >= 1 {
		return 0, 0, false
	}
	residual := 0.0
	for i := 2; i < len(pcm); i++ {
		r := float64(pcm[i]) + float64(pcm[i-2]) - 2*c*float64(pcm[i-1])
		residual += r * r
	}
	hz = math.Acos(c) * float64(rate) / (2 * math.Pi)
	if residual > (1-predicted)*2*energy || hz < lowestTone-filters*filterStep || hz > highestTone+filters*filterStep {
		return 0, 0, false
	}
	var power [filters + 1]float64
	best := 0
	first := hz - filters/2*filterStep
	for i := range power {
		if power[i] = goertzel(pcm, first+float64(i)*filterStep, rate); power[i] > power[best] {
			best = i
		}
	}
	hz = first + float64(best)*filterStep
	if best > 0 && best < filters { // the top of the parabola through the logarithms
		a, b, c := math.Log(power[best-1]), math.Log(power[best]), math.Log(power[best+1])
		if curve := a - 2*b + c; curve < 0 {
			hz += filterStep * (a - c) / (2 * curve)
		}
	}
	share := 2 * goertzel(pcm, hz, rate) / (n * energy)
	if share < explained || hz < lowestTone || hz > highestTone {
		return 0, 0, false
	}
	return hz, 10 * math.Log10(energy/n), true
}

// goertzel returns the squared magnitude of one frequency.
func goertzel(pcm []int16, hz float64, rate int) float64 {
	w := 2 * math.Pi * hz / float64(rate)
	c := 2 * math.Cos(w)
	a, b := 0.0, 0.0
	for _, s := range pcm {
		a, b = float64(s)+c*a-b, a
	}
	return a*a + b*b - c*a*b
}
