// Package audio is the arithmetic of sound: samples and bytes, WAV files, other sample rates. Samples are 16-bit, mono. It
// knows no clock, no device and no codec of compressed sound.
package audio

import (
	"encoding/binary"
	"math"
	"time"
)

// Samples reads little-endian samples. A last odd byte is left out.
func Samples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

// Bytes writes little-endian samples.
func Bytes(pcm []int16) []byte { return AppendBytes(make([]byte, 0, 2*len(pcm)), pcm) }

// AppendBytes appends little-endian samples to b.
func AppendBytes(b []byte, pcm []int16) []byte {
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// Duration is how long n samples last.
func Duration(n, rate int) time.Duration { return time.Duration(n) * time.Second / time.Duration(rate) }

// Count is how many samples a time has.
func Count(d time.Duration, rate int) int { return int(d * time.Duration(rate) / time.Second) }

// RMS is the root mean square of samples, from 0 to 32,768.
func RMS(pcm []int16) float64 {
	if len(pcm) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

// clip rounds a sample to 16 bits.
func clip(x float32) int16 {
	switch {
	case x >= math.MaxInt16:
		return math.MaxInt16
	case x <= math.MinInt16:
		return math.MinInt16
	case x < 0:
		return int16(x - 0.5)
	default:
		return int16(x + 0.5)
	}
}
