// Package membership decides which node owns which shard. On SQLite this process owns them all. On PostgreSQL the
// nodes beat and watch each other's beats (watch.go). A beat is a counter: no clocks are compared to decide what may
// start. The owner itself starts nothing later than LeaseTime after the start of its last successful beat.
//
//	join ── beat ──▶ take free shards up to this node's part ──▶ recover ──▶ Gained
//	          │  └──▶ depose nodes that are dead
//	          └─────▶ too many: Rebalance ──▶ … ──▶ Give
//
// The package does not know lanes or messages: the Subscriber recovers shards and is notified of changes.
package membership

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

const (
	beatEvery    = time.Second
	beatHurry    = 250 * time.Millisecond // while another node may be dead
	sessionRetry = 250 * time.Millisecond
	giveTimeout  = 3 * time.Second
	leaveTimeout = 5 * time.Second

	// LeaseTime is how long after the start of a successful beat a node may start sends.
	LeaseTime = 4 * time.Second
)

// Subscriber works on the shards that this node owns.
type Subscriber interface {
	// Recover marks the work that earlier owners of shards left in flight as unknown, and calls recovered for each
	// shard when that is done. Only then does this node own the shard.
	Recover(ctx context.Context, shards []work.Shard, recovered func(work.Shard)) error
	// Gained is called just before Owns reports a shard, Lost after it no longer does. Neither blocks.
	Gained(s work.Shard)
	Lost(s work.Shard)
	// Rebalance receives the number of shards to hand over. Give gives each back once no work of it is in flight.
	Rebalance(n int)
}

// Options of a Membership. All are optional.
type Options struct {
	Name string // of this node, for people
	// Events sets this node apart for events: it starts messages and calls only while there is no other node.
	Events bool
	Log    *slog.Logger
	// Deposed is called after this node declared another one dead, whose background work may be unfinished.
	Deposed func()
	// Moved is called when this node gave shards back, so that the others check immediately.
	Moved func()
	// Lapsed is called when this node may no longer start work, because it could not prove to the others that it is
	// alive.
	Lapsed func()
}

// Membership represents this node among all nodes. New builds it.
type Membership struct {
	store *store.Store
	o     Options
	sub   Subscriber
	id    string
	lease lease
	clock clock
	event eventNodes

	mu     sync.Mutex
	owned  map[int]int64 // epoch by shard, as known to this node
	giving map[int]bool  // shards being given back; false once done, until checked

	gives sync.WaitGroup
	look  chan struct{} // signals that another node gave shards back
	ready chan struct{}
	once  sync.Once
}

// New builds a membership.
func New(s *store.Store, sub Subscriber, o Options) *Membership {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Membership{
		store: s, sub: sub, o: o, id: carillon.NewID(time.Now()), owned: map[int]int64{}, giving: map[int]bool{},
		look: make(chan struct{}, 1), ready: make(chan struct{}),
	}
}

// lease is the time in which this node may start sends. Its clock continues while the machine is suspended.
type lease struct {
	forever atomic.Bool
	last    atomic.Int64 // bootTime at the start of the last successful beat; 0 before the first
}

func (l *lease) valid() bool {
	if l.forever.Load() {
		return true
	}
	last := l.last.Load()
	return last != 0 && bootTime()-last < int64(LeaseTime)
}

// ID returns this node's ID in the nodes' table.
func (m *Membership) ID() string { return m.id }

// Alone reports whether no other node can exist.
func (m *Membership) Alone() bool { return m.store.DB.Engine() == "sqlite" }

// Ready returns a channel that is closed once the node has joined the others.
func (m *Membership) Ready() <-chan struct{} { return m.ready }

// Valid reports whether this node may start sends now: the others know that it is alive, and commits of starts are
// confirmed as required.
func (m *Membership) Valid() bool { return m.lease.valid() && m.store.DB.Health.Confirms() == nil }

// Clock returns by how much this node's clock is ahead of the database's, and whether this node would start work early.
func (m *Membership) Clock() (ahead time.Duration, early bool) {
	m.clock.mu.Lock()
	defer m.clock.mu.Unlock()
	return m.clock.ahead, m.clock.early
}

