package voice

import (
	"math"

	"carillon/internal/base/audio"
	"carillon/internal/voice/silero"
)

const (
	quietest  = 30.0   // minimum RMS of silence: the noise of a good microphone
	loudest   = 1000.0 // maximum RMS of noise
	floorSpan = 25     // chunks, 0.8 s
)

// NewDetector returns a speech detector for 8,000 or 16,000 samples per second: the neural network behind a Gate, or
// an energy detector if the network cannot be loaded or has no model for the rate.
func NewDetector(rate int) Detector {
	d, err := silero.New(rate)
	if err != nil {
		return NewEnergy(rate)
	}
	return NewGate(d)
}

// floor tracks the level of background noise: the lowest level of the last 0.8 to 1.6 s, since speech has pauses.
type floor struct {
	lowest, before float64 // of this span and the previous one
	chunks         int
}

func (f *floor) reset() { *f = floor{} }

// now returns the noise floor.
func (f *floor) now() float64 {
	level := f.lowest
	if f.chunks >= floorSpan {
		level = min(level, f.before)
	}
	return min(max(level, quietest), loudest)
}

// add updates the floor with the level of a chunk.
func (f *floor) add(level float64) {
	if f.chunks%floorSpan == 0 {
		f.before, f.lowest = f.lowest, level
	}
	f.lowest = min(f.lowest, level)
	f.chunks++
}

// Gate passes only chunks that may be speech to another Detector, so that silence costs nothing.
type Gate struct {
	next  Detector
	floor floor
	open  int // remaining chunks to pass on
	// last is the most recent chunk that was held back; it is passed on when the gate opens, because speech begins
	// before it is loud.
	last []int16
}

const (
	gateOpens = 1.6 // times the noise floor, 4 dB
	gateStays = 25  // chunks, 0.8 s: as long as a pause between words
)

// NewGate returns a gate in front of a detector.
func NewGate(next Detector) *Gate { return &Gate{next: next} }

// Chunk implements Detector.
func (g *Gate) Chunk() int { return g.next.Chunk() }

// Reset implements Detector. The noise level is kept.
func (g *Gate) Reset() {
	g.next.Reset()
	g.open, g.last = 0, nil
}

// Score implements Detector.
func (g *Gate) Score(chunk []int16) float32 {
	level := audio.RMS(chunk)
	loud := level > gateOpens*g.floor.now()
	g.floor.add(level)
	if loud {
		if g.open == 0 && g.last != nil {
			g.next.Score(g.last)
			g.last = nil
		}
		g.open = gateStays
	}
	if g.open == 0 {
		g.last = append(g.last[:0], chunk...)
		return 0
	}
	g.open--
	return g.next.Score(chunk)
}

// Energy is a Detector that scores sound by its level above the noise.
type Energy struct {
	chunk int
	floor floor
}

const (
	noSpeech = 3.0  // dB above the noise floor, score 0
	speech   = 12.0 // dB above the noise floor, score 1
)

// NewEnergy returns an energy detector for chunks of 32 ms.
func NewEnergy(rate int) *Energy { return &Energy{chunk: rate * 32 / 1000} }

// Chunk implements Detector.
func (e *Energy) Chunk() int { return e.chunk }

// Reset implements Detector.
func (e *Energy) Reset() { e.floor.reset() }

// Score implements Detector.
func (e *Energy) Score(chunk []int16) float32 {
	level := audio.RMS(chunk)
	above := 20 * math.Log10(max(level, 1)/e.floor.now())
	e.floor.add(level)
	return float32(min(max((above-noSpeech)/(speech-noSpeech), 0), 1))
}
