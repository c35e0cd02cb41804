package audio

import (
	"math"
	"testing"
)

// The expected values are from ITU-T G.711, tables 1a to 2b.
func TestLawsHaveTheValuesOfTheStandard(t *testing.T) {
	for _, c := range []struct {
		law  Law
		b    byte
		want int16
	}{
		{Mu, 0xff, 0},
		{Mu, 0x7f, 0},
		{Mu, 0x80, 32124},
		{Mu, 0x00, -32124},
		{Mu, 0xfe, 8},
		{Mu, 0x8f, 16764},
		{Mu, 0xf0, 120},
		{A, 0xd5, 8},
		{A, 0x55, -8},
		{A, 0xaa, 32256},
		{A, 0x2a, -32256},
		{A, 0xd4, 24},
		{A, 0xc5, 264},
	} {
		if got := c.law.Expand(nil, []byte{c.b})[0]; got != c.want {
			t.Errorf("law %d: %#x is %d, want %d", c.law, c.b, got, c.want)
		}
	}
}

func TestCompressingIsTheReverse(t *testing.T) {
	for _, law := range []Law{Mu, A} {
		for i := range 256 {
			pcm := law.Expand(nil, []byte{byte(i)})
			if b := law.Compress(nil, pcm)[0]; law.Expand(nil, []byte{b})[0] != pcm[0] {
				t.Errorf("law %d: %#x becomes %#x", law, i, b)
			}
		}
		for s := math.MinInt16; s <= math.MaxInt16; s++ {
			got := int(law.Expand(nil, law.Compress(nil, []int16{int16(s)}))[0])
			if off := got - s; math.Abs(float64(off)) > math.Max(16, math.Abs(float64(s))/24) {
				t.Fatalf("law %d: %d becomes %d", law, s, got)
			}
		}
	}
}
