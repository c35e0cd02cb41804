package call

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/call/dial"
	"carillon/internal/store"
	"carillon/internal/store/calls"
)

// Reasons for not accepting a call to a line.
var (
	// ErrFull means that the line, or its company on this node, is at its maximum of calls.
	ErrFull = errors.New("as many calls are under way as may be")
	// ErrAway means that this node has not joined the others yet, or is leaving.
	ErrAway = errors.New("this node takes no calls now")
)

// Node is this node's membership. *queue.Queue implements it.
type Node interface {
	// ID returns the node's ID, or "" before it has joined.
	ID() string
	// Holds reports whether the other nodes consider this node alive.
	Holds() bool
}

// Incoming records calls to lines. They count for the limit of their line like placed calls, and are ended in the
// records if their node dies. Calls.Run maintains them. NewIncoming builds it.
type Incoming struct {
	store *store.Store
	table *calls.Incoming
	node  Node
	log   *slog.Logger
	share *share.Share // of calls

	mu        sync.Mutex
	leaving   bool
	running   map[string]context.CancelCauseFunc
	unwritten map[string]calls.IncomingEnd // ends that the database has not stored yet
	gone      map[string]time.Time         // dead nodes, with the time at which this node noticed
}

// NewIncoming returns the record of calls to lines. The calls take places from the share; nil means no limit.
func NewIncoming(s *store.Store, node Node, places *share.Share, log *slog.Logger) *Incoming {
	return &Incoming{
		share: cmp.Or(places, share.New(share.Resource{})), store: s, table: s.Incoming, node: node, log: log,
		running: map[string]context.CancelCauseFunc{}, unwritten: map[string]calls.IncomingEnd{},
		gone: map[string]time.Time{},
	}
}

// Taken is an accepted call to a line, which has a place on the line from ringing to End. It implements dial.Progress.
type Taken struct {
	ID       string // of the call
	all      *Incoming
	ctx      context.Context //nolint:containedctx // canceled when the call must be hung up
	answered time.Time
	place    *share.Place
}

// Take gives a ringing call its place on the line. ctx bounds the database access, life the call. Errors: ErrFull,
// ErrAway.
func (x *Incoming) Take(ctx, life context.Context, line *carillon.Sender, agentID, number string) (*Taken, error) {
	now := time.Now()
	if x.node.ID() == "" || !x.node.Holds() {
		return nil, ErrAway
	}
	c := &calls.IncomingCall{
		ID: carillon.NewID(now), CompanyID: line.CompanyID, SenderUID: line.UID, AgentID: agentID, Number: number, RingingAt: now,
	}
	place, err := x.share.Take(share.Holder{Company: line.CompanyID})
	if err != nil {
		return nil, ErrFull
	}
	life, cancel := context.WithCancelCause(life)
	x.mu.Lock()
	if x.leaving {
		x.mu.Unlock()
		cancel(nil)
		place.Release()
		return nil, ErrAway
	}
	x.running[c.ID] = cancel
	x.mu.Unlock()
	full, err := x.table.Take(ctx, c, line.MaxConcurrent)
	if err == nil && full {
		err = ErrFull
	}
	if err != nil { // it may be stored nevertheless, which makes it a stray
		x.forget(c.ID)
		place.Release()
		return nil, err
	}
	return &Taken{ID: c.ID, all: x, ctx: life, place: place}, nil
}

func (x *Incoming) forget(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if cancel := x.running[id]; cancel != nil {
		cancel(nil)
	}
	delete(x.running, id)
}

// Context returns a context that is canceled when the call must be hung up.
func (t *Taken) Context() context.Context { return t.ctx }

// Ringing implements dial.Progress. It does nothing: the call has been ringing since Take.
func (t *Taken) Ringing(time.Time) {}

// Answered implements dial.Progress.
func (t *Taken) Answered(at time.Time, conversationID string) {
	t.answered = at
	t.write(func(ctx context.Context) error { return t.all.table.Answered(ctx, t.ID, conversationID, at) })
}

// Named implements dial.Progress.
func (t *Taken) Named(wacid string) {
	t.write(func(ctx context.Context) error { return calls.NewOverWhatsApp(t.all.table).Named(ctx, t.ID, wacid) })
}

