// Package voicetest transcribes and speaks in tests. Its transcriber knows a bank of utterances, and returns the one
// with the waveform of the received sound, or nothing if there is none. So a test that gets a text has proved that the
// sound arrived completely and undistorted. The package provides a voice.Transcriber, and a server with OpenAI's
// interface for tests of the whole program; command serve runs that server for tests that are not in Go.
package voicetest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/voice"
	"carillon/internal/voice/espeak"
)

const (
	// Enough is the minimum similarity of a waveform.
	Enough = 0.9
	// rate is the sample rate at which waveforms are compared, also those of telephones.
	rate = 8000
	// Rate is the sample rate of a bank's utterances.
	Rate = 16000

	segment = rate / 10  // samples; each segment may have a different loudness, since microphones adjust theirs
	drift   = rate / 200 // maximum deviation of a segment in samples, since clocks differ
	frame   = rate / 50  // samples that a receiver conceals at a time
	maxLate = 20 * frame // maximum delay of one segment relative to another, in samples
	quiet   = 0.01       // maximum energy, as a share, of a segment that is not compared
	sure    = 0.95       // correlation at which the search for a segment ends
	steps   = 4          // positions between samples at which waveforms are compared too
	closest = 3          // number of candidates to examine
)

// Bank is a set of utterances. It is safe for concurrent use.
type Bank struct {
	mu    sync.Mutex
	known []utterance
}

// utterance is an utterance in a bank.
type utterance struct {
	text  string
	later [steps][]int16 // its samples at rate, each delayed by another step
}

// Say synthesizes a text with espeak-ng, adds it to the bank and returns its samples at Rate.
func (b *Bank) Say(ctx context.Context, text, language string) ([]int16, error) {
	pcm, err := Speak(ctx, text, language, Rate)
	if err != nil {
		return nil, err
	}
	return pcm, b.Add(text, pcm)
}

// Add adds an utterance whose samples are at Rate.
func (b *Bank) Add(text string, pcm []int16) error {
	narrow, err := audio.Resample(pcm, Rate, rate)
	if err != nil {
		return err
	}
	fine, err := audio.Resample(band(narrow), rate, steps*rate)
	if err != nil {
		return err
	}
	u := utterance{text: text}
	for i, s := range fine {
		u.later[i%steps] = append(u.later[i%steps], s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known = append(slices.DeleteFunc(b.known, func(u utterance) bool { return u.text == text }), u)
	return nil
}

// Recognize returns the utterance with the greatest similarity to the samples, and the similarity from 0 to 1.
func (b *Bank) Recognize(pcm []int16, from int) (text string, score float64, err error) {
	narrow, err := audio.Resample(pcm, from, rate)
	if err != nil {
		return "", 0, err
	}
	narrow = band(narrow)
	b.mu.Lock()
	known := slices.Clone(b.known)
	b.mu.Unlock()
	// Those with the greatest similarity as a whole are compared by segments.
	candidates := make([]candidate, len(known))
	for i := range known {
		candidates[i].utterance = &known[i]
		candidates[i].whole, candidates[i].shift = audiotest.Correlate(known[i].later[0], narrow)
	}
	slices.SortFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.whole, a.whole) })
	for _, c := range candidates[:min(len(candidates), closest)] {
		if s := c.alike(narrow, c.shift); s > score {
			text, score = c.text, s
		}
	}
	return text, score, nil
}

// candidate is a possible utterance and its position.
type candidate struct {
	*utterance
	whole float64
	shift int
}

// Speak synthesizes a text with espeak-ng.
func Speak(ctx context.Context, text, language string, rate int) ([]int16, error) {
	var all []int16
	err := espeak.New(nil).Speak(ctx, voice.Utterance{
		Voice: (&agent.Voice{}).Settings(), Language: language, Text: text,
		Rate: rate,
	}, func(pcm []int16) error {
		all = append(all, pcm...)
		return nil
	})
	return all, err
}

const (
	// lowest and highest are the frequencies to compare. Browsers' filters against rumble shift the phase of lower
	// ones, and telephones carry no higher ones.
	lowest  = 700.0
	highest = 3400.0
	taps    = 201
)

// band keeps the frequencies to compare, with a linear-phase filter.
func band(pcm []int16) []int16 {
	filter := make([]float64, taps)
	for i := range filter {
		x := float64(i - taps/2)
		window := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/(taps-1))
		filter[i] = window * (lowPass(highest, x) - lowPass(lowest, x))
	}
	out := make([]int16, len(pcm))
	for i := range out {
		sum := 0.0
		for k := max(0, i+taps/2-len(pcm)+1); k <= min(taps-1, i+taps/2); k++ {
			sum += filter[k] * float64(pcm[i+taps/2-k])
		}
		out[i] = int16(max(min(sum, math.MaxInt16), math.MinInt16))
	}
	return out
}

// lowPass returns the ideal filter at x samples from its center.
func lowPass(hz, x float64) float64 {
	if x == 0 {
		return 2 * hz / rate
	}
	return math.Sin(2*math.Pi*hz/rate*x) / (math.Pi * x)
}

// alike returns the similarity of the received sound: the correlation of its segments, weighted by their energy,
// reduced for sound before and after. If a sender was late, frames that conceal the gap are between two segments; that
// does not reduce the similarity.
func (u *utterance) alike(heard []int16, shift int) float64 {
	known := u.later[0]
	energy, total := squares(known), squares(heard)
	if energy == 0 || total == 0 {
		return 0
	}
	first, last, sum := 0, -maxLate, 0.0
	for begin := 0; begin < len(known); begin += segment {
		part := squares(known[begin:min(begin+segment, len(known))])
		if part < energy*quiet {
			sum += part // too quiet to compare
			continue
		}
		s, late := u.placed(heard, begin, shift, last)
		if last == -maxLate {
			first = late
		}
		last = late
		sum += part * s
	}
	inside := squares(heard[min(max(shift+first-drift, 0), len(heard)):min(max(shift+last+len(known)+drift, 0), len(heard))])
	return sum / energy * math.Sqrt(inside/total)
}

// placed returns the correlation of the segment at begin, and its delay relative to a shift: that of the previous
// segment, or more frames.
func (u *utterance) placed(heard []int16, begin, shift, before int) (best float64, late int) {
	late = before
	for x := before; x <= maxLate; x += frame {
		if s := u.best(heard, begin, shift+x); s > best {
			best, late = s, x
		}
		if best > sure {
			break
		}
	}
	return best, late
}

// best returns the correlation of the segment at begin, near a shift.
func (u *utterance) best(heard []int16, begin, shift int) (best float64) {
	for _, known := range u.later {
		part := known[begin:min(begin+segment, len(known))]
		energy := squares(part)
		for at := begin + shift - drift; at <= begin+shift+drift; at++ {
			if at >= 0 && at+len(part) <= len(heard) {
				best = max(best, ncc(part, heard[at:at+len(part)], energy))
			}
		}
	}
	return best
}

// ncc returns the normalized correlation of samples. energy is that of a.
func ncc(a, b []int16, energy float64) float64 {
	product, other := 0.0, 0.0
	for i, s := range a {
		x, y := float64(s), float64(b[i])
		product += x * y
		other += y * y
	}
	if energy == 0 || other == 0 {
		return 0
	}
	return product / math.Sqrt(energy*other)
}

func squares(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum
}
