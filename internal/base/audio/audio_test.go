package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
	"time"
)

func noise(seed uint64, n int) []int16 {
	random := rand.New(rand.NewPCG(seed, 1))
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(random.IntN(20000) - 10000)
	}
	return pcm
}

func TestSamplesSurviveBytes(t *testing.T) {
	pcm := []int16{0, 1, -1, math.MaxInt16, math.MinInt16, 258}
	b := Bytes(pcm)
	if !bytes.Equal(b[10:], []byte{2, 1}) {
		t.Errorf("the bytes are % x", b)
	}
	if got := Samples(append(b, 7)); !slices.Equal(got, pcm) {
		t.Errorf("%v", got)
	}
}

func TestLevelsAndTimes(t *testing.T) {
	if got := RMS(tone(440, 16000)); math.Abs(got-29000/math.Sqrt2) > 1 {
		t.Errorf("the level of a tone is %v", got)
	}
	if RMS(nil) != 0 || RMS([]int16{-32768}) != 32768 {
		t.Error("levels at the edges")
	}
	if Duration(320, 16000) != 20*time.Millisecond || Count(20*time.Millisecond, 8000) != 160 {
		t.Error("times")
	}
}

func TestWAVIsReadAsItWasWritten(t *testing.T) {
	pcm := noise(1, 30001)
	file := WAV(pcm, 22050)
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(file), "by the byte": iotest.OneByteReader(bytes.NewReader(file))} {
		got, rate, err := ReadWAV(r, 40000)
		if err != nil || rate != 22050 || !slices.Equal(got, pcm) {
			t.Errorf("%s: %d samples of %d Hz, %v", name, len(got), rate, err)
		}
	}
}

func TestWAVWithALengthThatIsNotSoIsReadToItsEnd(t *testing.T) {
	pcm := noise(2, 5000)
	for _, length := range []uint32{0, 0x7ffff000, 0x7fffffd3, 0xffffffff, 20000} {
		file := WAV(pcm, 16000)
		binary.LittleEndian.PutUint32(file[40:], length)
		got, _, err := ReadWAV(bytes.NewReader(append(file, 1)), 5000)
		if err != nil || !slices.Equal(got, pcm) {
			t.Errorf("length %x: %d samples, %v", length, len(got), err)
		}
	}
}

func TestWAVSkipsOtherChunksAndWhatFollows(t *testing.T) {
	file := WAV([]int16{1, 2, 3}, 16000)
	file = slices.Insert(file, 12, []byte("LIST\x03\x00\x00\x00abc\x00")...)
	file = append(file, "LIST\x02\x00\x00\x00zz"...)
	if got, _, err := ReadWAV(bytes.NewReader(file), 10); err != nil || !slices.Equal(got, []int16{1, 2, 3}) {
		t.Error(got, err)
	}
}

func TestWAVOfTwoChannelsIsMixed(t *testing.T) {
	pcm := []int16{100, 200, -32768, -32768}
	file := AppendBytes(WAVHeader(2*len(pcm), 2, 16000), pcm)
	if got, _, err := ReadWAV(bytes.NewReader(file), 10); err != nil || !slices.Equal(got, []int16{150, -32768}) {
		t.Error(got, err)
	}
	if perSecond, frame := binary.LittleEndian.Uint32(file[28:]), binary.LittleEndian.Uint16(file[32:]); perSecond != 64000 || frame != 4 {
		t.Errorf("%d bytes a second, %d a frame", perSecond, frame)
	}
}

func TestWAVThatIsNoneIsRefused(t *testing.T) {
	good := WAV([]int16{1, 2, 3}, 16000)
	change := func(at int, b byte) []byte {
		file := slices.Clone(good)
		file[at] = b
		return file
	}
	for name, file := range map[string][]byte{
		"empty": nil, "short": good[:30], "no RIFF": change(0, 'X'), "no WAVE": change(8, 'X'), "8 bits": change(34, 8),
		"float":      change(20, 3),
		"no channel": change(22, 0), "no rate": append(slices.Clone(good[:24]), append(make([]byte, 4), good[28:]...)...),
		"no format": append(slices.Clone(good[:12]), good[36:]...), "a great chunk": change(19, 0x7f), "a small format": change(16, 8),
	} {
		if _, _, err := ReadWAV(bytes.NewReader(file), 10); !errors.Is(err, ErrWAV) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := ReadWAV(bytes.NewReader(good), 2); !errors.Is(err, ErrWAV) {
		t.Errorf("more than the limit: %v", err)
	}
	broken := errors.New("broken")
	if _, _, err := ReadWAV(io.MultiReader(bytes.NewReader(good[:20]), iotest.ErrReader(broken)), 10); !errors.Is(err, broken) {
		t.Errorf("a broken stream: %v", err)
	}
	if _, _, err := ReadWAV(io.MultiReader(bytes.NewReader(good[:46]), iotest.ErrReader(broken)), 10); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks in the samples: %v", err)
	}
}

func FuzzWAV(f *testing.F) {
	f.Add(WAV(noise(3, 100), 8000))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVEdata\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		pcm, rate, err := ReadWAV(bytes.NewReader(file), 1000)
		if err == nil && (rate < 1000 || len(pcm) > 1000+8192 || 2*len(pcm) > len(file)) {
			t.Errorf("%d samples of %d Hz from %d bytes", len(pcm), rate, len(file))
		}
	})
}
