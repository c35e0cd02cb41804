package voicetest

import (
	"context"
	"sync"

	"carillon/internal/voice"
)

// Transcriber is a voice.Transcriber that recognizes the utterances of a bank.
type Transcriber struct{ Bank *Bank }

// Listen implements voice.Transcriber.
func (t Transcriber) Listen(_ context.Context, h voice.Hearing) (voice.Recognizer, error) {
	return &recognizer{bank: t.Bank, rate: h.Rate}, nil
}

type recognizer struct {
	bank *Bank
	rate int

	mu  sync.Mutex
	pcm []int16
}

// Write implements voice.Recognizer.
func (r *recognizer) Write(pcm []int16) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcm = append(r.pcm, pcm...)
	return nil
}

// Result implements voice.Recognizer.
func (r *recognizer) Result(context.Context) (voice.Transcript, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, score, err := r.bank.Recognize(r.pcm, r.rate)
	if err != nil || score < Enough {
		return voice.Transcript{}, err
	}
	return voice.Transcript{Text: text}, nil
}

// Close implements voice.Recognizer.
func (r *recognizer) Close() {}
