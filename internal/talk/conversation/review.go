package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/review"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
)

const (
	reviewEvery = 5 * time.Second
	// reviewLease is the time after which another node makes a review: the one that began it has stopped.
	reviewLease   = 3 * time.Minute
	reviewTimeout = 150 * time.Second
	suspendedStay = time.Hour // of a review while its company is suspended
	maxReviews    = 50        // conversations that are read at a time
	// maxReviewTries bounds how often a review is begun before it is given up.
	maxReviewTries = 10
	// engineTries bounds the requests for a review, and the nodes that may stop while they ask.
	engineTries = 3
	engineWait  = 2 * time.Second
	// A review reads the first and the last turns of a long conversation.
	firstTurns = 30
	lastTurns  = 270
)

// reviews reviews conversations after their end. A node claims a conversation with its last turn; the review is stored only if
// the claim still holds and nothing was said since. A node that dies leaves its claim to lapse.
type reviews struct {
	*core
	crew share.Crew[*chats.Conversation]
	wake chan struct{}
	wait time.Duration // before the second request for a review; it doubles with each
}

func newReviews(c *core) *reviews {
	s := &reviews{core: c, wake: make(chan struct{}, 1), wait: engineWait}
	s.crew = share.Crew[*chats.Conversation]{
		Places: c.o.Shares.Of(share.Reviews), Page: maxReviews,
		Due: func(ctx context.Context, without []string) ([]*chats.Conversation, error) {
			return c.store.Reviews.Due(ctx, c.now(), maxReviews, without)
		},
		Key:     func(c *chats.Conversation) string { return c.ID },
		Company: func(c *chats.Conversation) string { return c.CompanyID },
		Work:    s.work,
		Wake: func() {
			select {
			case s.wake <- struct{}{}:
			default:
			}
		},
	}
	return s
}

// run makes reviews until ctx ends.
func (s *reviews) run(ctx context.Context) error {
	defer s.crew.Wait()
	for {
		if err := s.crew.Begin(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.WarnContext(ctx, "find conversations to review", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-time.After(reviewEvery):
		}
	}
}

// work makes a review that is due. It reports whether another may be due.
func (s *reviews) work(ctx context.Context, c *chats.Conversation) bool {
	done, err := s.review(ctx, c)
	if err == nil {
		return done
	}
	if ctx.Err() != nil { // the program stops, and the next start or another node makes it
		err = s.store.Reviews.Postpone(context.WithoutCancel(ctx), c, s.now())
	}
	if err != nil {
		s.o.Log.WarnContext(ctx, "review a conversation", "company", c.CompanyID, "conversation", c.ID, "error", err)
	}
	return false
}

// review claims a conversation and reviews it. It changes c to the claimed state.
func (s *reviews) review(ctx context.Context, c *chats.Conversation) (done bool, err error) {
	now := s.now()
	if due := c.ReviewDue(); due.After(now) {
		return true, s.store.Reviews.Postpone(ctx, c, due)
	}
	if c.ReviewTries >= maxReviewTries {
		s.o.Log.WarnContext(ctx, "give up a review", "company", c.CompanyID, "conversation", c.ID, "attempts", c.ReviewTries)
		return true, s.store.Reviews.Postpone(ctx, c, time.Time{})
	}
	if suspended, err := s.o.Suspended(ctx, c.CompanyID); suspended || err != nil {
		if err == nil {
			err = s.store.Reviews.Postpone(ctx, c, now.Add(suspendedStay))
		}
		return true, err
	}
	until := now.Add(reviewLease)
	ok, err := s.store.Reviews.Claim(ctx, c, until)
	if !ok || err != nil {
		return true, err
	}
	c.ReviewAt = until
	c.ReviewTries++
	within, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	m, err := s.material(within, c)
	if carillon.IsCode(err, carillon.NotFound) || err == nil && !m.Complete() {
		return true, s.store.Reviews.Postpone(ctx, c, time.Time{}) // the agent was deleted, or took no part
	}
	if err != nil {
		return false, err
	}
	r, err := s.judge(within, c, m)
	if err != nil {
		return false, err
	}
	return true, s.keep(ctx, func() error { return s.storeReview(ctx, c, m.Agent, r) })
}

// judge asks the engine, if there is one, and otherwise the rules. Its error is the end of ctx.
func (s *reviews) judge(ctx context.Context, c *chats.Conversation, m *review.Material) (*review.Review, error) {
	if s.o.Reviewer == nil || !s.o.Reviewer.Reviews(m.Agent) {
		return review.ByRules(m), nil
	}
	failure := errors.New("the program stopped several times while it asked")
	for attempt := 0; attempt < engineTries && c.ReviewTries <= engineTries; attempt++ {
		r, err := s.o.Reviewer.Review(ctx, m, attempt)
		if err == nil {
			return r, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		failure = err
		s.o.Log.WarnContext(ctx, "ask an engine for a review", "company", c.CompanyID, "conversation", c.ID, "error", err)
		if errors.Is(err, review.ErrFinal) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.wait << attempt):
		}
	}
	r := review.ByRules(m)
	r.Failure = knowledge.Clip(failure.Error(), review.MaxReason)
	return r, nil //nolint:nilerr // the review has the engine's error
}

