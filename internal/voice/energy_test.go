package voice

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"carillon/internal/base/audio"
	"carillon/internal/voice/silero"
)

// counted counts the chunks passed to a detector.
type counted struct {
	Detector
	chunks int
}

func (c *counted) Score(chunk []int16) float32 {
	c.chunks++
	return c.Detector.Score(chunk)
}

// sounds returns the test sounds of the network: silence, pink noise, a tone, silence, English, Spanish with noise,
// and silence.
func sounds(t *testing.T, name string, rate int) []int16 {
	t.Helper()
	f, err := os.Open("silero/testdata/" + name)
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

func hiss(seed uint64, n, peak int) []int16 {
	random := rand.New(rand.NewPCG(seed, 1))
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(random.IntN(2*peak) - peak)
	}
	return pcm
}

func TestTheGateSparesTheDetectorSilence(t *testing.T) {
	bare, err := silero.New(16000)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := silero.New(16000)
	if err != nil {
		t.Fatal(err)
	}
	spared := &counted{Detector: behind}
	gate := NewGate(spared)
	// A quiet room for 20 s, then the test sounds of the network, then the room again.
	room := hiss(1, 20*16000, 80)
	pcm := slices.Concat(room, sounds(t, "sounds-16000.wav", 16000), room)
	chunks, differ := 0, 0
	for chunk := range slices.Chunk(pcm, gate.Chunk()) {
		chunks++
		if (bare.Score(chunk) > 0.5) != (gate.Score(chunk) > 0.5) {
			differ++
		}
	}
	if differ > 3 {
		t.Errorf("%d of %d chunks differ", differ, chunks)
	}
	if spared.chunks > chunks/6 {
		t.Errorf("%d of %d chunks were passed on", spared.chunks, chunks)
	}
	spared.chunks = 0
	gate.Reset()
	for chunk := range slices.Chunk(room, gate.Chunk()) {
		gate.Score(chunk)
	}
	if spared.chunks > 0 {
		t.Errorf("%d chunks of a silent room were passed on", spared.chunks)
	}
}

func TestTheGateLearnsTheNoise(t *testing.T) {
	behind, err := silero.New(8000)
	if err != nil {
		t.Fatal(err)
	}
	spared := &counted{Detector: behind}
	gate := NewGate(spared)
	fan := hiss(2, 30*8000, 800)
	for chunk := range slices.Chunk(fan, gate.Chunk()) {
		gate.Score(chunk)
	}
	if spared.chunks > 120 {
		t.Errorf("%d chunks of a fan were passed on", spared.chunks)
	}
	heard := 0
	for chunk := range slices.Chunk(sounds(t, "sounds-8000.wav", 8000)[45*256:94*256], gate.Chunk()) {
		if gate.Score(chunk) > 0.5 {
			heard++
		}
	}
	if heard < 40 {
		t.Errorf("%d of 49 chunks of speech after it", heard)
	}
}

func TestTheLevelDecidesWithoutTheNetwork(t *testing.T) {
	e := NewEnergy(16000)
	if e.Chunk() != 512 || NewDetector(11025).Chunk() != 352 || NewDetector(8000).Chunk() != 256 {
		t.Error("the size of chunks")
	}
	pcm := slices.Concat(hiss(3, 5*16000, 200), sounds(t, "sounds-16000.wav", 16000)[45*512:], hiss(4, 5*16000, 200))
	var said []bool
	for chunk := range slices.Chunk(pcm, 512) {
		said = append(said, e.Score(chunk) > 0.5)
	}
	count := func(part []bool) (n int) {
		for _, s := range part {
			if s {
				n++
			}
		}
		return n
	}
	begin := 5*16000/512 + 1
	if n := count(said[:begin]); n > 3 {
		t.Errorf("%d chunks of noise count as speech", n)
	}
	if n := count(said[begin : begin+49]); n < 35 {
		t.Errorf("%d of 49 chunks of speech", n)
	}
	if n := count(said[len(said)-100:]); n > 0 {
		t.Errorf("%d chunks of noise count as speech afterwards", n)
	}
	e.Reset()
	if e.Score(make([]int16, 512)) != 0 {
		t.Error("silence")
	}
}
