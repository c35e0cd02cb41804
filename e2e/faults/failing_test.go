package faults

import (
	"context"
	"slices"
	"testing"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// failures returns the ways in which a provider can fail.
func failures() map[string]graphtest.Failure {
	return map[string]graphtest.Failure{
		"429 of the channel":        graphtest.Code(429, 130429),
		"a proxy's 429":             {Kind: graphtest.HTML, HTTP: 429},
		"500 without JSON":          {Kind: graphtest.HTML, HTTP: 500},
		"500 though taken":          {Kind: graphtest.HTML, HTTP: 500, Accepted: true},
		"503 of the channel":        graphtest.Code(503, 131016),
		"503 without JSON":          {Kind: graphtest.HTML, HTTP: 503},
		"garbage though taken":      {Kind: graphtest.Garbage, Accepted: true},
		"half a body, though taken": {Kind: graphtest.HalfBody, Accepted: true},
		"closed half-way":           {Kind: graphtest.CloseAfter},
		"reset, though taken":       {Kind: graphtest.Reset, Accepted: true},
	}
}

// TestFaultsProviderFails lets a third of the posts fail, in each way that a provider can fail.
func TestFaultsProviderFails(t *testing.T) {
	ways := failures()
	names := make([]string, 0, len(ways))
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	scenario{
		name: "provider fails in ten ways", rules: rules{retries: true}, setup: func(s *site) {
			for _, p := range s.providers {
				p.graph.FailBy(slowly(s.t, s.d.child(), 60*time.Millisecond, func(d dice, x graphtest.Post) *graphtest.Failure {
					if ref, err := provider.ParseRef(x.Ref); err != nil || ref.Attempt > 2 || !d.chance(35) {
						return nil
					}
					f := ways[names[d.IntN(len(names))]]
					s.made.Add(1)
					return &f
				}))
			}
			alone(s)
			// A breaker probes with one message. If that fails too, as a third do here, it doubles its pause, up to 37
			// s.
			s.patience = 5 * time.Minute
		},
		round: func(s *site, name string) {
			s.disturb(name, size, 2*time.Second, func(context.Context) {})
			s.kills = int(s.made.Load())
		},
	}.run(t)
}
