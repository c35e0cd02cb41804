package app

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"carillon/internal/agent"
	"carillon/internal/agent/openai"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/voice/sphinx"
)

// builtProviders are the providers that this version sends messages or places calls with.
var builtProviders = []string{"whatsapp", "sandbox", "sip"} //nolint:gochecknoglobals // read only

// warnUnbuilt logs what a set-up asks for and this version cannot do yet (docs/reference/set-up.md), a line each.
func warnUnbuilt(ctx context.Context, log *slog.Logger, p *config.Provision) {
	warnOf(ctx, log, unbuilt(p))
}

func warnOf(ctx context.Context, log *slog.Logger, parts config.Problems) {
	for _, w := range parts {
		log.WarnContext(ctx, "accept a part of the set-up that does not work yet", "at", w.At.String(), "reason", w.Text)
	}
}

func unbuilt(p *config.Provision) (found config.Problems) {
	for i := range p.Companies {
		c := &p.Companies[i]
		for _, s := range c.Senders {
			if !slices.Contains(builtProviders, s.Provider) {
				found = append(found, config.Problem{At: s.At, Text: "the provider " + s.Provider + " of the line " + s.ID +
					" is not built yet: its calls fail with line_unavailable"})
			}
		}
		for _, x := range c.Resources {
			if reason := unbuiltResource(x.Resource); reason != "" {
				found = append(found, config.Problem{At: x.At, Text: reason})
			}
		}
	}
	return found
}

// unbuiltResource returns why this version does not use a resource yet, empty where it does.
func unbuiltResource(x resource.Resource) string {
	switch r := x.(type) {
	case *agent.Agent:
		return unbuiltAgent(r)
	}
	return ""
}

// unbuiltAgent returns what an agent is asked to be and is not.
func unbuiltAgent(a *agent.Agent) string {
	switch {
	case a.Engine == openai.Engine && a.OpenAI == nil:
		return "the agent " + a.Name + " of engine openai names no server: the engine builtin responds"
	case a.Engine == "elevenlabs" && a.ElevenLabs == nil:
		return "the agent " + a.Name + " of engine elevenlabs names no agent there: the engine builtin responds"
	case a.Engine == "elevenlabs":
		return "the agent " + a.Name + " of engine elevenlabs talks in voice widgets alone: in chats the engine builtin responds"
	case a.Voice != nil && a.Voice.Transcriber == agent.DefaultTranscriber:
		return "the agent " + a.Name + " understands no speech, for its transcriber is none: visitors of voice widgets type, and it answers aloud"
	case a.Voice != nil && a.Voice.Transcriber == "pocketsphinx" && sphinx.New(nil).Available() != nil:
		return "pocketsphinx, the transcriber of the agent " + a.Name + ", is not installed: visitors of voice widgets type, and it answers aloud"
	case a.Voice != nil && a.Voice.Transcriber == "pocketsphinx" && !strings.HasPrefix(strings.ToLower(a.Language), "en"):
		return "pocketsphinx, the transcriber of the agent " + a.Name + ", understands English alone, and the agent's language is " + a.Language
	}
	return ""
}

// hostOf returns the host of an address, whose path and query may hold a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Hostname()
}
