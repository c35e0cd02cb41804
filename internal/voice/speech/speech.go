// Package speech provides this installation's speakers and transcribers, and determines which of them an agent can
// use.
package speech

import (
	"context"
	"strings"
	"sync"

	"carillon/internal/agent"
	"carillon/internal/agent/openai"
	"carillon/internal/base/egress"
	"carillon/internal/base/share"
	"carillon/internal/voice"
	"carillon/internal/voice/espeak"
	server "carillon/internal/voice/openai"
	"carillon/internal/voice/sphinx"
	"carillon/internal/voice/vosk"
)

// Espeaks reports whether espeak-ng is installed.
//
//nolint:gochecknoglobals // found out once
var Espeaks = sync.OnceValue(func() bool { return espeak.New(nil).Available(context.Background()) == nil })

// Speaks reports whether an agent speaks on this installation, and whether it understands speech. nil means that no
// agent responds.
func Speaks(a *agent.Agent) (speech, hearing bool) {
	if a != nil && a.Engine == "elevenlabs" && a.ElevenLabs != nil {
		return true, true
	}
	speech = Espeaks()
	if a == nil || a.Voice == nil {
		return speech, false
	}
	return speech || a.Voice.Speaker == "openai", understands(a)
}

// understands reports whether an agent has a working transcriber.
func understands(a *agent.Agent) bool {
	switch a.Voice.Transcriber {
	case "", agent.DefaultTranscriber:
		return false
	case "pocketsphinx":
		// Only supports English.
		return sphinx.New(nil).Available() == nil && strings.HasPrefix(strings.ToLower(a.Language), "en")
	}
	return true
}

// Fallback is the speaker espeak-ng, which needs no other service. It replaces failing ones.
const Fallback = "espeak"

// Speakers returns this installation's speakers, by agent.Voice.Speaker.
func Speakers(services *egress.Client, shares *share.Set) map[string]voice.Speaker {
	return map[string]voice.Speaker{
		Fallback: voice.NewCache(espeak.New(shares), 0),
		"openai": voice.NewCache(server.NewSpeaker(server.Options{Client: services}), 0),
	}
}

// Transcribers returns this installation's transcribers, by agent.Voice.Transcriber.
func Transcribers(services *egress.Client, shares *share.Set) map[string]voice.Transcriber {
	all := map[string]voice.Transcriber{
		"openai": server.NewTranscriber(server.Options{Client: services}), "vosk": vosk.New(vosk.Options{Client: services.Sockets()}),
	}
	if x := sphinx.New(shares); x.Available() == nil {
		all["pocketsphinx"] = x
	}
	return all
}

// Unbuilt returns a description of an agent's settings that have no effect, or "".
func Unbuilt(a *agent.Agent) string {
	switch {
	case a.Engine == openai.Engine && a.OpenAI == nil:
		return "the agent " + a.Name + " of engine openai names no server: the engine builtin responds"
	case a.Engine == "elevenlabs" && a.ElevenLabs == nil:
		return "the agent " + a.Name + " of engine elevenlabs names no agent there: the engine builtin responds"
	case a.Engine == "elevenlabs":
		return "the agent " + a.Name + " of engine elevenlabs talks in voice widgets alone: in chats the engine builtin responds"
	case a.Voice != nil && a.Voice.Transcriber == agent.DefaultTranscriber:
		return "the agent " + a.Name + " has no transcriber: it understands visitors of voice widgets whose browser recognizes speech; " +
			"the others type, and it answers aloud"
	case a.Voice != nil && a.Voice.Transcriber == "pocketsphinx" && sphinx.New(nil).Available() != nil:
		return "pocketsphinx, the transcriber of the agent " + a.Name +
			", is not installed: visitors of voice widgets type, and it answers aloud"
	case a.Voice != nil && a.Voice.Transcriber == "pocketsphinx" && !strings.HasPrefix(strings.ToLower(a.Language), "en"):
		return "pocketsphinx, the transcriber of the agent " + a.Name +
			", understands English alone, and the agent's language is " + a.Language
	}
	return ""
}
