package conversation

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/store/runs"
	"carillon/internal/voice"
)

// rounds look for the runs that are due, and have this node go on with them. An effect may take long: effects have workers of their own,
// so that they hold up nobody's time.
type rounds struct {
	*Runner
	timed, called chan struct{} // the time of a run may have come; an effect is due
	left          chan struct{} // a node was declared dead
	effects       share.Crew[*runs.Run]

	mu       sync.Mutex
	failures map[string]int // of steps, by run and step
}

func newRounds(s *Runner) *rounds {
	x := &rounds{
		Runner: s, timed: make(chan struct{}, 1), called: make(chan struct{}, 1), left: make(chan struct{}, 1), failures: map[string]int{},
	}
	x.effects = share.Crew[*runs.Run]{
		Places: s.o.Shares.Of(share.FlowEffects), Page: flowPage,
		Due: func(ctx context.Context, without []string) ([]*runs.Run, error) {
			return s.o.Runs.Calls(ctx, s.o.Now(), flowPage, without)
		},
		Key: func(r *runs.Run) string { return r.ID }, Company: func(r *runs.Run) string { return r.CompanyID },
		Work: x.attempt, Wake: func() { x.poke(true) },
	}
	return x
}

const (
	maxStepTries = 6
	maxFailures  = 10_000 // steps whose failures are remembered
)

// hopeless counts a failure of the step that a run is at, and reports whether there were too many. What passes by itself does not count.
func (s *rounds) hopeless(x *runs.Run, err error) bool {
	if db.Transient(err) {
		return false
	}
	key := x.ID + "/" + strconv.Itoa(x.Steps)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) >= maxFailures {
		clear(s.failures)
	}
	s.failures[key]++
	if s.failures[key] < maxStepTries {
		return false
	}
	delete(s.failures, key)
	return true
}

// backoff is how long a run waits after a failure of its step.
func (s *rounds) backoff(x *runs.Run) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return effectRetry << max(0, s.failures[x.ID+"/"+strconv.Itoa(x.Steps)]-1)
}

// poke lets the work on flows look for what is due: effects, or the runs whose time has come.
func (s *rounds) poke(calling bool) {
	wake := s.timed
	if calling {
		wake = s.called
	}
	select {
	case wake <- struct{}{}:
	default:
	}
}

// run goes on with runs whose time has come, and does their effects, until ctx ends.
func (s *rounds) run(ctx context.Context) error {
	if s.o.Flows == nil {
		<-ctx.Done()
		return nil
	}
	s.recover(ctx, s.o.Alone)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.left:
				s.recover(ctx, false)
			}
		}
	})
	all.Go(func() { s.loop(ctx, s.timed, s.times) })
	all.Go(func() {
		s.loop(ctx, s.called, func(ctx context.Context) (time.Time, error) { return time.Time{}, s.effects.Begin(ctx) })
	})
	all.Wait()
	s.effects.Wait()
	return nil
}

// recover takes up the effects of nodes that are no more.
func (s *rounds) recover(ctx context.Context, alone bool) {
	if err := s.o.Runs.Recover(ctx, s.now(), alone); err != nil && ctx.Err() == nil {
		s.o.Log.WarnContext(ctx, "take up effects of flows", "error", err)
	}
	s.poke(true)
}

// loop does work again and again until ctx ends: when it is woken, at the time that the work returned, and now and then.
func (s *rounds) loop(ctx context.Context, wake chan struct{}, work func(ctx context.Context) (next time.Time, err error)) {
	for {
		next, err := work(ctx)
		wait := flowPoll
		switch {
		case err != nil && ctx.Err() == nil:
			s.o.Log.WarnContext(ctx, "go on with flows", "error", err)
		case err == nil && !next.IsZero():
			wait = max(0, min(wait, next.Sub(s.o.Now())))
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// times goes on with the runs whose time has come by now, and returns when that of the next one comes; zero: none is known.
func (s *rounds) times(ctx context.Context) (next time.Time, err error) {
	for {
		due, next, err := s.o.Runs.Due(ctx, s.o.Now(), flowPage)
		if err != nil || len(due) == 0 {
			return next, err
		}
		var all sync.WaitGroup
		workers := make(chan struct{}, flowWorkers)
		for _, x := range due {
			workers <- struct{}{}
			all.Go(func() {
				defer func() { <-workers }()
				s.attempt(ctx, x)
			})
		}
		all.Wait()
		if ctx.Err() != nil || len(due) < flowPage {
			return next, ctx.Err()
		}
	}
}

// attempt goes on with a run that is due. One that fails is due again later, so that it does not hold up others, and fails for good where
// it would fail again; false where even that failed, so that it may still be due.
func (s *rounds) attempt(ctx context.Context, x *runs.Run) bool {
	err := voice.Guard(func() error { return s.goOn(ctx, x) })
	switch {
	case err == nil || overtaken(err):
		return true
	case ctx.Err() != nil:
		return false
	}
	s.o.Log.WarnContext(ctx, "go on with a flow", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
	if s.hopeless(x, err) {
		err = s.giveUp(ctx, x)
	} else {
		_, err = s.postpone(ctx, x, s.backoff(x), x.Begun)
	}
	if err != nil && !overtaken(err) {
		s.o.Log.ErrorContext(ctx, "put off or end a flow that fails", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
		return false
	}
	return true
}

// overtaken reports that somebody else has written a run, or its conversation.
func overtaken(err error) bool {
	return errors.Is(err, errOvertaken) || errors.Is(err, chats.ErrOvertaken)
}
