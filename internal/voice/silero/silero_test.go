package silero

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"carillon/internal/base/audio"
)

// sounds returns silence, pink noise, a tone of 440 Hz, silence, English, Spanish with noise, and silence; sections
// are their chunks.
func sounds(t testing.TB, rate int) []int16 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("testdata/sounds-%d.wav", rate))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	pcm, got, err := audio.ReadWAV(f, 1<<20)
	if err != nil || got != rate {
		t.Fatal(got, err)
	}
	return pcm
}

var sections = []struct {
	name       string
	begin, end int
	speech     bool
}{
	{"silence", 0, 10, false},
	{"pink noise", 10, 25, false},
	{"a tone", 25, 40, false},
	{"silence", 40, 45, false},
	{"English", 45, 94, true},
	{"a pause", 96, 101, false},
	{"Spanish with noise", 101, 129, true},
	{"silence", 133, 144, false},
}

func scores(t testing.TB, rate int) []float32 {
	t.Helper()
	d, err := New(rate)
	if err != nil {
		t.Fatal(err)
	}
	var all []float32
	for chunk := range slices.Chunk(sounds(t, rate), d.Chunk()) {
		all = append(all, d.Score(chunk))
	}
	return all
}

func TestScoresEqualThoseOfOnnxruntime(t *testing.T) {
	text, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string][]float32
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{8000, 16000} {
		want, got := recorded[fmt.Sprint(rate)], scores(t, rate)
		if len(want) != 144 || len(got) != len(want) {
			t.Fatalf("%d scores of %d", len(got), len(want))
		}
		worst := 0.0
		for i := range want {
			worst = max(worst, math.Abs(float64(got[i]-want[i])))
		}
		t.Logf("%d Hz: they differ by %.1e at most", rate, worst)
		if worst > 5e-5 {
			t.Errorf("%d Hz: they differ by %.1e", rate, worst)
		}
	}
}

func TestOnlySpeechScoresAsSpeech(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		all := scores(t, rate)
		for _, s := range sections {
			for i, score := range all[s.begin:s.end] {
				if (score > 0.5) != s.speech {
					t.Errorf("%d Hz: chunk %d of %s has %.3f", rate, i, s.name, score)
				}
			}
		}
	}
}

func TestResetForgetsWhatCameBefore(t *testing.T) {
	d, err := New(16000)
	if err != nil {
		t.Fatal(err)
	}
	pcm := sounds(t, 16000)
	first := d.Score(pcm[50*512 : 51*512])
	for i := range 20 {
		d.Score(pcm[(60+i)*512 : (61+i)*512])
	}
	if d.Score(pcm[50*512:51*512]) == first {
		t.Error("what came before is of no matter")
	}
	d.Reset()
	if got := d.Score(pcm[50*512 : 51*512]); got != first {
		t.Errorf("%v after a reset, %v at first", got, first)
	}
}

func TestChunksOfAnotherSizeDoNoHarm(t *testing.T) {
	d, err := New(8000)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 255, 257, 5000} {
		if s := d.Score(make([]int16, n)); !(s >= 0 && s < 0.5) {
			t.Errorf("%d samples: %v", n, s)
		}
	}
	loud := slices.Repeat([]int16{math.MaxInt16, math.MinInt16}, 128)
	if s := d.Score(loud); !(s >= 0 && s <= 1) {
		t.Errorf("the loudest: %v", s)
	}
}

func TestOtherRatesAreRefused(t *testing.T) {
	for _, rate := range []int{0, 11025, 22050, 48000} {
		if _, err := New(rate); err == nil {
			t.Errorf("%d Hz", rate)
		}
	}
}

func TestWeightsAreThoseThatWereExtracted(t *testing.T) {
	sum := sha256.Sum256(weightsFile)
	if got := hex.EncodeToString(sum[:]); got != "8338ef08be210b2ccbbac3bf29a6260f30780b0183c8e6ee2a3911d393456453" {
		t.Errorf("the sum is %s", got)
	}
}

func BenchmarkScore(b *testing.B) {
	for _, rate := range []int{8000, 16000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d, err := New(rate)
			if err != nil {
				b.Fatal(err)
			}
			chunk := sounds(b, rate)[60*d.Chunk():][:d.Chunk()]
			for b.Loop() {
				d.Score(chunk)
			}
		})
	}
}
