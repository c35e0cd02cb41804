package app

import (
	"context"
	"sync"

	"carillon/internal/agent"
	"carillon/internal/voice/espeak"
)

// espeaks reports whether espeak-ng is installed.
//
//nolint:gochecknoglobals // found out once
var espeaks = sync.OnceValue(func() bool { return espeak.New().Available(context.Background()) == nil })

// speaks reports whether an agent speaks on this installation, and whether it understands speech; nil: no agent responds.
func speaks(a *agent.Agent) (speech, hearing bool) {
	if a != nil && a.Engine == "elevenlabs" {
		return true, true
	}
	speech = espeaks()
	if a == nil || a.Voice == nil {
		return speech, false
	}
	return speech || a.Voice.Speaker == "openai", a.Voice.Transcriber != "" && a.Voice.Transcriber != "none"
}
