package rtp

import (
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
)

// A stream begins at a random sequence number (RFC 3550, section 5.1), so its numbers may wrap to zero at any time.
func TestSequenceNumbersWrapWithinAStream(t *testing.T) {
	t.Parallel()
	const frames, first = 40, 65_520
	j := newJitter()
	seq := uint16(first)
	for i := range frames {
		j.add(1, seq, uint32(i*frameSamples), slices.Repeat([]int16{int16(1000 + i)}, frameSamples)) // loud: quiet frames may be skipped
		seq++
		if i < targetFrames-1 {
			continue
		}
		if got, want := j.take(), int16(1000+i-(targetFrames-1)); len(got) != frameSamples || got[0] != want {
			t.Fatalf("frame %d is %v, not %d", i, got, want)
		}
	}
	if j.lost+j.late != 0 {
		t.Errorf("%d frames count as lost, %d as late", j.lost, j.late)
	}
}

// heardOf plays sound in packets of some samples through a jitter buffer. Each packet takes up to 30 ms longer than others, and
// a share of them is lost. Timestamps are as the sender counts them.
func heardOf(pcm []int16, length int, lost float64, stampOf func(at int) uint32) (heard []int16) {
	const tick, delay = frameSamples, 30 * Rate / 1000
	random := mathrand.New(mathrand.NewPCG(uint64(length), 7)) //nolint:gosec // a test
	type packet struct{ at, arrives int }
	var way []packet
	for at := 0; at+length <= len(pcm); at += length {
		if random.Float64() >= lost {
			way = append(way, packet{at, at + length + random.IntN(delay)})
		}
	}
	slices.SortStableFunc(way, func(a, b packet) int { return a.arrives - b.arrives })
	j := newJitter()
	for now := 0; now < len(pcm)+20*tick; now += tick {
		for len(way) > 0 && way[0].arrives <= now {
			at := way[0].at
			j.add(9, uint16(65_500+at/length), stampOf(at), pcm[at:at+length])
			way = way[1:]
		}
		if frame := j.take(); frame != nil {
			heard = append(heard, frame...)
		} else {
			heard = append(heard, make([]int16, tick)...)
		}
	}
	return heard
}

func TestPacketsOfAnyLengthAreHeard(t *testing.T) {
	t.Parallel()
	said := speech(6 * time.Second)
	right := func(at int) uint32 { return uint32(4_294_960_000 + at) } // wraps
	for _, ms := range []int{10, 20, 25, 30, 40, 60} {
		for lost, least := range map[float64]float64{0: 0.95, 0.01: 0.93, 0.05: 0.85} {
			t.Run(fmt.Sprintf("%d ms, %.0f %% lost", ms, 100*lost), func(t *testing.T) {
				heard := heardOf(said, ms*Rate/1000, lost, right)
				if ncc, _ := audiotest.Correlate(said, heard); ncc < least {
					t.Errorf("heard by %.3f, at least %.2f is wanted", ncc, least)
				}
			})
		}
	}
	for name, stampOf := range map[string]func(at int) uint32{
		"constant timestamps":       func(int) uint32 { return 7 },
		"timestamps in ms":          func(at int) uint32 { return uint32(at / 8) },
		"timestamps of wideband":    func(at int) uint32 { return uint32(2 * at) },
		"timestamps that run back":  func(at int) uint32 { return uint32(-at) },
		"timestamps of other sizes": func(at int) uint32 { return uint32(at / 240 * 160) },
	} {
		t.Run(name, func(t *testing.T) {
			if ncc, _ := audiotest.Correlate(said, heardOf(said, 30*Rate/1000, 0, stampOf)); ncc < 0.95 {
				t.Errorf("heard by %.3f", ncc)
			}
		})
	}
}

// A tone of one packet size keeps its pitch and its length.
func TestAToneIsNotCut(t *testing.T) {
	t.Parallel()
	tone := make([]int16, 3*Rate)
	for i := range tone {
		tone[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/Rate))
	}
	for _, length := range []int{80, 240, 320, 480} {
		heard := heardOf(tone, length, 0, func(at int) uint32 { return uint32(at) })
		loud := 0
		for frame := range slices.Chunk(heard, frameSamples) {
			if audio.RMS(frame) > 4000 {
				loud += frameSamples
			}
		}
		if off := loud - len(tone); off < -2*480 || off > 8*frameSamples {
			t.Errorf("packets of %d samples: %d samples of the tone are heard, %d were sent", length, loud, len(tone))
		}
	}
}

// A stream that pauses, or begins again with other numbers, is heard from its first packet, without a longer delay.
func TestAStreamThatBeginsAgainIsHeard(t *testing.T) {
	t.Parallel()
	said := speech(time.Second)
	for name, change := range map[string]func(ssrc *uint32, seq *uint16, stamp *uint32){
		"pause":       func(_ *uint32, _ *uint16, stamp *uint32) { *stamp += 5 * Rate },
		"short pause": func(_ *uint32, _ *uint16, stamp *uint32) { *stamp += Rate },
		"source":      func(ssrc *uint32, _ *uint16, _ *uint32) { *ssrc++ },
		"all":         func(ssrc *uint32, seq *uint16, stamp *uint32) { *ssrc++; *seq -= 5000; *stamp -= 1 << 20 },
		"numbers":     func(_ *uint32, seq *uint16, _ *uint32) { *seq += 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			j, ssrc, seq, stamp := newJitter(), uint32(1), uint16(9), uint32(1<<30)
			play := func() (heard []int16) {
				for frame := range slices.Chunk(said, frameSamples) {
					j.add(ssrc, seq, stamp, frame)
					seq++
					stamp += frameSamples
					heard = append(heard, j.take()...)
				}
				return heard
			}
			play()
			for range 50 { // a second
				j.take()
			}
			change(&ssrc, &seq, &stamp)
			heard := play()
			if len(heard) < len(said)-3*frameSamples || !slices.Equal(heard, said[:len(heard)]) {
				t.Errorf("%d of %d samples are heard, or others", len(heard), len(said))
			}
		})
	}
}

// Clocks differ by up to 100 ppm: over half an hour by nine frames, which are left out or added where it is quiet.
func TestClocksMayDiffer(t *testing.T) {
	t.Parallel()
	const halfAnHour = 90_000 // frames
	said := speech(20 * time.Second)
	for _, ppm := range []int{-100, 0, 100} {
		t.Run(fmt.Sprintf("%d ppm", ppm), func(t *testing.T) {
			t.Parallel()
			j := newJitter()
			sent, loud, heard, replaced := 0, 0, 0, 0
			length := func(pcm []int16) int {
				if audio.RMS(pcm) < quietFrame {
					return 0
				}
				return 1
			}
			for now := range halfAnHour {
				for sent*(1_000_000-ppm) <= now*1_000_000 { // the sender's clock
					at := sent * frameSamples % len(said)
					pcm := said[at : at+frameSamples]
					j.add(1, uint16(sent), uint32(sent*frameSamples), pcm)
					loud += length(pcm)
					sent++
				}
				heard += length(j.take())
				replaced += min(j.waited, 1)
			}
			if j.lost+j.late > 0 || loud-heard > maxFrames {
				t.Errorf("%d frames are lost and %d late; %d of %d loud ones are heard", j.lost, j.late, heard, loud)
			}
			if replaced > 0 {
				t.Errorf("%d frames are replaced", replaced)
			}
		})
	}
}
