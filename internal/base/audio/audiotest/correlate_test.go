package audiotest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func noise(seed uint64, n int) []int16 {
	random := rand.New(rand.NewPCG(seed, 1))
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(random.IntN(20000) - 10000)
	}
	return pcm
}

func TestCorrelateFindsTheShift(t *testing.T) {
	a := noise(4, 8000)
	louder := make([]int16, len(a))
	for i, s := range a {
		louder[i] = s * 3
	}
	for _, c := range []struct {
		name  string
		b     []int16
		ncc   float64
		shift int
	}{
		{"the same", a, 1, 0},
		{"later and louder", append(make([]int16, 1234), louder...), 1, 1234},
		{"earlier", a[800:], math.Sqrt(0.9), -800},
		{"half of it", a[:4000], math.Sqrt(0.5), 0},
		{"with as much of another", append(slices.Clone(a), noise(5, 8000)...), math.Sqrt(0.5), 0},
	} {
		ncc, shift := Correlate(a, c.b)
		if math.Abs(ncc-c.ncc) > 0.02 || shift != c.shift {
			t.Errorf("%s: %.3f at %d, want %.3f at %d", c.name, ncc, shift, c.ncc, c.shift)
		}
	}
	if ncc, _ := Correlate(a, noise(6, 8000)); ncc > 0.1 {
		t.Errorf("different noise: %.3f", ncc)
	}
	for _, empty := range [][]int16{nil, make([]int16, 100)} {
		if ncc, shift := Correlate(a, empty); ncc != 0 || shift != 0 {
			t.Errorf("silence: %v at %d", ncc, shift)
		}
	}
}

func BenchmarkCorrelate(b *testing.B) {
	x, y := noise(7, 48000), noise(8, 64000)
	for b.Loop() {
		Correlate(x, y)
	}
}

func TestCorrelateFindsAShortSoundAnywhereInALongOne(t *testing.T) {
	sound := make([]int16, 400)
	for i := range sound {
		sound[i] = int16((i*i*7919)%20011 - 10000)
	}
	for _, at := range []int{0, 1, 3000, 5000, 9600} {
		long := make([]int16, 10000)
		copy(long[at:], sound)
		if ncc, shift := Correlate(long, sound); ncc < 0.999 || shift != -at {
			t.Errorf("at %d: %.3f, %d", at, ncc, shift)
		}
		if ncc, shift := Correlate(sound, long); ncc < 0.999 || shift != at {
			t.Errorf("at %d, the other way round: %.3f, %d", at, ncc, shift)
		}
	}
}
