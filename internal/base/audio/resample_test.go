package audio

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// tone returns one second of a sine.
func tone(hz float64, rate int) []int16 {
	pcm := make([]int16, rate)
	for i := range pcm {
		pcm[i] = int16(math.Round(29000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return pcm
}

var pairs = [][2]int{
	{22050, 16000},
	{22050, 8000},
	{24000, 16000},
	{24000, 8000},
	{8000, 16000},
	{16000, 8000},
	{48000, 16000},
	{44100, 16000},
	{16000, 48000},
	{11025, 16000},
}

func TestTonesKeepFrequencyPhaseAndLevel(t *testing.T) {
	for _, p := range pairs {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			nyquist := float64(min(p[0], p[1])) / 2
			worst := math.Inf(1)
			for _, share := range []float64{0.02, 0.1, 0.33, 0.6, 0.85} {
				got, err := Resample(tone(share*nyquist, p[0]), p[0], p[1])
				if err != nil || len(got) != p[1] {
					t.Fatal(len(got), err)
				}
				edge := p[1] / 50 // skip the start and end of the tone, which contain other frequencies
				pcm := got[edge : len(got)-edge]
				// The phase continues from the first sample.
				signal, noise := 0.0, 0.0
				for i, s := range pcm {
					want := 29000 * math.Sin(2*math.Pi*share*nyquist*float64(i+edge)/float64(p[1]))
					signal += want * want
					noise += (float64(s) - want) * (float64(s) - want)
				}
				worst = min(worst, 10*math.Log10(signal/noise))
			}
			t.Logf("%.1f dB", worst)
			if worst < 85 {
				t.Errorf("a tone stands out by %.1f dB only", worst)
			}
		})
	}
}

func TestTonesAboveTheNewNyquistFrequencyVanish(t *testing.T) {
	for _, p := range pairs {
		if p[1] >= p[0] {
			continue
		}
		for _, hz := range []float64{float64(p[1])/2 + 60, float64(p[0]) * 0.45} {
			if hz <= float64(p[1])/2 {
				continue
			}
			got, err := Resample(tone(hz, p[0]), p[0], p[1])
			if err != nil {
				t.Fatal(err)
			}
			edge := p[1] / 50
			if level := RMS(got[edge : len(got)-edge]); level > 0.5 { // -92 dB
				t.Errorf("%v: %.0f Hz leaves %.2f", p, hz, level)
			}
		}
	}
}

func TestPiecesGiveTheSameAsTheWhole(t *testing.T) {
	for _, p := range pairs {
		whole := tone(0.2*float64(p[0])/2, p[0])
		want, err := Resample(whole, p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewResampler(p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a flushed resampler behaves like a new one
			var got []int16
			for i, rest := 1, whole; len(rest) > 0; i = i*7%997 + 1 {
				n := min(i, len(rest))
				got = append(got, r.Write(rest[:n])...)
				rest = rest[n:]
			}
			held := len(want) - len(got)
			got = append(got, r.Flush()...)
			if !slices.Equal(got, want) {
				t.Errorf("%v: %d samples differ from %d", p, len(got), len(want))
			}
			if limit := p[1] / 80; held > limit {
				t.Errorf("%v: %d samples were held back, more than %d", p, held, limit)
			}
		}
	}
}

func TestTheSameRateChangesNothing(t *testing.T) {
	want := []int16{1, -2, math.MaxInt16, math.MinInt16}
	got, err := Resample(want, 16000, 16000)
	if err != nil || !slices.Equal(got, want) {
		t.Error(got, err)
	}
}

func TestLoudSoundIsClippedAndDoesNotWrap(t *testing.T) {
	square := make([]int16, 8000)
	for i := range square {
		square[i] = math.MaxInt16
		if i/20%2 == 1 {
			square[i] = math.MinInt16
		}
	}
	got, err := Resample(square, 8000, 16000)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(got)-100; i++ {
		if at := i / 2 % 20; at > 3 && at < 16 && (got[i] > 0) != (square[i/2] > 0) {
			t.Fatalf("sample %d is %d of %d", i, got[i], square[i/2])
		}
	}
}

func TestUnknownRatesAreRefused(t *testing.T) {
	for _, p := range [][2]int{{0, 16000}, {16000, 0}, {-8000, 8000}, {7999, 16000}, {16000, 96000}, {16000, 15999}} {
		if _, err := NewResampler(p[0], p[1]); err == nil {
			t.Errorf("%v is accepted", p)
		}
	}
}

func BenchmarkResample(b *testing.B) {
	for _, p := range pairs[:5] {
		b.Run(fmt.Sprint(p), func(b *testing.B) {
			pcm := tone(440, p[0])
			r, err := NewResampler(p[0], p[1])
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r.Write(pcm)
			}
		})
	}
}