// RecordingRefused implements dial.Progress.
func (t *Taken) RecordingRefused() {
	t.write(func(ctx context.Context) error { return t.all.table.RecordingRefused(ctx, t.ID) })
}

// Recorded implements dial.Progress.
func (t *Taken) Recorded(fileID string) {
	t.write(func(ctx context.Context) error { return t.all.table.Recorded(ctx, t.ID, fileID) })
}

func (t *Taken) write(what func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := what(ctx); err != nil {
		t.all.log.WarnContext(ctx, "record the progress of a call to a line", "call", t.ID, "error", err)
	}
}

// End records the end of the call and releases its place on the line.
func (t *Taken) End(e dial.Ending) {
	defer t.place.Release()
	end := calls.IncomingEnd{
		State: e.State, Reason: e.Reason, Detail: e.Detail, Cause: e.Cause, EndedBy: e.EndedBy, Result: e.Result,
		AnsweredAt: t.answered, At: e.At,
	}
	if errors.Is(context.Cause(t.ctx), errLapsed) {
		end.State, end.Reason, end.Detail = carillon.StateFailed, carillon.ReasonInterrupted, errLapsed.Error()
	}
	if end.At.IsZero() {
		end.At = time.Now()
	}
	t.all.mu.Lock()
	t.all.unwritten[t.ID] = end
	t.all.mu.Unlock()
	t.all.forget(t.ID)
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := t.all.end(ctx, t.ID, end); err != nil {
		t.all.log.WarnContext(ctx, "end a call to a line; it is tried again", "call", t.ID, "error", err)
	}
}

func (x *Incoming) end(ctx context.Context, id string, e calls.IncomingEnd) error {
	err := x.table.End(ctx, id, e)
	if err == nil {
		x.mu.Lock()
		delete(x.unwritten, id)
		x.mu.Unlock()
	}
	return err
}

// HangUp ends a company's call on any node. It returns the call's previous state, or "" if it is not in progress.
// Errors: not_found.
func (x *Incoming) HangUp(ctx context.Context, companyID, id string) (carillon.State, error) {
	state, _, err := x.table.HangUp(ctx, companyID, id)
	if err != nil {
		return "", err
	}
	if state == "" {
		c, err := x.table.Find(ctx, companyID, id)
		if err == nil && c == nil {
			err = carillon.Absent("Call")
		}
		return "", err
	}
	x.hangUp(errHungUp, id)
	return state, nil
}

// hangUp ends calls on this node, and ignores those on other nodes.
func (x *Incoming) hangUp(why error, ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		if cancel := x.running[id]; cancel != nil {
			cancel(why)
		}
	}
}

func (x *Incoming) hangUpAll(why error) {
	x.mu.Lock()
	ids := slices.Collect(maps.Keys(x.running))
	x.mu.Unlock()
	x.hangUp(why, ids...)
}

// UnderWay returns the number of calls to lines on this node.
func (x *Incoming) UnderWay() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.running)
}

// Wait accepts no more calls, and returns when those in progress have ended. Until then the node keeps its membership;
// otherwise other nodes would end its calls in the records.
func (x *Incoming) Wait() {
	x.mu.Lock()
	x.leaving = true
	x.mu.Unlock()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for x.UnderWay() > 0 {
		<-tick.C
	}
}

// hangUpAsked ends calls whose end was requested on another node.
func (x *Incoming) hangUpAsked(ctx context.Context) error {
	if x.UnderWay() == 0 {
		return nil
	}
	ids, err := x.table.ToHangUp(ctx)
	x.hangUp(errHungUp, ids...)
	return err
}

