package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/event/realtime"
	"carillon/internal/store/events"
)

// wireless connects nodes in memory, as NOTIFY does: every node receives everything, its own payloads too.
type wireless struct {
	mu       sync.Mutex
	received []func(payload string)
	longest  int
}

func (w *wireless) Notify(_ context.Context, _, payload string) error {
	w.mu.Lock()
	w.longest = max(w.longest, len(payload))
	all := w.received
	w.mu.Unlock()
	if len(payload) >= 8000 {
		return errors.New("payload string too long")
	}
	for _, f := range all {
		f(payload)
	}
	return nil
}

func (w *wireless) Listen(ctx context.Context, _ string, ready func(), received func(payload string)) error {
	w.mu.Lock()
	w.received = append(w.received, received)
	w.mu.Unlock()
	ready()
	<-ctx.Done()
	return ctx.Err()
}

func (w *wireless) nodes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.received)
}

// table is the table of events.
type table struct {
	mu  sync.Mutex
	all []events.Event
}

func (*table) Follow(context.Context, string, string) error                     { return nil }
func (*table) LastEvent(context.Context, string, string) (seq int64, err error) { return 0, nil }

func (x *table) EventsAfter(_ context.Context, companyID, topic string, seq int64, _ int) (found []events.Event, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.all {
		if e.CompanyID == companyID && e.Topic == topic && e.Seq > seq {
			found = append(found, e)
		}
	}
	return found, nil
}

// liveNode is a node of a test with its bus, which runs once started.
type liveNode struct {
	t     *testing.T
	bus   *realtime.Bus
	hub   *realtime.Hub
	wires *wireless
}

func newLiveNode(t *testing.T, w *wireless, stored *table) *liveNode {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	n := &liveNode{t, realtime.NewBus(w, log), nil, w}
	n.hub = realtime.NewHub(stored, log, n.bus.Publish)
	n.hub.Join(n.bus, nil)
	n.bus.Add(n.hub.Kind())
	return n
}

func (n *liveNode) start() *liveNode {
	n.t.Helper()
	before := n.wires.nodes()
	runBus(n.t, n.bus)
	for hung := time.Now().Add(2 * time.Minute); n.wires.nodes() == before; {
		if time.Now().After(hung) {
			n.t.Fatal("it hangs: the node does not listen")
		}
	}
	return n
}

func (n *liveNode) follow(companyID, topic string) *realtime.Subscription {
	n.t.Helper()
	s, err := n.hub.Subscribe(companyID, topic, 0)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(s.Close)
	if _, _, err := s.Next(n.t.Context()); err != nil { // from now on
		n.t.Fatal(err)
	}
	return s
}

// read returns the next n events of a subscription.
func read(t *testing.T, s *realtime.Subscription, n int) (all []events.Event) {
	t.Helper()
	for len(all) < n {
		select {
		case <-s.Ready():
		case <-time.After(2 * time.Minute):
			t.Fatalf("it hangs after %v", kinds(all))
		}
		next, _, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, next...)
	}
	return all
}

func kinds(all []events.Event) string {
	var names []string
	for _, e := range all {
		names = append(names, e.Kind)
	}
	return strings.Join(names, " ")
}

func liveOf(companyID, topic, kind, text string) *events.Event {
	payload, _ := json.Marshal(text)
	return &events.Event{CompanyID: companyID, Topic: topic, Kind: kind, Subject: "s", Payload: payload, At: time.UnixMilli(7).UTC()}
}

func TestPiecesOfAReplyStayBeforeTheReplyOnAnotherNode(t *testing.T) {
	t.Parallel()
	w, stored := new(wireless), new(table)
	one, other := newLiveNode(t, w, stored).start(), newLiveNode(t, w, stored).start()
	here, there := one.follow("a", "topic"), other.follow("a", "topic")
	turn := liveOf("a", "topic", "turn", "We open")
	turn.Seq = 1
	stored.all = append(stored.all, *turn)
	one.hub.Publish(liveOf("a", "topic", "delta", "We "), liveOf("a", "topic", "delta", "open"), turn)
	const want = "delta delta turn"
	for where, s := range map[string]*realtime.Subscription{"here": here, "there": there} {
		all := read(t, s, 3)
		if kinds(all) != want {
			t.Errorf("%s: %s, want %s", where, kinds(all), want)
		}
		if string(all[0].Payload) != `"We "` || all[0].Subject != "s" || !all[0].At.Equal(time.UnixMilli(7)) {
			t.Errorf("%s: the first is %+v", where, all[0])
		}
	}
}

