package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"carillon"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/store"
)

const (
	maxAdmit = 5 * time.Second // to look up a trunk's name
	askMost  = 4 * time.Second
)

// admitTrunk checks the trunk of a line that a member of the company sets up.
func admitTrunk(allowed []netip.Prefix) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, settings json.RawMessage) error {
		const field = "settings.trunk"
		trunk, err := sip.TrunkOf(settings)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, maxAdmit)
		defer cancel()
		switch err := sip.Admit(ctx, trunk, allowed); {
		case errors.Is(err, sip.ErrDenied):
			return carillon.Invalid(field, "Must be at a public address; the setting sip-allow-private names private networks that are allowed too")
		case err != nil:
			return carillon.Invalid(field, "This name has no address")
		}
		return nil
	}
}

// meetTrunks reports whether two lines have one trunk.
func meetTrunks(ctx context.Context, one, other json.RawMessage) bool {
	a, errA := sip.TrunkOf(one)
	b, errB := sip.TrunkOf(other)
	ctx, cancel := context.WithTimeout(ctx, maxAdmit)
	defer cancel()
	return errA == nil && errB == nil && sip.SameTrunk(ctx, a, b)
}

// warnOfNumbers warns the operator of numbers that lines of several companies have on one trunk.
func warnOfNumbers(ctx context.Context, s *store.Store, log *slog.Logger) {
	all, err := s.SharedNumbers(ctx)
	for err == nil && len(all) > 0 {
		var lines []*carillon.Sender
		var names []string
		for len(all) > 0 && (len(lines) == 0 || all[0].Number == lines[0].Number) {
			lines, names, all = append(lines, all[0]), append(names, all[0].CompanyID+"/"+all[0].ID), all[1:]
		}
		var owner string
		if owner, err = s.NumberOwner(ctx, lines[0].Number); err == nil && owner == "" && telephone.Disputed(lines) {
			log.WarnContext(ctx, "several companies have a line with one number and trunk: calls to it are refused until "+
				"`carillon numbers assign` settles whose it is", "lines", names)
		}
	}
	if err != nil {
		log.WarnContext(ctx, "look for numbers that several companies have", "error", err)
	}
}

// panelLines is what the panel tries lines with.
type panelLines struct{ *App }

// Health implements channels.Lines.
func (l panelLines) Health(line *carillon.Sender) sip.Health {
	trunk, err := sip.TrunkOf(line.Settings)
	if line.Provider != "sip" || err != nil {
		return sip.Health{}
	}
	return l.sip.Health(trunk)
}

// Disputed implements channels.Lines.
func (panelLines) Disputed(lines []*carillon.Sender) bool { return telephone.Disputed(lines) }

// Denies implements channels.Lines.
func (l panelLines) Denies(number string) bool { return l.cfg.CallsDenied.Has(number) }

// Ask implements channels.Lines.
func (l panelLines) Ask(ctx context.Context, line *carillon.Sender) (sip.Health, error) {
	if line.Provider != "sip" {
		return sip.Health{}, carillon.InConflict("The line has no trunk")
	}
	trunk, err := sip.TrunkOf(line.Settings)
	if err != nil {
		return sip.Health{}, err
	}
	return l.sip.Ask(ctx, trunk, askMost), nil
}

// Try implements channels.Lines.
func (l panelLines) Try(ctx context.Context, line *carillon.Sender, x telephone.Trial) telephone.TrialEnd {
	x.Speaker = l.speakers["espeak"]
	return l.telephone.Try(ctx, line, x)
}
