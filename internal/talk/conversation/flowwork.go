package conversation

import (
	"context"
	"errors"
	"strconv"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/talk/flow"
)

// goOn continues a run that is due.
func (s *Runner) goOn(ctx context.Context, x *chats.Run) error {
	if suspended, err := s.o.Suspended(ctx, x.CompanyID); suspended || err != nil {
		if err == nil {
			_, err = s.postpone(ctx, x, suspendedWait, x.Begun)
		}
		return err
	}
	c, err := s.store.Chats.Find(ctx, x.CompanyID, x.ConversationID)
	if err != nil {
		return err
	}
	p, err := s.program(ctx, x.CompanyID, x.FlowID, x.Version)
	if err != nil {
		return err
	}
	if x.State == string(flow.Calling) {
		return s.call(ctx, c, p, x)
	}
	r := stateOf(x)
	o := p.Advance(r, textsOf(c.Language).Words, s.now())
	_, err = s.commit(ctx, c, p, x, r, o, 0)
	return err
}

// call performs the effect that a run waits for. It first stores that the effect has begun: after a crash it may have
// happened.
func (s *Runner) call(ctx context.Context, c *chats.Conversation, p *flow.Program, x *chats.Run) error {
	r := stateOf(x)
	e := p.Effect(r)
	if e == nil {
		return errors.New("the step has no effect")
	}
	switch {
	case x.Begun && !e.Repeatable():
		return s.result(ctx, c, p, x, r, e.Values(flow.OutcomeUnknown),
			"The outcome is unknown: the node stopped while it waited for it", false)
	case x.Begun && e.Keyed() && s.now().Sub(x.ChangedAt) >= effectKeyed:
		return s.result(ctx, c, p, x, r, e.Values(flow.OutcomeUnknown),
			"The outcome is unknown: it was begun too long ago to be repeated", false)
	}
	contact, err := s.store.Contacts.ContactOf(ctx, c.CompanyID, c.ContactID)
	if err != nil {
		return err
	}
	begun, err := s.postpone(ctx, x, effectLease, true)
	if err != nil {
		return err
	}
	doing, cancel := context.WithTimeout(context.WithoutCancel(ctx), effectTimeout)
	defer cancel()
	values, detail, refused, err := s.o.Effects.Do(doing, EffectFor{
		CompanyID: c.CompanyID, ConversationID: c.ID, Key: x.ID + "/" + strconv.Itoa(x.Steps), Contact: contact,
	}, e)
	whole := context.WithoutCancel(ctx)
	if err != nil && !s.rounds.hopeless(x, err) {
		s.o.Log.WarnContext(ctx, "the effect of a flow is tried again", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
		_, err = s.postpone(whole, begun, s.rounds.backoff(x), e.Keyed()) // despite the error it may have happened
		return err
	}
	if err != nil {
		s.o.Log.ErrorContext(ctx, "the effect of a flow cannot be done", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
		values, detail, refused = nil, stuck, true
	}
	// After that another node may take over the effect.
	keeping, cancel := context.WithTimeout(whole, effectLease-effectTimeout)
	defer cancel()
	err = s.keep(keeping, func() error { return s.result(whole, c, p, begun, stateOf(x), values, detail, refused) })
	if err == nil || db.Transient(err) || overtaken(err) {
		return err
	}
	s.o.Log.ErrorContext(ctx, "store the outcome of a flow's effect", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
	return s.giveUp(whole, begun) // the effect has happened and must not be repeated
}

// stuck is the reason of a run that ended because it could not continue.
const stuck = "The step failed for a reason inside the program, each time it was tried; its log says more"

// giveUp ends a run that cannot continue and asks for a teammate. It writes no text from outside the program.
func (s *Runner) giveUp(ctx context.Context, x *chats.Run) error {
	there, err := s.anybodyThere(ctx, x.CompanyID)
	if err != nil {
		return err
	}
	now, y := s.now(), *x
	y.State, y.Open, y.Error, y.Due, y.Begun, y.ChangedAt = string(flow.Failed), false, x.Path+": "+stuck, time.Time{}, false, now
	w := &chats.RunWrite{Run: &y, Entries: []chats.RunEntry{{At: now, Path: x.Path, Kind: "failed", Text: stuck}}}
	_, err = s.changeRun(ctx, x.CompanyID, x.ConversationID, "", w, func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.State != chats.Automated {
			return nil, errOvertaken
		}
		c.ReplySeq, c.ReplyAt = 0, time.Time{}
		return askedBy(x.ID, ask(c, "", there, now)), nil
	})
	if err == nil {
		s.o.Observer.Ran(flow.Failed)
	}
	return err
}

// result stores the outcome of an effect and continues the run.
func (s *Runner) result(
	ctx context.Context, c *chats.Conversation, p *flow.Program, x *chats.Run, r *flow.Run, values flow.Values, detail string, refused bool,
) error {
	o := p.Result(r, values, detail, refused, textsOf(c.Language).Words, s.now())
	_, err := s.commit(ctx, c, p, x, r, o, 0)
	return err
}

// postpone stores when a run is due next, and whether its effect has begun.
func (s *Runner) postpone(ctx context.Context, x *chats.Run, d time.Duration, begun bool) (*chats.Run, error) {
	y := *x
	y.Due, y.Begun, y.Node = s.now().Add(d), begun, ""
	if begun {
		y.Node = s.o.Node
	}
	change, err := s.changeRun(ctx, x.CompanyID, x.ConversationID, "", &chats.RunWrite{Run: &y},
		func(c *chats.Conversation) ([]chats.Turn, error) {
			if c.State != chats.Automated {
				return nil, errOvertaken
			}
			return nil, nil
		})
	if err != nil {
		return nil, err
	}
	return change.Ran, nil
}
