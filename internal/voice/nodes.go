package voice

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/audio"
	"carillon/internal/store/chats"
)

// Nodes sends texts between nodes, through their database. Texts may be lost.
type Nodes interface {
	Notify(ctx context.Context, channel, payload string) error
	Listen(ctx context.Context, channel string, ready func(), received func(payload string)) error
}

const (
	nodesChannel  = "carillon_voice"
	joinTimeout   = 3 * time.Second
	beatEvery     = 3 * time.Second
	lostAfter     = 10 * time.Second // maximum time without a parcel
	listenAgain   = time.Second
	parcelSamples = 1280 // 80 ms at 16,000 per second; PostgreSQL accepts less than 8,000 bytes
	parcelText    = 1500 // characters of an event
	parcelsWait   = 64
)

// Kinds of parcels.
const (
	parcelJoin    = "join"    // a teammate wants to join a conversation
	parcelRefused = "refused" // Code has the reason
	parcelSound   = "sound"
	parcelEvent   = "event"
	parcelBeat    = "beat"
	parcelLeft    = "left"
	parcelOpened  = "opened" // the person is now connected to the node From
)

const refusedConflict = "conflict"

// parcel is a message between nodes while a teammate on one node talks with a person on another. PostgreSQL delivers
// it to all nodes; those that it does not concern drop it.
type parcel struct {
	What           string     `json:"w"`
	To             string     `json:"t"`           // end of a wire; for join, the end to create
	From           string     `json:"f,omitempty"` // for join: the end to respond to; for opened: the node
	CompanyID      string     `json:"c,omitempty"` // for join, like the following fields
	ConversationID string     `json:"k,omitempty"`
	AccountID      string     `json:"a,omitempty"`
	Name           string     `json:"n,omitempty"`
	Rate           int        `json:"r,omitempty"`
	Code           string     `json:"e,omitempty"`
	Sound          []byte     `json:"s,omitempty"`
	Event          *wireEvent `json:"v,omitempty"`
}

// wireEvent is an update of a teammate's screen.
type wireEvent struct {
	Kind     EventKind    `json:"kind"`
	Text     string       `json:"text,omitempty"`
	Author   chats.Author `json:"author,omitempty"`
	Name     string       `json:"name,omitempty"`
	State    chats.State  `json:"state,omitempty"`
	Position int          `json:"position,omitempty"`
}

// wires are this node's ends of the connections between teammates and persons on other nodes.
type wires struct {
	nodes Nodes
	mu    sync.Mutex
	ends  map[string]*wire
}

// wire is one end of such a connection. As a Line, it emits at the other end.
type wire struct {
	all     *wires
	id, far string
	rate    int
	in      chan []int16
	events  chan Event
	refused chan string
	first   chan struct{} // closed at the first parcel
	once    sync.Once
	out     chan parcel
	closed  chan struct{}
	close   func()
	mu      sync.Mutex
	rest    []int16 // from Write, less than a parcel
	last    time.Time
}

func (w *wires) open(id, far string, rate int) *wire {
	e := &wire{
		all: w, id: id, far: far, rate: rate, in: make(chan []int16, parcelsWait), events: make(chan Event, parcelsWait),
		refused: make(chan string, 1),
		first:   make(chan struct{}), out: make(chan parcel, parcelsWait), closed: make(chan struct{}), last: time.Now(),
	}
	e.close = sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.ends, id)
		close(e.closed)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends[id] = e
	go e.send()
	return e
}

// send sends parcels in order, and beats while there are none. It stops when the other end does.
func (e *wire) send() {
	ctx := context.Background()
	notify := func(p parcel) {
		p.To = e.far
		text, err := json.Marshal(p)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, joinTimeout)
		defer cancel()
		// a lost parcel is a moment of sound; a lost end is noticed by missing beats
		_ = e.all.nodes.Notify(ctx, nodesChannel, string(text))
	}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case p := <-e.out:
			notify(p)
		case <-beat.C:
			notify(parcel{What: parcelBeat})
			e.mu.Lock()
			lost := time.Since(e.last) > lostAfter
			e.mu.Unlock()
			if lost {
				e.close()
			}
		case <-e.closed:
			for { // drain the last words
				select {
				case p := <-e.out:
					notify(p)
					continue
				default:
				}
				notify(parcel{What: parcelLeft})
				return
			}
		}
	}
}

// put queues a parcel. If the queue is full, the parcel is dropped, as on a network.
func (e *wire) put(p parcel) {
	select {
	case e.out <- p:
	default:
	}
}

// take handles a parcel from the other end.
func (e *wire) take(p *parcel) {
	e.mu.Lock()
	e.last = time.Now()
	e.mu.Unlock()
	if p.What != parcelRefused {
		e.once.Do(func() { close(e.first) })
	}
	switch p.What {
	case parcelSound:
		select {
		case e.in <- audio.Samples(p.Sound):
		default:
		}
	case parcelEvent:
		if v := p.Event; v != nil {
			select {
			case e.events <- Event{Kind: v.Kind, Text: v.Text, Author: v.Author, Name: v.Name, State: v.State, Position: v.Position}:
			default:
			}
		}
	case parcelRefused:
		select {
		case e.refused <- p.Code:
		default:
		}
	case parcelLeft:
		e.close()
	default:
	}
}