// Owns reports whether this node believes that it owns a shard. It is meant for work that two nodes may do but only one
// should.
func (m *Membership) Owns(shard int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, mine := m.owned[shard]
	return mine
}

// Validity returns a function that reports whether a message started in a shard may still be sent: this node may start
// sends, and has not lost the shard since. A node that was declared dead and came back may not send messages that it
// started before.
func (m *Membership) Validity(shard int, epoch int64) func() bool {
	if m.lease.forever.Load() {
		return m.lease.valid
	}
	return func() bool {
		m.mu.Lock()
		owned, mine := m.owned[shard]
		m.mu.Unlock()
		return mine && owned == epoch && m.lease.valid()
	}
}

// Disown forgets a shard that belongs to another node according to the database.
func (m *Membership) Disown(shard int, epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned[shard] == epoch {
		delete(m.owned, shard)
	}
}

// LookForShards triggers a check for free shards.
func (m *Membership) LookForShards() {
	select {
	case m.look <- struct{}{}:
	default:
	}
}

func (m *Membership) joined() { m.once.Do(func() { close(m.ready) }) }

// Join registers the node among the others.
func (m *Membership) Join(ctx context.Context) error {
	if err := m.store.Nodes.Join(ctx, m.id, m.o.Name); err != nil {
		return err
	}
	if !m.Alone() {
		return nil
	}
	m.lease.forever.Store(true)
	if err := m.store.Nodes.TakeAll(ctx, m.id); err != nil {
		return fmt.Errorf("take the shards: %w", err)
	}
	_, shards, err := m.store.Nodes.Cluster(ctx)
	if err != nil {
		return err
	}
	if err := m.hold(ctx, shards); err != nil {
		return err
	}
	m.joined()
	return nil
}

// hold recovers shards that now belong to this node.
func (m *Membership) hold(ctx context.Context, shards []work.Shard) error {
	if len(shards) == 0 {
		return nil
	}
	return m.sub.Recover(ctx, shards, func(s work.Shard) {
		m.sub.Gained(s) // before any of its wake-ups
		m.mu.Lock()
		m.owned[s.ID] = s.Epoch
		m.mu.Unlock()
	})
}

// Give returns shards to the database in the background. Until that is done and the shards have been read again, this
// node treats them as unowned.
func (m *Membership) Give(fences []work.Fence) {
	m.mu.Lock()
	for _, f := range fences {
		delete(m.owned, f.Shard)
		m.giving[f.Shard] = true
	}
	m.mu.Unlock()
	m.gives.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), giveTimeout)
		defer cancel()
		err := m.store.Nodes.Give(ctx, fences)
		m.mu.Lock()
		for _, f := range fences {
			m.giving[f.Shard] = false
		}
		m.mu.Unlock()
		if err != nil { // the next turn finds them still owned, and takes them again
			m.o.Log.Warn("give shards to other nodes", "shards", len(fences), "error", err)
			return
		}
		m.moved()
	})
}

// WaitGiven waits for the end of the hand-overs that Give began.
func (m *Membership) WaitGiven() { m.gives.Wait() }

func (m *Membership) moved() {
	if m.o.Moved != nil {
		m.o.Moved()
	}
}

// Stop ends this node's right to start work; work accepted from now on is left to the others.
func (m *Membership) Stop() {
	m.lease.last.Store(0)
	m.mu.Lock()
	m.owned = map[int]int64{}
	m.mu.Unlock()
}

// Leave gives everything back, so that other nodes and the next start need not wait.
func (m *Membership) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	if err := m.store.Nodes.Leave(ctx, m.id); err != nil {
		return fmt.Errorf("leave the nodes: %w", err)
	}
	m.moved()
	return nil
}

// KeepSession keeps a database session open until ctx ends. The session shows that this process is alive.
func (m *Membership) KeepSession(ctx context.Context) {
	for ctx.Err() == nil {
		err := m.store.Nodes.KeepSession(ctx, m.id)
		if ctx.Err() != nil {
			return
		}
		m.o.Log.WarnContext(ctx, "keep this node's session", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(sessionRetry):
		}
	}
}
