// Package voice runs spoken conversations: it detects speech, decides whose turn it is, has words transcribed and
// responses spoken. It works the same for browsers and telephones (Line), with any Transcriber, Speaker and source of
// responses (Dialogue).
package voice

import (
	"context"
	"time"

	"carillon/internal/agent"
)

// Line carries sound to and from a person. Samples are 16-bit, mono.
type Line interface {
	// Rate returns the sample rate: 8000 or 16000.
	Rate() int
	// Read returns the next available samples of the person, or io.EOF after the person has left.
	Read(ctx context.Context) ([]int16, error)
	// Write sends samples. It does not wait for their playback.
	Write(pcm []int16) error
	// Clear drops samples that were written but not played yet.
	Clear() error
	// Lead returns how far ahead of playback samples may be written. It may grow.
	Lead() time.Duration
	// Digits returns the keys pressed by the person; nil if there are none.
	Digits() <-chan rune
}

// Speaker turns text into sound.
type Speaker interface {
	// Speak emits the sound in order, as soon as it is available, and returns at its end. An error of emit ends it.
	Speak(ctx context.Context, u Utterance, emit func(pcm []int16) error) error
}

// Utterance is a text of one or a few sentences to speak.
type Utterance struct {
	CompanyID string
	Voice     *agent.Voice // never nil
	Language  string       // BCP 47
	Text      string
	Rate      int // sample rate of the sound
}

// Transcriber turns what a person says into text.
type Transcriber interface {
	// Listen begins an utterance. It returns an error if the utterance cannot be transcribed.
	Listen(ctx context.Context, h Hearing) (Recognizer, error)
}

// Hearing describes an utterance before its sound.
type Hearing struct {
	CompanyID string
	Voice     *agent.Voice // never nil
	Language  string       // BCP 47
	Rate      int
	Expect    []string          // offered choices; the person may say other words too
	Partial   func(text string) // receives the words understood so far; may be nil; called from any goroutine
	From      time.Duration     // position of the first sample in the person's sound

	utterance *utterance // its times are known once it has ended
}

// Recognizer transcribes one utterance.
type Recognizer interface {
	// Write adds samples. It does not wait for the service.
	Write(pcm []int16) error
	// Result ends the utterance and returns the transcript. An empty text means that nothing was understood.
	Result(ctx context.Context) (Transcript, error)
	// Close abandons the utterance. It may be called at any time and more than once.
	Close()
}

// Early is implemented by a Recognizer that can transcribe the sound so far, and then continue. It makes the end of a
// turn depend on its words.
type Early interface {
	// Early returns the transcript of the sound so far. When ctx ends it returns immediately.
	Early(ctx context.Context) (Transcript, error)
}

// Transcript is the result of transcribing an utterance.
type Transcript struct {
	Text    string
	Confirm bool   // uncertain: the person must confirm it before it is used
	HeardBy string // chats.Voice.HeardBy
	Partial bool   // an early transcript that may still change: the utterance is transcribed again at its end

	final <-chan string // receives a corrected text soon afterwards, if there is one; nil if there cannot be one
}

// Detector detects speech in sound.
type Detector interface {
	// Chunk returns the number of samples that Score takes.
	Chunk() int
	// Score returns the probability that a chunk is speech, from 0 to 1. Chunks are given in order.
	Score(chunk []int16) float32
	Reset()
}
