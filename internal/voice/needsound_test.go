package voice_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/need"
	"carillon/internal/voice"
	"carillon/internal/voice/espeak"
)

// transcribed is the silence after which the words of a turn are known: an early transcript takes 300 ms.
const transcribed = 550 * time.Millisecond

// aloud is a performed turn as a detector receives it on the telephone.
type aloud struct {
	scripted *scripted
	scores   []float32
	ends     []time.Duration // ends of the pieces
}

const (
	telephone = 8000
	soundTail = 3 * time.Second
)

// speakTrimmed speaks a text without the silence around it.
func speakTrimmed(t *testing.T, s *espeak.Speaker, language, text string, speed float64) []int16 {
	t.Helper()
	var pcm []int16
	v := (&agent.Voice{Speed: speed}).Settings()
	if err := s.Speak(t.Context(), voice.Utterance{Voice: v, Language: language, Text: text, Rate: telephone}, func(p []int16) error {
		pcm = append(pcm, p...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	const frame = telephone / 100
	loud := func(i int) bool { return audio.RMS(pcm[i:min(len(pcm), i+frame)]) > 150 }
	from, to := 0, len(pcm)
	for from < to-frame && !loud(from) {
		from += frame
	}
	for to > from+frame && !loud(to-frame) {
		to -= frame
	}
	return pcm[from:to]
}

// performAloud speaks turns with pauses at their marks, over G.711 with noise.
func performAloud(t *testing.T, all []drawn, random *rand.Rand) (out []aloud) {
	t.Helper()
	speaker := espeak.New(nil)
	need.Program(t, "espeak-ng", "espeak-ng")
	spoken := map[string][]int16{}
	for _, d := range all {
		x := aloud{scripted: d.scripted}
		pcm := make([]int16, telephone/2)
		for i, text := range d.pieces {
			key := d.Language + " " + text
			if spoken[key] == nil {
				spoken[key] = speakTrimmed(t, speaker, d.Language, text, 0.9+0.3*random.Float64())
			}
			pcm = append(pcm, spoken[key]...)
			x.ends = append(x.ends, audio.Duration(len(pcm), telephone))
			if i < len(d.pauses) {
				pcm = append(pcm, make([]int16, audio.Count(d.pauses[i], telephone))...)
			}
		}
		pcm = append(pcm, make([]int16, audio.Count(soundTail, telephone))...)
		noise := 10 + 40*random.Float64()
		for i, s := range pcm {
			pcm[i] = int16(max(-32768, min(32767, float64(s)+noise*random.NormFloat64())))
		}
		pcm = audio.Mu.Expand(nil, audio.Mu.Compress(nil, pcm))
		detector := voice.NewDetector(telephone)
		for n := detector.Chunk(); len(pcm) >= n; pcm = pcm[n:] {
			x.scores = append(x.scores, detector.Score(pcm[:n]))
		}
		out = append(out, x)
	}
	return out
}

// measureAloud returns the errors and the delays of a rule. known is the silence after which it has the words.
func measureAloud(all []aloud, chunk time.Duration, rule func(s *scripted, text string) time.Duration, known time.Duration) figures {
	var f figures
	var delays []time.Duration
	for i := range all {
		x := &all[i]
		e := voice.NewEars(chunk)
		ended := time.Duration(-1)
		for n, score := range x.scores {
			at := time.Duration(n+1) * chunk
			silence := time.Second
			if e.Silence() >= known {
				heard := 0
				for heard+1 < len(x.ends) && x.ends[heard+1] <= at-e.Silence()+100*time.Millisecond {
					heard++
				}
				silence = rule(x.scripted, x.scripted.said(heard))
			}
			if e.Add(score, silence) {
				ended = at
				break
			}
		}
		last := x.ends[len(x.ends)-1]
		if ended < 0 {
			ended = last + soundTail
		}
		if ended < last {
			f.wrong++
			continue
		}
		delays = append(delays, ended-last)
		f.mean += ended - last
	}
	slices.Sort(delays)
	f.wrong /= float64(len(all))
	f.mean /= time.Duration(max(len(delays), 1))
	f.median = delays[len(delays)/2]
	return f
}

func TestSpokenTurnsAreCutOffLessThanByAFixedSilence(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 42))
	var all []drawn
	for i, d := range perform(script(t), 5) {
		if i%(draws/4) == 0 { // four performances of each turn
			all = append(all, d)
		}
	}
	spoken := performAloud(t, all, random)
	chunk := audio.Duration(voice.NewDetector(telephone).Chunk(), telephone)
	f300 := measureAloud(spoken, chunk, fixed(300*time.Millisecond), 0)
	f600 := measureAloud(spoken, chunk, fixed(600*time.Millisecond), 0)
	words := measureAloud(spoken, chunk, byWords(1), transcribed)
	early := measureAloud(spoken, chunk, byWords(1), 260*time.Millisecond)
	t.Logf("%d turns aloud\n fixed 300: %v\n fixed 600: %v\n by words, known after 550 ms: %v\n by words, known after 260 ms: %v",
		len(spoken), f300, f600, words, early)
	atAloud := func(wrong float64, rule func(float64) func(*scripted, string) time.Duration, known time.Duration) figures {
		low, high := 0.1, 6.0
		for range 15 {
			if middle := (low + high) / 2; measureAloud(spoken, chunk, rule(middle), known).wrong > wrong {
				low = middle
			} else {
				high = middle
			}
		}
		return measureAloud(spoken, chunk, rule(high), known)
	}
	fixedBy := func(scale float64) func(*scripted, string) time.Duration {
		return fixed(time.Duration(scale * float64(600*time.Millisecond)))
	}
	for _, wrong := range []float64{0.05, 0.1} {
		t.Logf("at %2.0f %%: fixed %v; by words %v", 100*wrong, atAloud(wrong, fixedBy, 0), atAloud(wrong, byWords, 260*time.Millisecond))
	}
	if words.wrong > f600.wrong-0.03 || words.mean > f600.mean+200*time.Millisecond {
		t.Errorf("by words %v, fixed %v", words, f600)
	}
}
