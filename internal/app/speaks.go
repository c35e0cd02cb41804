package app

import (
	"context"
	"strings"
	"sync"

	"carillon/internal/agent"
	"carillon/internal/voice/espeak"
	"carillon/internal/voice/sphinx"
)

// espeaks reports whether espeak-ng is installed.
//
//nolint:gochecknoglobals // found out once
var espeaks = sync.OnceValue(func() bool { return espeak.New(nil).Available(context.Background()) == nil })

// speaks reports whether an agent speaks on this installation, and whether it understands speech; nil: no agent responds.
func speaks(a *agent.Agent) (speech, hearing bool) {
	if a != nil && a.Engine == "elevenlabs" && a.ElevenLabs != nil {
		return true, true
	}
	speech = espeaks()
	if a == nil || a.Voice == nil {
		return speech, false
	}
	return speech || a.Voice.Speaker == "openai", understands(a)
}

// understands reports whether something transcribes for an agent.
func understands(a *agent.Agent) bool {
	switch a.Voice.Transcriber {
	case "", agent.DefaultTranscriber:
		return false
	case "pocketsphinx":
		return sphinx.New(nil).Available() == nil && strings.HasPrefix(strings.ToLower(a.Language), "en") // it knows no other language
	}
	return true
}
