package app

import (
	"context"
	"log/slog"
	"slices"

	"carillon/internal/agent"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/voice/speech"
)

// builtProviders are the providers that this version can send messages or place calls with.
var builtProviders = []string{"whatsapp", "sandbox", "sip"} //nolint:gochecknoglobals // read only

// warnUnbuilt logs the features of a set-up that this version does not have yet (docs/reference/set-up.md), one line
// each.
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

// unbuiltResource returns why this version cannot use a resource yet, or "".
func unbuiltResource(x resource.Resource) string {
	switch r := x.(type) {
	case *agent.Agent:
		return speech.Unbuilt(r)
	}
	return ""
}
