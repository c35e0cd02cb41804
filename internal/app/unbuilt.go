package app

import (
	"context"
	"log/slog"
	"net/url"
	"slices"

	"carillon/internal/agent"
	"carillon/internal/agent/openai"
	"carillon/internal/config"
	"carillon/internal/hook"
	"carillon/internal/resource"
)

// builtProviders are the providers that this version sends messages or places calls with; builtEngines run agents.
var (
	builtProviders = []string{"whatsapp", "sandbox"} //nolint:gochecknoglobals // read only
	builtEngines   = []string{"builtin", "openai"}   //nolint:gochecknoglobals // read only
)

// warnUnbuilt logs what a set-up asks for and this version cannot do yet (docs/reference/set-up.md), a line each.
func warnUnbuilt(ctx context.Context, log *slog.Logger, p *config.Provision) {
	for _, w := range unbuilt(p) {
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
		if !slices.Contains(builtEngines, r.Engine) {
			return "the engine " + r.Engine + " of the agent " + r.Name + " is not built yet"
		}
		if r.Engine == openai.Engine && r.OpenAI == nil {
			return "the agent " + r.Name + " of engine openai names no server: the engine builtin responds"
		}
	case *hook.Webhook:
		return "the webhook at " + hostOf(r.URL) + " gets no events yet"
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