// Rate implements Line.
func (e *wire) Rate() int { return e.rate }

// Read implements Line.
func (e *wire) Read(ctx context.Context) ([]int16, error) {
	select {
	case pcm := <-e.in:
		return pcm, nil
	case <-e.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements Line.
func (e *wire) Write(pcm []int16) error {
	select {
	case <-e.closed:
		return io.ErrClosedPipe
	default:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, pcm...)
	for len(e.rest) >= parcelSamples {
		e.put(parcel{What: parcelSound, Sound: audio.Bytes(e.rest[:parcelSamples])})
		e.rest = e.rest[parcelSamples:]
	}
	return nil
}

// Clear implements Line.
func (e *wire) Clear() error { return nil }

// Lead implements Line.
func (e *wire) Lead() time.Duration { return 0 }

// Digits implements Line.
func (e *wire) Digits() <-chan rune { return nil }

// show passes an event on.
func (e *wire) show(x Event) {
	text := []rune(x.Text)
	e.put(parcel{
		What: parcelEvent, Event: &wireEvent{x.Kind, string(text[:min(len(text), parcelText)]), x.Author, x.Name, x.State, x.Position},
	})
}

// Run connects teammates and persons on different nodes, until ctx ends. With one node it does nothing.
func (s *Sessions) Run(ctx context.Context) error {
	if s.o.Nodes == nil {
		return nil
	}
	for ctx.Err() == nil {
		err := s.o.Nodes.Listen(ctx, nodesChannel, func() {}, func(payload string) { s.received(ctx, payload) })
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the program stops
		}
		s.o.Log.WarnContext(ctx, "listen to the talks of other nodes", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
	return nil
}

// received handles a parcel of any node.
func (s *Sessions) received(ctx context.Context, payload string) {
	var p parcel
	if json.Unmarshal([]byte(payload), &p) != nil {
		return // sent by a newer program
	}
	s.wires.mu.Lock()
	e := s.wires.ends[p.To]
	s.wires.mu.Unlock()
	switch {
	case e != nil:
		e.take(&p)
	case p.What == parcelJoin && s.Talking(p.CompanyID, p.ConversationID):
		go s.connect(ctx, &p)
	case p.What == parcelOpened && p.From != s.id:
		s.mu.Lock()
		s.replace(talkKey{p.CompanyID, p.ConversationID})
		s.mu.Unlock()
	default:
	}
}

// opened makes the other nodes end their session of a conversation.
func (s *Sessions) opened(ctx context.Context, key talkKey) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	text, err := json.Marshal(parcel{What: parcelOpened, From: s.id, CompanyID: key.companyID, ConversationID: key.conversationID})
	if err == nil {
		err = s.o.Nodes.Notify(ctx, nodesChannel, string(text))
	}
	if err != nil {
		s.o.Log.WarnContext(ctx, "end the talk on other nodes", "error", err)
	}
}

// connect connects a teammate on another node with a person on this one.
func (s *Sessions) connect(ctx context.Context, p *parcel) {
	e := s.wires.open(p.To, p.From, p.Rate)
	defer e.close()
	err := s.join(ctx, Teammate{
		CompanyID: p.CompanyID, AccountID: p.AccountID, Name: p.Name, ConversationID: p.ConversationID, Line: e, Show: e.show,
	})
	switch {
	case carillon.IsCode(err, carillon.Conflict):
		e.put(parcel{What: parcelRefused, Code: refusedConflict})
	case err != nil:
		e.put(parcel{What: parcelRefused})
	}
}

// joinFar connects a teammate with a person on another node. Errors: like Join.
func (s *Sessions) joinFar(ctx context.Context, t Teammate) error {
	e := s.wires.open(carillon.NewID(time.Now()), carillon.NewID(time.Now()), t.Line.Rate())
	defer e.close()
	e.put(parcel{
		What: parcelJoin, From: e.id, CompanyID: t.CompanyID, ConversationID: t.ConversationID, AccountID: t.AccountID,
		Name: t.Name, Rate: t.Line.Rate(),
	})
	select {
	case <-e.first:
	case code := <-e.refused:
		if code == refusedConflict {
			return carillon.InConflict("Another teammate is talking with the person")
		}
		return carillon.Absent("Talk")
	case <-time.After(joinTimeout):
		return carillon.Absent("Talk")
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		for {
			pcm, err := e.Read(ctx)
			if err != nil || t.Line.Write(pcm) != nil {
				return
			}
		}
	}()
	go func() {
		for {
			select {
			case x := <-e.events:
				t.Show(x)
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		pcm, err := t.Line.Read(ctx)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if e.Write(pcm) != nil {
			return nil
		}
	}
}
