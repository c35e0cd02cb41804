package app

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/destination"
	"carillon/internal/call/handset"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/panel/calls"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/voice"
)

// maxAsk bounds asking a trunk whether it is there.
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
	return l.engine.Ask(ctx, trunk, maxAsk), nil
}

// Try implements channels.Lines.
func (l lines) Try(ctx context.Context, line *carillon.Sender, x channels.LineTrial) channels.LineTrialEnd {
	e := l.telephone.Try(ctx, line, telephone.Trial{
		Number: x.Number, Language: x.Language, Company: x.Company, Speaker: l.speaker,
		Show: func(s telephone.TrialStep) {
			x.Show(channels.LineTrialStep{AfterMS: s.After.Milliseconds(), Ours: s.Ours, Code: s.Code, Text: s.Text})
		},
	})
	return channels.LineTrialEnd{
		Problem: e.Problem, Code: e.Code, Detail: e.Detail, Answered: e.Answered, TalkedMS: e.Talked.Milliseconds(),
		Packets: e.Packets, Loud: e.Loud,
	}
}

// phone adapts the sandbox's telephone to calls.Phone.
type phone struct{ handset *handset.Phone }

// Calls implements calls.Phone.
func (p phone) Calls(companyID string) (all []calls.PhoneCall) {
	for _, h := range p.handset.Calls(companyID) {
		s := h.State()
		all = append(all, calls.PhoneCall{
			ID: h.CallID, CallID: h.Call, Number: h.Number, From: h.From, Suffix: h.Suffix, At: h.At, AnsweredAt: s.Answered,
			EndedAt: s.Ended,
			Code:    s.Code, Keys: s.Keys, Heard: s.Length, Sound: func() ([]int16, int) { return h.Sound(), handset.HeardRate },
		})
	}
	return all
}

// Behaviours implements calls.Phone.
func (phone) Behaviours() (all []calls.PhoneBehaviour) {
	for _, b := range handset.Behaviours() {
		all = append(all, calls.PhoneBehaviour(b))
	}
	return all
}
