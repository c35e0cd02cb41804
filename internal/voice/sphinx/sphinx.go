// Package sphinx transcribes with the program pocketsphinx_continuous, which needs no account and no network, and only
// knows English. It distinguishes a few words: yes and no, digits, and the offered choices. It takes any other speech
// for one of them, so its transcripts always need confirmation.
package sphinx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/share"
	"carillon/internal/voice"
)

const (
	program    = "pocketsphinx_continuous"
	dictionary = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"

	wide     = 16000
	maxHeard = 15 * time.Second // only the end of an utterance is used; answers are short
	whole    = 8 * time.Second
)

// ErrMissing means that the program is not installed.
var ErrMissing = errors.New("pocketsphinx is not installed: no speech is understood")

var errLanguage = errors.New("pocketsphinx understands English alone")

// Transcriber implements voice.Transcriber.
type Transcriber struct {
	program, dictionary string
	slots               *share.Share // limits the number of processes
}

// New returns a Transcriber that runs at most one process per core. Without shares it has its own limit.
func New(shares *share.Set) *Transcriber {
	return &Transcriber{program: program, dictionary: dictionary, slots: shares.Of(share.Transcribers.Of(int64(runtime.NumCPU())))}
}

// Available returns the reason why pocketsphinx cannot transcribe, or nil if it can.
func (t *Transcriber) Available() error {
	_, err := exec.LookPath(t.program)
	if err == nil {
		_, err = os.Stat(t.dictionary)
	}
	if err != nil {
		return ErrMissing
	}
	return nil
}

// Listen implements voice.Transcriber.
func (t *Transcriber) Listen(_ context.Context, h voice.Hearing) (voice.Recognizer, error) {
	if language, _, _ := strings.Cut(strings.ToLower(h.Language), "-"); language != "en" {
		return nil, errLanguage
	}
	if err := t.Available(); err != nil {
		return nil, err
	}
	return &utterance{t: t, h: h}, nil
}

// utterance implements voice.Recognizer.
type utterance struct {
	t *Transcriber
	h voice.Hearing

	mu     sync.Mutex
	pcm    []int16
	cancel context.CancelFunc
	closed bool
}

// Write implements voice.Recognizer.
func (u *utterance) Write(pcm []int16) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pcm = append(u.pcm, pcm...)
	if extra := len(u.pcm) - audio.Count(maxHeard, u.h.Rate); extra > 0 {
		u.pcm = u.pcm[:copy(u.pcm, u.pcm[extra:])]
	}
	return nil
}

// Close implements voice.Recognizer.
func (u *utterance) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.cancel != nil {
		u.cancel()
	}
}

// Early implements voice.Early.
func (u *utterance) Early(ctx context.Context) (voice.Transcript, error) { return u.Result(ctx) }

// Result implements voice.Recognizer.
func (u *utterance) Result(ctx context.Context) (voice.Transcript, error) {
	ctx, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	u.mu.Lock()
	pcm, closed := slices.Clone(u.pcm), u.closed
	u.cancel = cancel
	u.mu.Unlock()
	if closed {
		return voice.Transcript{}, context.Canceled
	}
	if len(pcm) == 0 {
		return voice.Transcript{}, nil
	}
	if u.h.Rate != wide {
		var err error
		if pcm, err = audio.Resample(pcm, u.h.Rate, wide); err != nil {
			return voice.Transcript{}, err
		}
	}
	place, err := u.t.slots.Wait(ctx, share.Holder{Company: u.h.CompanyID})
	if err != nil {
		return voice.Transcript{}, err
	}
	defer place.Release()
	g, err := u.t.grammar(u.h.Expect)
	if err != nil {
		return voice.Transcript{}, err
	}
	said, err := u.t.run(ctx, g, pcm)
	if err != nil {
		return voice.Transcript{}, err
	}
	return voice.Transcript{Text: g.text(said), Confirm: true}, nil
}

// run runs the program. It passes sound and grammar through pipes: no file is written.
func (t *Transcriber) run(ctx context.Context, g *grammar, pcm []int16) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("run pocketsphinx: %w", err)
	}
	defer func() { _ = read.Close() }()
	// A second of silence on either side, by which the program finds the utterance.
	quiet := make([]byte, wide)
	var out bytes.Buffer
	cmd := voice.Program(ctx, t.program, "-infile", "/dev/stdin", "-dict", t.dictionary, "-jsgf", "/dev/fd/3", "-logfn", "/dev/null")
	cmd.Stdin = io.MultiReader(bytes.NewReader(quiet), bytes.NewReader(audio.Bytes(pcm)), bytes.NewReader(quiet))
	cmd.Stdout = &out
	cmd.ExtraFiles = []*os.File{read}
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		if errors.Is(err, exec.ErrNotFound) {
			return "", ErrMissing
		}
		return "", fmt.Errorf("start pocketsphinx: %w", err)
	}
	_ = read.Close() // so that a write fails if the program has ended
	_, _ = io.WriteString(write, g.jsgf())
	_ = write.Close()
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("run pocketsphinx: %w", err)
	}
	return out.String(), nil
}
