package queue

import (
	"sync"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Grants (docs/adr/0018-started-as-accepted.md). Where nothing of a sender waits, a message that is accepted can start at once: it
// is stored as started by the commit that accepts it, instead of by the next one. Before that commit whoever accepts
// asks for a grant, which takes a place from the sender's lane; after it the pump sends the message, or gets the place back.
//
// The pump alone knows what waits. It lends places: how many of a lane's may be granted is told here whenever it
// changes, and a lane counts what is lent as taken before anything of it starts the usual way. So pacing, intervals and bounds
// are as exact as without grants.

// Grant is leave to store one message as started. It must come back: with the message (Fresh), or by Decline.
type Grant struct {
	Fence    store.Fence
	Timeline uint32

	uid    int64
	number string
	stamp  time.Time // of its start, for the recipient's interval
	unsure bool
}

type grants struct {
	mu       sync.Mutex
	open     bool // anything may start
	timeline uint32
	most     int // sends and grants at once
	active   int // sends, as the pump last told
	lent     int // in all
	byShard  [carillon.Shards]int
	shards   map[int]lender
	accounts map[int64]*account // of senders that have a lane, or a grant out
}

// lender is a shard that this node owns.
type lender struct {
	epoch int64
	since time.Time
	shut  bool // on its way to another node
}

// account is what may be granted for one sender.
type account struct {
	room  int  // grants that may still be given
	lent  int  // given, and not back
	lane  bool // the pump has the lane, and tells the room
	space *spacer
}

// Grant gives leave to start a message to a number with its accept; nil: it waits its turn.
func (q *Queue) Grant(s *carillon.Sender, number string) *Grant {
	if !q.beat.valid() {
		return nil
	}
	now, shard := time.Now(), shardOf(s.UID)
	g := &q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	owned, mine := g.shards[shard]
	if !g.open || !mine || owned.shut || g.active+g.lent >= g.most {
		return nil
	}
	if s.PerSecond > 0 && now.Before(owned.since.Add(paceWindow)) {
		return nil // the last owner's requests are unknown
	}
	c := g.accounts[s.UID]
	if c == nil {
		c = &account{room: roomOf(s, q.o.LaneCap), space: new(spacer)}
		c.space.of(s)
	}
	if c.room <= 0 || !c.space.free(number, now) {
		return nil
	}
	stamp := c.space.started(number, now)
	g.accounts[s.UID] = c
	c.room--
	c.lent++
	g.lent++
	g.byShard[shard]++
	return &Grant{Fence: store.Fence{Shard: shard, Owner: q.id, Epoch: owned.epoch}, Timeline: g.timeline, uid: s.UID, number: number, stamp: stamp}
}

// roomOf is how much of a sender without a lane, of which nothing is under way, may start.
func roomOf(s *carillon.Sender, laneCap int) int {
	room := laneCap
	if s.MaxConcurrent > 0 {
		room = min(room, s.MaxConcurrent)
	}
	if s.PerSecond > 0 {
		room = min(room, s.PerSecond)
	}
	return room
}

// Decline gives a grant back whose message was not stored as started; unsure: it may have been, and its shard is looked
// through for it.
func (q *Queue) Decline(g *Grant, unsure bool) {
	g.unsure = unsure
	q.grants.unstarted(g)
	q.post(func(in *inbox) { in.declined = append(in.declined, g) })
}

// unstarted lets another message go to the number.
func (g *grants) unstarted(x *Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accounts[x.uid].space.unstarted(x.number, x.stamp)
}

// settle takes a grant back into the accounts.
func (g *grants) settle(x *Grant) {
	g.lent--
	g.byShard[x.Fence.Shard]--
	c := g.accounts[x.uid]
	c.lent--
	if c.lane {
		return
	}
	if c.room++; c.lent == 0 {
		delete(g.accounts, x.uid)
	}
}

// grantable tells the callers whether anything may start.
func (p *pump) grantable(open bool) {
	g := &p.q.grants
	if g.open == open && g.active == p.active && g.timeline == p.echoes.timeline { // the pump alone writes them
		return
	}
	g.mu.Lock()
	g.open, g.active, g.timeline = open, p.active, p.echoes.timeline
	g.mu.Unlock()
}

const anyShard = -1

// lent is how many grants are out, of a shard or in all.
func (p *pump) lent(shard int) int {
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	if shard == anyShard {
		return g.lent
	}
	return g.byShard[shard]
}

// lends tells of a shard that this node owns; nil: it does not any more.
func (p *pump) lends(id int, s *shardState) {
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	if s == nil {
		delete(g.shards, id)
		return
	}
	g.shards[id] = lender{epoch: s.epoch, since: s.since, shut: s.closing}
}

// joinLane makes the pump the one who tells a lane's room.
func (p *pump) joinLane(l *lane) {
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.accounts[l.uid]
	if c == nil {
		c = &account{space: new(spacer)}
		g.accounts[l.uid] = c
	}
	c.lane, c.room = true, 0
	l.account, l.space, l.lent, l.shown = c, c.space, c.lent, 0
}

// dropLane forgets a lane.
func (p *pump) dropLane(l *lane) {
	delete(p.lanes, l.uid)
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.account.lane = false; l.account.lent == 0 {
		delete(g.accounts, l.uid)
	}
}

// lend tells how many grants a lane's callers may have: none where something of it waits, which then goes first. From then
// on the lane knows how many are out.
func (p *pump) lend(l *lane, now time.Time) {
	room := 0
	if l.calm(now) {
		room = l.free(now, p.q.o.LaneCap)
	}
	if room == l.shown {
		return
	}
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	l.shown, l.lent = room, l.account.lent
	l.account.room = room - l.lent
}

// calm tells that nothing of the lane waits now.
func (l *lane) calm(now time.Time) bool {
	for c := range l.class {
		w := &l.class[c]
		if w.loading || w.due(now) || w.wantsLoad(now) || !w.next.IsZero() && !w.next.After(now) {
			return false
		}
	}
	return !l.breaker.probing()
}

// granted sends a message that was stored as started.
func (p *pump) granted(w Wake, now time.Time) {
	g, m := w.Fresh.Grant, w.Fresh.Queued
	s := p.shards[g.Fence.Shard]
	if s == nil || s.epoch != g.Fence.Epoch {
		p.takeBack(g, p.lanes[g.uid])
		p.unsent(m.Key, 1, store.MoveRetry, Wake{SenderUID: g.uid, Class: w.Class, Due: now}, "its sender went to another node")
		return
	}
	l := p.laneOf(g.uid, s)
	if l.flying == 0 {
		p.guest(now)
	}
	l.of(w.Fresh.Sender)
	f := &flight{lane: l, class: w.Class, stamp: g.stamp, start: &store.Start{Key: m.Key, Shard: l.shard, Attempt: 1}}
	f.job = &Job{Queued: m, Sender: l.sender, Class: w.Class, Shard: l.shard, Attempt: 1, Valid: p.q.validity(l.shard, s.epoch)}
	f.job.Spared, f.job.Probe = p.tried(l, m, now)
	l.pace.take()
	l.flying++
	p.active++
	p.depart(f)
	p.flights[m.Key] = f
	p.takeBack(g, l)
	p.put(f, now)
	p.attend(l, now)
}

// takeBack settles a grant; the lane knows then how many are out.
func (p *pump) takeBack(x *Grant, l *lane) {
	g := &p.q.grants
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settle(x)
	if l != nil {
		l.lent, l.shown = l.account.lent, l.account.room+l.account.lent
	}
}

// declined takes a grant back that was not used.
func (p *pump) declined(x *Grant, now time.Time) {
	l := p.lanes[x.uid]
	p.takeBack(x, l)
	if s := p.shards[x.Fence.Shard]; s != nil && x.unsure {
		s.audit, s.scanAt, p.stirred = true, now, true
	}
	if l != nil {
		p.attend(l, now)
	}
}
