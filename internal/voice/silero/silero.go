// Package silero detects speech with the neural network Silero VAD (version 5, MIT license), computed in plain Go: a
// spectrum, four convolutions, an LSTM and a sigmoid. Its scores match onnxruntime's to at least four digits.
package silero

import (
	"fmt"
	"math"
)

// frames is the number of spectra in a chunk.
const frames = 4

// Detector scores chunks of 32 ms. It must be used by one goroutine.
type Detector struct {
	*model
	sound    []float32 // the end of the previous chunk, the chunk, and its mirrored end
	spectrum []complex128
	power    []float32 // [bins][frames]
	layer0   []float32 // [units][frames]
	layer1   []float32 // [inner][2]
	layer2   []float32
	recent   []float32 // input of the LSTM: the last layer, then its state
	next     []float32 // its next state
	cells    []float32
}

// New returns a detector for 8,000 or 16,000 samples per second.
func New(rate int) (*Detector, error) {
	all, err := models()
	if err != nil {
		return nil, err
	}
	m := all[rate]
	if m == nil {
		return nil, fmt.Errorf("silero: no model for %d Hz", rate)
	}
	return &Detector{
		model: m, sound: make([]float32, m.size*5/2), spectrum: make([]complex128, m.size), power: make([]float32, (m.size/2+1)*frames),
		layer0: make([]float32, units*frames), layer1: make([]float32, inner*2), layer2: make([]float32, inner),
		recent: make([]float32, 2*units), next: make([]float32, units), cells: make([]float32, units),
	}, nil
}

// Chunk returns the number of samples that Score takes: 256 or 512.
func (d *Detector) Chunk() int { return 2 * d.size }

// Reset forgets the sound so far.
func (d *Detector) Reset() {
	clear(d.sound)
	clear(d.recent)
	clear(d.cells)
}

// Score returns the probability that a chunk is speech, from 0 to 1. A shorter chunk is padded with silence, a longer
// one truncated.
func (d *Detector) Score(chunk []int16) float32 {
	d.frame(chunk)
	for i := 0; i < frames; i += 2 {
		d.powers(i)
	}
	d.convolve()
	return d.decode()
}

// frame appends a chunk to the end of the previous one, and its own mirrored end to that.
func (d *Detector) frame(chunk []int16) {
	before, size := d.size/4, 2*d.size
	copy(d.sound, d.sound[size:size+before])
	now := d.sound[before : before+size]
	clear(now)
	for i, s := range chunk[:min(len(chunk), size)] {
		now[i] = float32(s) / 32768
	}
	end := before + size
	for i := range before {
		d.sound[end+i] = d.sound[end-2-i]
	}
}

// powers computes two spectra with one transform: one in its real part, the other in its imaginary part.
func (d *Detector) powers(frame int) {
	n := d.size
	first, second := d.sound[frame*n/2:][:n], d.sound[(frame+1)*n/2:][:n]
	for i, place := range d.places {
		w := d.window[i]
		d.spectrum[place] = complex(w*float64(first[i]), w*float64(second[i]))
	}
	x := d.spectrum
	for size := 2; size <= n; size *= 2 {
		half, step := size/2, n/size
		for begin := 0; begin < n; begin += size {
			low, high := x[begin:begin+half], x[begin+half:begin+size]
			for k := range low {
				v := high[k] * d.turns[k*step]
				low[k], high[k] = low[k]+v, low[k]-v
			}
		}
	}
	for k := range n/2 + 1 {
		a, b := x[k], x[(n-k)%n]
		sumR, sumI := real(a)+real(b), imag(a)-imag(b)
		diffR, diffI := real(a)-real(b), imag(a)+imag(b)
		d.power[k*frames+frame] = float32(math.Sqrt(sumR*sumR+sumI*sumI) / 2)
		d.power[k*frames+frame+1] = float32(math.Sqrt(diffR*diffR+diffI*diffI) / 2)
	}
}

// convolve runs the four convolutions. Each uses the adjacent columns, and the second and third halve the number of
// columns.
func (d *Detector) convolve() {
	bins := d.size/2 + 1
	for o := range units {
		a := d.bias0[o]
		b, c, e := a, a, a
		w := d.conv0[o*bins*3 : (o+1)*bins*3]
		x := d.power[:bins*frames]
		for len(w) >= 3 && len(x) >= 4 {
			w0, w1, w2 := w[0], w[1], w[2]
			x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
			a += w1*x0 + w2*x1
			b += w0*x0 + w1*x1 + w2*x2
			c += w0*x1 + w1*x2 + w2*x3
			e += w0*x2 + w1*x3
			w, x = w[3:], x[4:]
		}
		out := d.layer0[o*frames : o*frames+4]
		out[0], out[1], out[2], out[3] = max(a, 0), max(b, 0), max(c, 0), max(e, 0)
	}
	for o := range inner {
		a := d.bias1[o]
		b := a
		w := d.conv1[o*units*3 : (o+1)*units*3]
		x := d.layer0
		for len(w) >= 3 && len(x) >= 4 {
			a += w[1]*x[0] + w[2]*x[1]
			b += w[0]*x[1] + w[1]*x[2] + w[2]*x[3]
			w, x = w[3:], x[4:]
		}
		d.layer1[2*o], d.layer1[2*o+1] = max(a, 0), max(b, 0)
	}
	for o := range inner {
		d.layer2[o] = max(d.bias2[o]+dot(d.conv2[o*2*inner:(o+1)*2*inner], d.layer1), 0)
	}
	for o := range units {
		d.recent[o] = max(d.bias3[o]+dot(d.conv3[o*inner:(o+1)*inner], d.layer2), 0)
	}
}

// decode runs the LSTM and returns the score.
func (d *Detector) decode() float32 {
	score := d.outputBias
	for unit := range units {
		bias := d.lstmBias[4*unit : 4*unit+4]
		in, forget, cell, out := bias[0], bias[1], bias[2], bias[3]
		w := d.lstm[unit*8*units : (unit+1)*8*units]
		for _, x := range d.recent {
			in += w[0] * x
			forget += w[1] * x
			cell += w[2] * x
			out += w[3] * x
			w = w[4:]
		}
		d.cells[unit] = sigmoid(forget)*d.cells[unit] + sigmoid(in)*tanh(cell)
		d.next[unit] = sigmoid(out) * tanh(d.cells[unit])
		score += d.output[unit] * max(d.next[unit], 0)
	}
	copy(d.recent[units:], d.next)
	return sigmoid(score)
}

func dot(w, x []float32) float32 {
	x = x[:len(w)]
	var a, b, c, e float32
	for i := 0; i+4 <= len(w); i += 4 {
		a += w[i] * x[i]
		b += w[i+1] * x[i+1]
		c += w[i+2] * x[i+2]
		e += w[i+3] * x[i+3]
	}
	return a + b + (c + e)
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
func tanh(x float32) float32    { return float32(math.Tanh(float64(x))) }
