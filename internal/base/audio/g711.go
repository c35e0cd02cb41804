package audio

import "math/bits"

// Law is one of the two companding laws of G.711, the telephone codec: one byte per sample, 8,000 samples per second.
type Law int

// The laws of G.711.
const (
	Mu Law = iota // North America, Japan
	A             // elsewhere
)

const (
	muBias  = 0x84
	muClip  = 32635
	aInvert = 0x55
)

//nolint:gochecknoglobals // read only
var expanded = func() (t [2][256]int16) {
	for i := range 256 {
		t[Mu][i], t[A][i] = expandMu(byte(i)), expandA(byte(i))
	}
	return t
}()

// Expand decodes b and appends the samples to pcm.
func (l Law) Expand(pcm []int16, b []byte) []int16 {
	for _, x := range b {
		pcm = append(pcm, expanded[l][x])
	}
	return pcm
}

// Compress encodes pcm and appends the bytes to b.
func (l Law) Compress(b []byte, pcm []int16) []byte {
	if l == A {
		for _, s := range pcm {
			b = append(b, compressA(s))
		}
		return b
	}
	for _, s := range pcm {
		b = append(b, compressMu(s))
	}
	return b
}

func expandMu(b byte) int16 {
	b = ^b
	s := (int16(b&0x0f)<<3 + muBias) << (b >> 4 & 7)
	if b&0x80 != 0 {
		return muBias - s
	}
	return s - muBias
}

func compressMu(s int16) byte {
	x, sign := int(s), byte(0)
	if x < 0 {
		x, sign = -x, 0x80
	}
	x = min(x, muClip) + muBias
	segment := bits.Len(uint(x)) - 8
	return ^(sign | byte(segment)<<4 | byte(x>>(segment+3))&0x0f)
}

func expandA(b byte) int16 {
	b ^= aInvert
	s, segment := int16(b&0x0f)<<4+8, b>>4&7
	if segment > 0 {
		s = (s + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -s
	}
	return s
}

func compressA(s int16) byte {
	x, sign := int(s)>>3, byte(0x80)
	if x < 0 {
		x, sign = -x-1, 0
	}
	if x < 32 {
		return (sign | byte(x>>1)) ^ aInvert
	}
	segment := bits.Len(uint(x)) - 5
	return (sign | byte(segment)<<4 | byte(x>>segment)&0x0f) ^ aInvert
}
