package audio

import (
	"fmt"
	"math"
	"sync"
)

const (
	// zeroCrossings is the number of zero crossings of the windowed sinc on either side, beta the parameter of its
	// Kaiser window, and cutoff a fraction of the lower of the two Nyquist frequencies. The filter attenuates by 100
	// dB above that frequency and is flat up to 0.86 of it.
	zeroCrossings = 48
	beta          = 10.06
	cutoff        = 0.93

	minRate   = 8000
	maxRate   = 48000
	maxPhases = 640
)

// Resampler changes the sample rate of a stream with a windowed sinc in polyphase form. It is not safe for concurrent
// use.
type Resampler struct {
	*phases
	history []float32 // samples still needed for output; the first is at position begin of the input
	begin   int
	taken   int // input samples so far
	given   int // output samples so far
}

// phases are the filters for one pair of rates: output n is at input position n*down/up, and each of the up fractional
// positions has its own filter.
type phases struct {
	up, down int
	half     int // input samples on either side
	filters  [][]float32
}

// known caches the filters of each pair of rates, which take some milliseconds to compute.
var known sync.Map //nolint:gochecknoglobals // a cache whose values depend on the key alone

// NewResampler returns a resampler between two rates of 8,000 to 48,000 Hz. It returns an error for rates outside that
// range or without a small ratio.
func NewResampler(from, to int) (*Resampler, error) {
	if from < minRate || from > maxRate || to < minRate || to > maxRate {
		return nil, fmt.Errorf("no resampling from %d to %d Hz", from, to)
	}
	d := gcd(from, to)
	if to/d > maxPhases {
		return nil, fmt.Errorf("no resampling from %d to %d Hz: the ratio is too fine", from, to)
	}
	key := [2]int{from / d, to / d}
	p, ok := known.Load(key)
	if !ok {
		p, _ = known.LoadOrStore(key, newPhases(key[0], key[1]))
	}
	r := &Resampler{phases: p.(*phases)}
	r.reset()
	return r, nil
}

// Resample changes the rate of a whole recording.
func Resample(pcm []int16, from, to int) ([]int16, error) {
	r, err := NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return append(r.Write(pcm), r.Flush()...), nil
}

// Write consumes samples and returns the output samples that are complete. The caller owns the result.
func (r *Resampler) Write(pcm []int16) []int16 {
	if r.up == r.down {
		return append([]int16(nil), pcm...)
	}
	for _, s := range pcm {
		r.history = append(r.history, float32(s))
	}
	r.taken += len(pcm)
	return r.emit(r.taken - r.half)
}

// Flush ends the stream and returns the rest of the output. The next Write begins a new stream.
func (r *Resampler) Flush() []int16 {
	if r.up == r.down {
		return nil
	}
	r.history = append(r.history, make([]float32, r.half+1)...)
	rest := r.emit(r.taken)
	r.reset()
	return rest
}

func (r *Resampler) reset() {
	r.history = append(r.history[:0], make([]float32, r.half)...)
	r.begin, r.taken, r.given = -r.half, 0, 0
}

// emit returns the outputs at positions before end.
func (r *Resampler) emit(end int) []int16 {
	if end <= 0 {
		return nil
	}
	last := (end*r.up + r.down - 1) / r.down // index of the first output at or after end
	out := make([]int16, 0, max(last-r.given, 0))
	for ; r.given < last; r.given++ {
		at := r.given * r.down
		first := at/r.up - r.half + 1 - r.begin
		out = append(out, clip(dot(r.filters[at%r.up], r.history[first:])))
	}
	if drop := r.given*r.down/r.up - r.half + 1 - r.begin; drop > 4096 {
		r.history = r.history[:copy(r.history, r.history[drop:])]
		r.begin += drop
	}
	return out
}

func dot(filter, x []float32) float32 {
	x = x[:len(filter)]
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(filter); i += 4 {
		a += filter[i] * x[i]
		b += filter[i+1] * x[i+1]
		c += filter[i+2] * x[i+2]
		d += filter[i+3] * x[i+3]
	}
	for ; i < len(filter); i++ {
		a += filter[i] * x[i]
	}
	return a + b + (c + d)
}

func newPhases(from, to int) *phases {
	scale := cutoff * min(1, float64(to)/float64(from)) // relative to the input's Nyquist frequency
	p := &phases{up: to, down: from, half: int(math.Ceil(zeroCrossings / scale)), filters: make([][]float32, to)}
	for i := range p.filters {
		filter, sum := make([]float64, 2*p.half), 0.0
		for k := range filter {
			// distance of the tap from the output's position, in input samples
			x := float64(k-p.half+1) - float64(i)/float64(to)
			filter[k] = sinc(scale*x) * kaiser(x/float64(p.half))
			sum += filter[k]
		}
		p.filters[i] = make([]float32, len(filter))
		for k := range filter { // normalize, so that a constant signal stays unchanged
			p.filters[i][k] = float32(filter[k] / sum)
		}
	}
	return p
}

func sinc(x float64) float64 {
	if math.Abs(x) < 1e-9 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser returns the Kaiser window at x, from -1 to 1.
func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(beta*math.Sqrt(1-x*x)) / bessel(beta)
}

// bessel returns the modified Bessel function of the first kind and order 0.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= x / 2 / k * x / 2 / k
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
