// Package espeak speaks with the program espeak-ng, which needs no account, no network and no model. It sounds like a
// machine, begins within hundredths of a second, and supports more than a hundred languages. The program runs once per
// utterance; it is not linked.
package espeak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon/internal/base/audio"
	"carillon/internal/base/share"
	"carillon/internal/voice"
)

const (
	program = "espeak-ng"
	// MaxText is the maximum length of an utterance in characters.
	MaxText = 4000

	wordsPerMinute = 160
	minWords       = 80
	maxWords       = 450
	stall          = 10 * time.Second // maximum time without sound from the program
)

// ErrMissing means that the program is not installed.
var ErrMissing = errors.New("espeak-ng is not installed: the voice of espeak is silent")

var (
	errTooLong  = errors.New("the text is too long to be spoken")
	errLanguage = errors.New("espeak-ng has no voice for the language")
	errNoSound  = errors.New("espeak-ng made no sound")
)

// Speaker implements voice.Speaker.
type Speaker struct {
	program string
	voices  catalogue
	slots   *share.Share // limits the number of processes
}

// New returns a Speaker that runs at most four processes per core. Without shares it has its own limit.
func New(shares *share.Set) *Speaker {
	s := &Speaker{program: program, slots: shares.Of(share.Speakers.Of(4 * int64(runtime.NumCPU())))}
	s.voices.list = s.list
	return s
}

// Available returns the reason why espeak-ng cannot speak, or nil if it can.
func (s *Speaker) Available(ctx context.Context) error {
	_, err := s.voices.of(ctx, "en", "")
	return err
}

// Speak implements voice.Speaker.
func (s *Speaker) Speak(ctx context.Context, u voice.Utterance, emit func(pcm []int16) error) error {
	text := plain(u.Text)
	if utf8.RuneCountInString(text) > MaxText {
		return errTooLong
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	settings := u.Voice.Settings()
	name, err := s.voices.of(ctx, u.Language, settings.Name)
	if err != nil {
		return err
	}
	place, err := s.slots.Wait(ctx, share.Holder{Company: u.CompanyID})
	if err != nil {
		return err
	}
	defer place.Release()
	speed := min(max(int(wordsPerMinute*settings.Speed+0.5), minWords), maxWords)
	return s.run(ctx, text, []string{"-v", name, "-s", strconv.Itoa(speed), "-b", "1", "--stdout", "--stdin"}, u.Rate, emit)
}

// run runs the program. The text is given on standard input, because an argument could be taken for an option.
func (s *Speaker) run(ctx context.Context, text string, args []string, rate int, emit func(pcm []int16) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := voice.Program(running, s.program, args...)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run espeak-ng: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return started(err)
	}
	err = pass(&watched{r: out, cancel: cancel}, rate, emit)
	if err != nil {
		cancel()
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case ended != nil:
		return fmt.Errorf("run espeak-ng: %w", ended)
	}
	return nil
}

func started(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return ErrMissing
	}
	return fmt.Errorf("start espeak-ng: %w", err)
}

// pass emits a WAV stream resampled, without most of its closing silence: a person who speaks into that silence would
// otherwise count as interrupting.
func pass(r io.Reader, rate int, emit func(pcm []int16) error) error {
	wav, err := audio.NewWAVReader(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoSound, err)
	}
	resampler, err := audio.NewResampler(wav.Rate, rate)
	if err != nil {
		return err
	}
	end := tail{most: audio.Count(pause, wav.Rate)}
	piece := make([]int16, wav.Rate/10)
	for {
		n, err := wav.Read(piece)
		pcm := resampler.Write(end.add(piece[:n]))
		if errors.Is(err, io.EOF) {
			pcm = append(append(pcm, resampler.Write(end.rest())...), resampler.Flush()...)
		}
		if len(pcm) > 0 {
			if err := emit(pcm); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from espeak-ng: %w", err)
		}
	}
}

const (
	pause = 120 * time.Millisecond // at the end of an utterance and between sentences; that of espeak-ng is 350 ms
	quiet = 16                     // samples below this level, of 32,768, are silence
)

// tail holds silence back until more sound follows.
type tail struct {
	silence []int16
	most    int
}

// add returns the samples that are not closing silence.
func (t *tail) add(pcm []int16) []int16 {
	last := len(pcm)
	for last > 0 && pcm[last-1] > -quiet && pcm[last-1] < quiet {
		last--
	}
	if last == 0 {
		t.silence = append(t.silence, pcm...)
		return nil
	}
	ready := append(t.silence, pcm[:last]...)
	t.silence = append([]int16(nil), pcm[last:]...)
	return ready
}

// rest returns the closing silence, up to the maximum.
func (t *tail) rest() []int16 { return t.silence[:min(len(t.silence), t.most)] }

// watched stops the program when a read of its output takes too long.
type watched struct {
	r      io.Reader
	cancel context.CancelFunc
}

func (w *watched) Read(p []byte) (int, error) {
	timer := time.AfterFunc(stall, w.cancel)
	defer timer.Stop()
	return w.r.Read(p)
}

// plain removes everything that espeak-ng would interpret: control characters, and phonemes in double brackets.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	return strings.ReplaceAll(text, "[[", "[ [")
}
