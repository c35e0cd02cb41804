package app

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/destination"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/voice"
)

// maxAsk bounds a health check of a trunk.
const maxAsk = 4 * time.Second

// lines adapts the SIP engine and the telephone to channels.Lines.
type lines struct {
	engine    *sip.Engine
	telephone *telephone.Telephone
	denied    destination.Denied
	speaker   voice.Speaker
}

// Health implements channels.Lines.
func (l lines) Health(line *carillon.Sender) sip.Health {
	trunk, err := sip.TrunkOf(line.Settings)
	if line.Provider != "sip" || err != nil {
		return sip.Health{}
	}
	return l.engine.Health(trunk)
}

// Registration implements channels.Lines.
func (l lines) Registration(line *carillon.Sender) sip.Registration {
	return l.engine.Registration(line.CompanyID, line.ID)
}

// Disputed implements channels.Lines.
func (lines) Disputed(lines []*carillon.Sender) bool { return telephone.Disputed(lines) }

// Denies implements channels.Lines.
func (l lines) Denies(number string) bool { return l.denied.Has(number) }

// Ask implements channels.Lines.
func (l lines) Ask(ctx context.Context, line *carillon.Sender) (sip.Health, error) {
	if line.Provider != "sip" {
		return sip.Health{}, carillon.InConflict("The line has no trunk")
	}
	trunk, err := sip.TrunkOf(line.Settings)
	if err != nil {
		return sip.Health{}, err
	}
	if trunk.WhatsApp != "" {
		return sip.Health{}, carillon.InConflict("Only calls show whether WhatsApp responds")
	}
	return l.engine.Ask(ctx, trunk, maxAsk), nil
}

// Try implements channels.Lines.
func (l lines) Try(ctx context.Context, line *carillon.Sender, x telephone.Trial) telephone.TrialEnd {
	x.Speaker = l.speaker
	return l.telephone.Try(ctx, line, x)
}
