package voice

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/event/realtime"
)

// wires are this node's ends of the connections between teammates and persons on other nodes.
type wires struct {
	nodes Nodes
	relay realtime.Relay // nil if there is none
	mu    sync.Mutex
	ends  map[string]*wire
}

// wire is one end of such a connection. As a Line, it emits at the other end. Sound goes over the relay while it is
// active, and everything else in parcels.
type wire struct {
	all     *wires
	company string
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
	relays  bool    // the other end gets sound over the relay
	rest    []int16 // from Write, less than a parcel
	last    time.Time
}

func (w *wires) open(companyID, id, far string, rate int) *wire {
	e := &wire{
		all: w, company: companyID, id: id, far: far, rate: rate, in: make(chan []int16, parcelsWait),
		events: make(chan Event, parcelsWait), refused: make(chan string, 1), first: make(chan struct{}),
		out: make(chan parcel, parcelsWait), closed: make(chan struct{}), last: time.Now(),
	}
	end := func() {}
	if w.relay != nil {
		end = w.relay.Subscribe(companyID, wireTopic+id, e.hear)
	}
	e.close = sync.OnceFunc(func() {
		end()
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
		p.To, p.Relays = e.far, e.all.relay != nil
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
	e.learn(p)
	if p.What != parcelRefused {
		e.once.Do(func() { close(e.first) })
	}
	switch p.What {
	case parcelSound:
		e.sound(p.Sound)
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

// learn records a sign of the other end.
func (e *wire) learn(p *parcel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last, e.relays = time.Now(), p.Relays
}

// hear handles sound that came over the relay.
func (e *wire) hear(sound []byte) {
	if len(sound) == 0 || len(sound) > maxSound {
		return
	}
	e.mu.Lock()
	e.last = time.Now()
	e.mu.Unlock()
	e.sound(sound)
}

// sound queues sound for Read. If the queue is full, the sound is dropped.
func (e *wire) sound(sound []byte) {
	select {
	case e.in <- audio.Samples(sound):
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
	if relay := e.all.relay; relay != nil && e.relays && relay.Active() {
		for piece := max(1, e.rate/piecesPerSecond); len(e.rest) >= piece; e.rest = e.rest[piece:] {
			relay.Publish(e.company, wireTopic+e.far, audio.Bytes(e.rest[:piece]))
		}
		return nil
	}
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
