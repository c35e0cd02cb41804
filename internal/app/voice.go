package app

import (
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
	"carillon/internal/voice/espeak"
	"carillon/internal/voice/openai"
	"carillon/internal/voice/sphinx"
	"carillon/internal/voice/vosk"
)

// newVoices builds what talks with people aloud. The speaker of espeak-ng, which needs no other service, stands in for those that
// fail.
func newVoices(a *App) *voice.Sessions {
	const fallback = "espeak"
	services := openai.Options{Client: a.engines}
	a.speakers = map[string]voice.Speaker{fallback: voice.NewCache(espeak.New(a.shares), 0), "openai": voice.NewCache(openai.NewSpeaker(services), 0)}
	transcribers := map[string]voice.Transcriber{
		"openai": openai.NewTranscriber(services), "vosk": vosk.New(vosk.Options{Client: a.engines.Sockets()}),
	}
	if x := sphinx.New(a.shares); x.Available() == nil {
		transcribers["pocketsphinx"] = x
	}
	if !espeaks() {
		a.log.Warn("run without espeak-ng: agents are silent in voice widgets, unless they have a speech server")
	}
	var nodes voice.Nodes
	if !a.store.SQLite() {
		nodes = a.store
	}
	return voice.NewSessions(voice.Options{
		Nodes: nodes, Shares: a.shares,
		Dialogue: conversation.NewAloud(a.conversations), Topics: a.hub, Log: a.log, Observer: a.metrics.Voice,
		Speakers:     a.speakers,
		Transcribers: transcribers,
		Fallback:     fallback, Detector: voice.NewDetector,
	})
}
