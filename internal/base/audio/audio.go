// Package audio converts sound: samples to and from bytes, WAV files and G.711, and between sample rates. Samples are
// 16-bit mono. It uses no clock, no device and no other codec.
package audio

import (
	"encoding/binary"
	"math"
	"time"
)

// Samples decodes little-endian samples. A trailing odd byte is ignored.
func Samples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

// Bytes encodes samples as little-endian bytes.
func Bytes(pcm []int16) []byte { return AppendBytes(make([]byte, 0, 2*len(pcm)), pcm) }

// AppendBytes appends samples to b as little-endian bytes.
func AppendBytes(b []byte, pcm []int16) []byte {
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// Duration returns the duration of n samples.
func Duration(n, rate int) time.Duration { return time.Duration(n) * time.Second / time.Duration(rate) }

// Count returns the number of samples in a duration.
func Count(d time.Duration, rate int) int { return int(d * time.Duration(rate) / time.Second) }

// RMS returns the root mean square of samples, from 0 to 32,768.
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

// clip converts a sample to 16 bits and clips it to their range.
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
