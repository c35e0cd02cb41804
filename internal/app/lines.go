package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"carillon"
	"carillon/internal/panel"
	"carillon/internal/sandbox"
	"carillon/internal/sip"
	"carillon/internal/telephone"
)

const (
	admitMost = 5 * time.Second // to look up a trunk's name
	askMost   = 4 * time.Second
)

// admitTrunk checks the trunk of a line that a member of the company sets up.
func admitTrunk(allowed []netip.Prefix) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, settings json.RawMessage) error {
		const field = "settings.trunk"
		trunk, err := sip.TrunkOf(settings)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, admitMost)
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

// panelLines is what the panel tries lines with.
type panelLines struct{ *App }

// Health implements panel.Lines.
func (l panelLines) Health(line *carillon.Sender) sip.Health {
	trunk, err := sip.TrunkOf(line.Settings)
	if line.Provider != "sip" || err != nil {
		return sip.Health{}
	}
	return l.sip.Health(trunk)
}

// Denies implements panel.Lines.
func (l panelLines) Denies(number string) bool { return l.cfg.CallsDenied.Has(number) }

// Ask implements panel.Lines.
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

// Try implements panel.Lines.
func (l panelLines) Try(ctx context.Context, line *carillon.Sender, x panel.LineTrial) panel.LineTrialEnd {
	e := l.telephone.Try(ctx, line, telephone.Trial{
		Number: x.Number, Language: x.Language, Company: x.Company, Speaker: l.speakers["espeak"],
		Show: func(s telephone.TrialStep) {
			x.Show(panel.LineTrialStep{AfterMS: s.After.Milliseconds(), Ours: s.Ours, Code: s.Code, Text: s.Text})
		},
	})
	return panel.LineTrialEnd{
		Problem: e.Problem, Code: e.Code, Detail: e.Detail, Answered: e.Answered, TalkedMS: e.Talked.Milliseconds(), Packets: e.Packets, Loud: e.Loud,
	}
}

// panelPhone is the sandbox's phone as the panel shows it.
type panelPhone struct{ *sandbox.Phone }

// Calls implements panel.Phone.
func (p panelPhone) Calls(companyID string) (all []panel.PhoneCall) {
	for _, h := range p.Phone.Calls(companyID) {
		s := h.State()
		all = append(all, panel.PhoneCall{
			ID: h.CallID, CallID: h.Call, Number: h.Number, From: h.From, Suffix: h.Suffix, At: h.At, AnsweredAt: s.Answered, EndedAt: s.Ended,
			Code: s.Code, Keys: s.Keys, Heard: s.Length, Sound: func() ([]int16, int) { return h.Sound(), sandbox.HeardRate },
		})
	}
	return all
}

// Behaviours implements panel.Phone.
func (panelPhone) Behaviours() (all []panel.PhoneBehaviour) {
	for _, b := range sandbox.Behaviours() {
		all = append(all, panel.PhoneBehaviour(b))
	}
	return all
}