// lookAfter ends calls in the records that have really ended: those of this node whose end could not be stored or that
// it does not know, and those of dead nodes.
func (x *Incoming) lookAfter(ctx context.Context) error {
	if x.node.ID() == "" {
		return nil
	}
	x.mu.Lock()
	unwritten := maps.Clone(x.unwritten)
	x.mu.Unlock()
	for id, e := range unwritten {
		if err := x.end(ctx, id, e); err != nil {
			return err
		}
	}
	now := time.Now()
	own, err := x.table.Own(ctx, now.Add(-strayAfter))
	if err != nil {
		return err
	}
	for _, id := range own {
		if x.knows(id) {
			continue
		}
		if err := x.interrupt(ctx, id, "the database did not confirm that the call was taken", now); err != nil {
			return err
		}
	}
	foreign, err := x.table.Foreign(ctx)
	if err != nil {
		return err
	}
	for _, f := range foreign {
		if !x.over(f, now) {
			continue
		}
		x.log.WarnContext(ctx, "a call to a line ended with its node", "call", f.ID)
		if err := x.interrupt(ctx, f.ID, "the node that had the call under way is gone", now); err != nil {
			return err
		}
	}
	return nil
}

func (x *Incoming) knows(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ended := x.unwritten[id]
	return ended || x.running[id] != nil
}

func (x *Incoming) interrupt(ctx context.Context, id, why string, now time.Time) error {
	return x.table.End(ctx, id, calls.IncomingEnd{
		State: carillon.StateFailed, Reason: carillon.ReasonInterrupted, EndedBy: "system", Detail: why, At: now,
	})
}

// over reports whether a call of another node has ended with it.
func (x *Incoming) over(f calls.ForeignIncoming, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return isOver(x.gone, f.Node, f.Gone, x.store.DB.SQLite(), now)
}

// Enqueue gives a call that an agent transfers a place in the queue of all nodes, which has at most `most` places.
// Errors: ErrFull.
func (x *Incoming) Enqueue(ctx context.Context, companyID, agentID, conversationID string, most int) error {
	ctx, cancel := context.WithTimeout(ctx, progressWait)
	defer cancel()
	ok, err := x.table.Enqueue(ctx, companyID, agentID, conversationID, most, time.Now())
	if err == nil && !ok {
		err = ErrFull
	}
	return err
}

// Ahead returns the number of calls with a place before a call's. Errors: not_found if the call has no place.
func (x *Incoming) Ahead(ctx context.Context, companyID, conversationID string) (int, error) {
	return x.table.Ahead(ctx, companyID, conversationID)
}

// Dequeue gives up a call's place. If that fails, the place is given up with the call.
func (x *Incoming) Dequeue(companyID, conversationID string) {
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := x.table.Dequeue(ctx, companyID, conversationID); err != nil {
		x.log.WarnContext(ctx, "give up the place of a call", "company", companyID, "conversation", conversationID, "error", err)
	}
}

// Leg is the second leg of a transferred call.
type Leg struct {
	all *Incoming
	id  string
}

// Transfer records the second leg of a call. A leg that this program dials has a place on the line. Errors:
// ErrFull.
func (x *Incoming) Transfer(
	ctx context.Context, line *carillon.Sender, conversationID, number string, mode calls.TransferMode,
) (*Leg, error) {
	now := time.Now()
	t := &calls.Transfer{
		ID: carillon.NewID(now), CompanyID: line.CompanyID, ConversationID: conversationID, SenderUID: line.UID, Number: number,
		Mode: mode, DialedAt: now,
	}
	ctx, cancel := context.WithTimeout(ctx, progressWait)
	defer cancel()
	full, err := x.table.Transfer(ctx, t, line.MaxConcurrent)
	if err == nil && full {
		err = ErrFull
	}
	if err != nil {
		return nil, err
	}
	return &Leg{x, t.ID}, nil
}

// Answered records that the leg was answered.
func (l *Leg) Answered(at time.Time) {
	l.write(func(ctx context.Context) error { return l.all.table.TransferAnswered(ctx, l.id, at) })
}

// Taken records that somebody took the call.
func (l *Leg) Taken(at time.Time) {
	l.write(func(ctx context.Context) error { return l.all.table.TransferTaken(ctx, l.id, at) })
}

// End records the end of the leg, whose time is now. If that fails, the leg ends with the call.
func (l *Leg) End(e calls.TransferEnd) {
	e.At = time.Now()
	l.write(func(ctx context.Context) error { return l.all.table.EndTransfer(ctx, l.id, e) })
}

func (l *Leg) write(what func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), progressWait)
	defer cancel()
	if err := what(ctx); err != nil {
		l.all.log.WarnContext(ctx, "record a transfer", "transfer", l.id, "error", err)
	}
}