// storeReview stores a review, unless the conversation has continued or another node has the claim.
func (s *reviews) storeReview(ctx context.Context, c *chats.Conversation, a *agent.Agent, r *review.Review) error {
	now := s.now()
	stored := &chats.Review{
		ConversationID: c.ID, CompanyID: c.CompanyID, AgentID: c.AgentID, Seq: c.LastSeq, EndedAt: c.LastAt, At: now, Maker: r.By,
		Goal: string(r.Goal), Topics: r.Topics, Text: chats.ReviewText{Summary: r.Summary, Reason: r.Reason, Failure: r.Failure},
	}
	if r.Goal != "" {
		stored.Text.Goal = a.Goal
	}
	for _, v := range r.Results {
		stored.Text.Results = append(stored.Text.Results, chats.Value{Name: v.Name, Type: v.Type, Text: v.Text})
	}
	change := &chats.Change{CompanyID: c.CompanyID, ConversationID: c.ID}
	change.Edit = func(have *chats.Conversation) ([]chats.Turn, error) {
		change.Review = nil
		switch {
		case !have.ReviewAt.Equal(c.ReviewAt):
			return nil, errOvertaken
		case have.LastSeq != c.LastSeq:
			have.ReviewAt, have.ReviewTries = have.ReviewDue(), 0
		default:
			have.ReviewAt, have.ReviewTries, change.Review = time.Time{}, 0, stored
		}
		return nil, nil
	}
	before := *c
	err := s.do(ctx, change, &before)
	switch {
	case errors.Is(err, errOvertaken), carillon.IsCode(err, carillon.NotFound): // deleted meanwhile
		return nil
	case err != nil:
		return fmt.Errorf("store a review: %w", err)
	case change.Review != nil:
		s.o.Observer.Reviewed(r.By, string(r.Goal), r.Failure != "")
	}
	return nil
}

// material reads what is judged. Errors: not_found if the agent no longer exists.
func (s *reviews) material(ctx context.Context, c *chats.Conversation) (*review.Material, error) {
	a, _, err := s.o.Agents.TalkingAgent(ctx, c.CompanyID, c.AgentID)
	if err != nil {
		return nil, err
	}
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.LastSeq+1, firstTurns+lastTurns)
	if err != nil {
		return nil, err
	}
	if len(turns) > 0 && turns[0].Seq > 1 {
		begin, err := s.store.Chats.Turns(ctx, c.CompanyID, c.ID, 0, firstTurns)
		if err != nil {
			return nil, err
		}
		turns = append(begin, turns[firstTurns:]...)
	}
	m := &review.Material{
		Agent: a, CompanyID: c.CompanyID, ConversationID: c.ID, Language: cmp.Or(c.Language, a.Language), Rating: c.Rating,
		Alone: c.State == chats.Missed || c.State == chats.Abandoned,
	}
	open := -1 // line whose choices a contact's turn may pick
	for i := range turns {
		t := &turns[i]
		if t.Kind == chats.KindEvent {
			happened(m, t)
			continue
		}
		if t.Note {
			continue
		}
		line := lineOf(t)
		if open >= 0 && line.Outcome != "" && t.Author == chats.Agent { // the answer to a choice replaces the offer
			m.Lines[open].Outcome, open = "", -1
		}
		m.Lines = append(m.Lines, line)
		switch {
		case leavesOpen(t):
			open = len(m.Lines) - 1
		case t.Author == chats.Visitor && open >= 0 && !picked(turns[:i+1]):
			open = -1
		}
	}
	return m, nil
}

// picked reports whether the last of the turns picks a choice of an earlier one.
func picked(turns []chats.Turn) bool {
	prior, _ := offered(turns)
	return prior != nil
}

// happened records an event of the conversation.
func happened(m *review.Material, t *chats.Turn) {
	switch t.Extra.Event {
	case Noted:
		for _, v := range t.Extra.Set {
			m.Set = append(m.Set, agent.Value{Name: v.Name, Type: v.Type, Text: v.Text})
		}
	case ToolCalled:
		for _, u := range t.Extra.Tools {
			m.Used = append(m.Used, agent.Use{
				Tool: u.Tool, Arguments: u.Arguments, Status: agent.Status(u.Status), Code: u.Code, Reason: u.Reason, MS: u.MS,
				Changes: u.Changes,
			})
		}
	case Asked:
		m.AskedForTeam, m.AskedReason = true, t.Text
	case Joined:
		m.Joined = true
	case Missed, Abandoned:
		m.Alone = true
	case CalledOff:
		m.AskedForTeam, m.Alone = false, false
	}
}

// lineOf returns a turn in the terms of reviews.
func lineOf(t *chats.Turn) review.Line {
	line := review.Line{Text: t.Extra.Voice.Of(t.Text), Outcome: agent.Outcome(t.Extra.Outcome)}
	switch t.Author {
	case chats.Visitor:
		line.By = review.Person
	case chats.Teammate:
		line.By = review.Teammate
	default:
		line.By = review.Agent
	}
	if t.Extra.File != nil {
		line.Text = "[" + t.Extra.File.Name + "] " + line.Text
	}
	if t.Extra.Outcome == chats.Answered {
		for _, p := range t.Extra.Passages {
			line.Titles = append(line.Titles, p.Title)
		}
	}
	switch t.Extra.Score {
	case chats.Like:
		line.Score = 1
	case chats.Dislike:
		line.Score = -1
	}
	return line
}
