package conversation

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"carillon/internal/db"
	"carillon/internal/store/chats"
	"carillon/internal/store/runs"
	"carillon/internal/voice"
)

// rounds look for the runs that are due, and have this node go on with them. An effect may take long: effects have workers of their own,
// so that they hold up nobody's time.
type rounds struct {
	*Runner
	timed, called chan struct{} // the time of a run may have come; an effect is due
	workers       chan struct{} // of effects
	effects       sync.WaitGroup
	mu            sync.Mutex
	underWay      map[string]bool // runs with an effect
	failures      map[string]int  // of steps, by run and step
}

func newRounds(s *Runner) *rounds {
	return &rounds{
		Runner: s, timed: make(chan struct{}, 1), called: make(chan struct{}, 1), workers: make(chan struct{}, effectWorkers), underWay: map[string]bool{},
		failures: map[string]int{},
	}
}

// claim reports whether a run has no effect under way; from now on it has, until free.
func (s *rounds) claim(runID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.underWay[runID]
	s.underWay[runID] = true
	return !was
}

func (s *rounds) free(runID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, runID)
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
	if s.o.Alone {
		if err := s.o.Runs.Recover(ctx, s.now()); err != nil {
			s.o.Log.WarnContext(ctx, "take up effects of flows", "error", err)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { s.loop(ctx, s.timed, s.times) })
	all.Go(func() {
		s.loop(ctx, s.called, func(ctx context.Context) (time.Time, error) { return time.Time{}, s.calls(ctx) })
	})
	all.Wait()
	s.effects.Wait()
	return nil
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

// calls has the effects begin that are due by now.
func (s *rounds) calls(ctx context.Context) error {
	for {
		due, err := s.o.Runs.Calls(ctx, s.o.Now(), flowPage)
		if err != nil {
			return err
		}
		begun := 0
		for _, x := range due {
			if !s.claim(x.ID) {
				continue
			}
			begun++
			select {
			case s.workers <- struct{}{}:
			case <-ctx.Done():
				s.free(x.ID)
				return ctx.Err()
			}
			s.effects.Go(func() {
				defer func() {
					s.free(x.ID)
					<-s.workers
				}()
				s.attempt(ctx, x)
			})
		}
		if begun == 0 || len(due) < flowPage {
			return nil
		}
	}
}

// attempt goes on with a run that is due. One that fails is due again later, so that it does not hold up others, and fails for good where it
// would fail again.
func (s *rounds) attempt(ctx context.Context, x *runs.Run) {
	err := voice.Guard(func() error { return s.goOn(ctx, x) })
	if overtaken(err) || ctx.Err() != nil {
		return
	}
	if err != nil {
		s.o.Log.WarnContext(ctx, "go on with a flow", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
		if s.hopeless(x, err) {
			if err := s.giveUp(ctx, x); err != nil && !overtaken(err) {
				s.o.Log.ErrorContext(ctx, "end a flow that cannot go on", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
			}
			return
		}
		if _, err := s.postpone(ctx, x, s.backoff(x), x.Begun); err != nil && !overtaken(err) {
			s.o.Log.WarnContext(ctx, "put off a flow", "company", x.CompanyID, "run", x.ID, "step", x.Path, "error", err)
		}
	}
}

// overtaken reports that somebody else has written a run, or its conversation.
func overtaken(err error) bool {
	return errors.Is(err, errOvertaken) || errors.Is(err, chats.ErrOvertaken)
}
