// Package audiotest compares recordings, for tests.
package audiotest

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// Correlate finds the shift at which two recordings are most similar: a[i] matches b[i+shift]. ncc is their normalized
// cross-correlation at that shift: 1 if they differ only in loudness and surrounding silence, near 0 for unrelated
// recordings. Both recordings count in full: sound that only one of them contains lowers ncc.
func Correlate(a, b []int16) (ncc float64, shift int) {
	energy := energyOf(a) * energyOf(b)
	if energy == 0 {
		return 0, 0
	}
	n := 1 << bits.Len(uint(len(a)+len(b)))
	// Both signals are real, so one transform of a+ib yields both spectra.
	x := make([]complex128, n)
	for i, s := range a {
		x[i] = complex(float64(s), 0)
	}
	for i, s := range b {
		x[i] += complex(0, float64(s))
	}
	fft(x)
	product := make([]complex128, n)
	for k := range x {
		mirror := cmplx.Conj(x[(n-k)%n])
		fa, fb := (x[k]+mirror)/2, (x[k]-mirror)/2i
		product[k] = fa * cmplx.Conj(fb) // conjugate: the second transform is then the inverse
	}
	fft(product)
	best := math.Inf(-1)
	for k, v := range product {
		at := k
		if k >= len(b) { // all larger indexes are negative shifts; the recordings may differ in length
			at = k - n
		}
		if at > -len(a) && at < len(b) && real(v) > best {
			best, shift = real(v), at
		}
	}
	return best / float64(n) / math.Sqrt(energy), shift
}

func energyOf(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum
}

// fft transforms x in place. The length of x must be a power of two.
func fft(x []complex128) {
	n := len(x)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	turn := make([]complex128, n/2)
	for k := range turn {
		turn[k] = cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
	}
	for size := 2; size <= n; size *= 2 {
		step := n / size
		for begin := 0; begin < n; begin += size {
			for k := range size / 2 {
				u, v := x[begin+k], x[begin+k+size/2]*turn[k*step]
				x[begin+k], x[begin+k+size/2] = u+v, u-v
			}
		}
	}
}