func TestALiveEventReachesOnlyItsCompanyAndTopic(t *testing.T) {
	t.Parallel()
	w := new(wireless)
	one, other := newLiveNode(t, w, new(table)).start(), newLiveNode(t, w, new(table)).start()
	ours, theirs, elsewhere := other.follow("a", "topic"), other.follow("b", "topic"), other.follow("a", "topic2")
	for i := range 50 {
		one.hub.Publish(liveOf("a", "topic", "ours", fmt.Sprint(i)))
		one.hub.Publish(liveOf("b", "topic", "theirs", ""), liveOf("a", "topic2", "elsewhere", ""))
	}
	for kind, s := range map[string]*realtime.Subscription{"ours": ours, "theirs": theirs, "elsewhere": elsewhere} {
		for i, e := range read(t, s, 50) {
			if e.Kind != kind {
				t.Fatalf("the topic of %s got %s", kind, e.Kind)
			}
			if kind == "ours" && string(e.Payload) != fmt.Sprintf(`"%d"`, i) {
				t.Fatalf("event %d is %s", i, e.Payload)
			}
		}
	}
	if w.longest > 7000 {
		t.Errorf("a payload of %d bytes", w.longest)
	}
}

func TestLiveEventsOfABusyCompanyLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	w := new(wireless)
	one, other := newLiveNode(t, w, new(table)), newLiveNode(t, w, new(table)).start()
	ours := other.follow("b", "topic")
	for range 1000 {
		one.hub.Publish(liveOf("a", "topic", "delta", strings.Repeat("x", 1000)))
	}
	one.hub.Publish(liveOf("b", "topic", "typing", ""))
	one.start()
	if got := kinds(read(t, ours, 1)); got != "typing" {
		t.Errorf("the other company got %s", got)
	}
	if n := one.bus.LiveCounts(); n.Dropped < 900 || n.Notified < 10 {
		t.Errorf("the counts are %+v", n)
	}
}

func TestUnreadableLiveEventsAreRefused(t *testing.T) {
	t.Parallel()
	w := new(wireless)
	n := newLiveNode(t, w, new(table)).start()
	s := n.follow("a", "topic")
	hostile := []string{
		`{`, `null`, `[]`, `{"c":"a","t":"topic","p":{}}`, `{"c":"a","t":"topic","k":"x\nevent: y"}`,
		`{"c":"a","t":"topic","k":"x","p":nope}`,
		`{"c":"a","t":"topic","k":"x","s":"` + strings.Repeat("s", 300) + `"}`, `{"c":1}`,
		"\x00\xff", `{"c":"a","t":"topic","k":"x","a":1e99}`,
	}
	for _, text := range hostile {
		_ = w.Notify(t.Context(), "", "live\nother\n"+text)
	}
	_ = w.Notify(t.Context(), "", "live")
	_ = w.Notify(t.Context(), "", "live\n")
	_ = w.Notify(t.Context(), "", "live\nother\n"+`{"c":"a","t":"topic","k":"good","a":1}`)
	if got := kinds(read(t, s, 1)); got != "good" {
		t.Errorf("the topic got %s", got)
	}
	if got := n.bus.LiveCounts(); got.Refused != int64(len(hostile)) || got.Received != 1 {
		t.Errorf("of %d: %+v", len(hostile), got)
	}
}

func FuzzLiveEvent(f *testing.F) {
	f.Add(`live` + "\n" + `other` + "\n" + `{"c":"a","t":"topic","k":"typing","s":"x","p":{"author":"visitor"},"a":1}`)
	f.Add("live\n\n{}\n{")
	f.Add("event\n3 a/topic\nx")
	f.Fuzz(func(t *testing.T, payload string) {
		w := new(wireless)
		n := newLiveNode(t, w, new(table)).start()
		s := n.follow("a", "topic")
		_ = w.Notify(t.Context(), "", payload)
		all, _, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if strings.ContainsAny(e.Kind, "\r\n") || len(e.Payload) > 0 && !json.Valid(e.Payload) {
				t.Errorf("shown: %+v", e)
			}
		}
	})
}
