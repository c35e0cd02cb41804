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
	"carillon/internal/voice"
)

// rounds finds the runs that are due and continues them. Effects may take long, so they have separate workers and
// delay no timers.
type rounds struct {
	*Runner
	timed, called chan struct{} // signals: a run's time may have come; an effect is due
	left          chan struct{} // signals that a node was declared dead
	effects       share.Crew[*chats.Run]

	mu       sync.Mutex
	failures map[string]int // failures of steps, by run and step
}

func newRounds(s *Runner) *rounds {
	x := &rounds{
		Runner: s, timed: make(chan struct{}, 1), called: make(chan struct{}, 1), left: make(chan struct{}, 1), failures: map[string]int{},
	}
	x.effects = share.Crew[*chats.Run]{
		Places: s.o.Shares.Of(share.FlowEffects), Page: flowPage,
		Due: func(ctx context.Context, without []string) ([]*chats.Run, error) {
			return s.o.Runs.Calls(ctx, s.o.Now(), flowPage, without)
		},
		Key: func(r *chats.Run) string { return r.ID }, Company: func(r *chats.Run) string { return r.CompanyID },
		Work: x.attempt, Wake: func() { x.poke(true) },
	}
	return x
}

const (
	maxStepTries = 6
	maxFailures  = 10_000 // steps whose failures are remembered
)

// hopeless counts a failure of the run's current step and reports whether there were too many. Transient errors do not
// count.
func (s *rounds) hopeless(x *chats.Run, err error) bool {
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

// backoff returns the wait of a run after its current step failed.
func (s *rounds) backoff(x *chats.Run) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return effectRetry << max(0, s.failures[x.ID+"/"+strconv.Itoa(x.Steps)]-1)
}

// poke wakes the worker for effects, or the one for timed runs.
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

// run continues runs whose time has come and performs their effects until ctx ends.
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

// recover takes over the effects of dead nodes.
func (s *rounds) recover(ctx context.Context, alone bool) {
	if err := s.o.Runs.Recover(ctx, s.now(), alone); err != nil && ctx.Err() == nil {
		s.o.Log.WarnContext(ctx, "take up effects of flows", "error", err)
	}
	s.poke(true)
}

// loop repeats work until ctx ends: when woken, at the time that work returned, and every flowPoll.
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

// times continues the runs that are due and returns the due time of the next one, or zero if none is known.
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

// attempt continues a run that is due. If that fails, it postpones the run, so that it does not delay others, or fails
// it for good if a retry is hopeless. It returns false if even that could not be stored, so that the run may still be
// due.
func (s *rounds) attempt(ctx context.Context, x *chats.Run) bool {
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

// overtaken reports whether another writer has changed the run or its conversation.
func overtaken(err error) bool {
	return errors.Is(err, errOvertaken) || errors.Is(err, chats.ErrOvertaken)
}
