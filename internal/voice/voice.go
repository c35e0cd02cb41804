// Package voice talks with people aloud: it detects speech, decides whose turn it is, has the words transcribed and the
// response spoken. It works alike for browsers and telephones (Line), with any Transcriber, Speaker and source of responses
// (Dialogue).
package voice

import (
	"context"
	"time"

	"carillon/internal/agent"
)

// Line carries sound to and from a person. Samples are 16-bit, mono.
type Line interface {
	// Rate is samples a second: 8000 or 16000.
	Rate() int
	// Read returns the next samples of the person, as many as came; io.EOF once the person has left.
	Read(ctx context.Context) ([]int16, error)
	// Write sends samples. It does not wait until they are played.
	Write(pcm []int16) error
	// Clear drops the samples that were written and not played yet.
	Clear() error
	// Lead is how far ahead of playing samples may be written.
	Lead() time.Duration
	// Digits are the keys that the person presses; nil if there are none.
	Digits() <-chan rune
}

// Speaker turns text into sound.
type Speaker interface {
	// Speak emits the sound in order, as soon as it has it, and returns at its end. An error of emit ends it.
	Speak(ctx context.Context, u Utterance, emit func(pcm []int16) error) error
}

// Utterance is a sentence or a few to speak.
type Utterance struct {
	CompanyID string
	Voice     *agent.Voice // never nil
	Language  string       // BCP 47
	Text      string
	Rate      int // of the samples that are wanted
}

// Transcriber turns what a person says into text.
type Transcriber interface {
	// Listen begins an utterance. Its error means that it cannot be transcribed.
	Listen(ctx context.Context, h Hearing) (Recognizer, error)
}

// Hearing describes an utterance that is about to come.
type Hearing struct {
	CompanyID string
	Voice     *agent.Voice // never nil
	Language  string       // BCP 47
	Rate      int
	Expect    []string          // choices that were offered; any other words may come too
	Partial   func(text string) // gets the words understood so far; may be nil; called from any goroutine
}

// Recognizer transcribes one utterance.
type Recognizer interface {
	// Write adds samples. It does not wait for the service.
	Write(pcm []int16) error
	// Result ends the utterance and returns the transcript; an empty text means that nothing was understood.
	Result(ctx context.Context) (Transcript, error)
	// Close abandons the utterance. It may be called at any time and more than once.
	Close()
}

// Transcript is the result of transcribing an utterance.
type Transcript struct {
	Text    string
	Confirm bool // uncertain: the person must confirm it before anything is done
}

// Detector finds speech in sound.
type Detector interface {
	// Chunk is the number of samples that Score takes.
	Chunk() int
	// Score is the probability that a chunk is speech, from 0 to 1. Chunks are given in order.
	Score(chunk []int16) float32
	Reset()
}
