package voice

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"carillon"
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

	piecesPerSecond = 50      // of sound over the relay
	maxSound        = 8 << 10 // bytes of a piece
	wireTopic       = "wire/" // of the relay, and the id of the end that receives
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
	Relays         bool       `json:"y,omitempty"` // the sending end gets sound over the relay; earlier versions do not
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
	e := s.wires.open(p.CompanyID, p.To, p.From, p.Rate)
	defer e.close()
	e.learn(p)
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
	e := s.wires.open(t.CompanyID, carillon.NewID(time.Now()), carillon.NewID(time.Now()), t.Line.Rate())
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
