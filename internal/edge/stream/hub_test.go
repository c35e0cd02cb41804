package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/stream"
	"carillon/internal/event/realtime"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/purge"
	"carillon/internal/store/storetest"
)

// screens is a node: its store, its hub, and a server that streams the topic of the company in the path.
type screens struct {
	store  *store.Store
	hub    *realtime.Hub
	router *httpio.Router
	url    string
}

func newScreens(t *testing.T, s *store.Store, others func(kind string, items ...realtime.Item)) *screens {
	t.Helper()
	x := &screens{store: s, hub: realtime.NewHub(s.Topics, slog.New(slog.DiscardHandler), others)}
	x.router = httpio.NewRouter(slog.New(slog.DiscardHandler), nil, httpio.Route{
		Pattern: "GET /{company}", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return stream.Serve(w, r, x.hub, stream.Topic{
				CompanyID: r.PathValue("company"), Name: topic, Allowed: func(context.Context) error { return nil },
			})
		},
	})
	srv := httptest.NewServer(x.router)
	x.url = srv.URL
	t.Cleanup(func() {
		x.router.CloseStreams()
		srv.Close()
	})
	return x
}

func newCompany(t *testing.T, s *store.Store) string {
	t.Helper()
	id := carillon.NewID(time.Now())
	c := &carillon.Company{ID: id, Name: id}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, c, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Topics.Follow(t.Context(), id, topic); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

const topic = "topic"

// say stores an event and publishes it.
func (x *screens) say(t *testing.T, company, text string) {
	t.Helper()
	payload, _ := json.Marshal(text)
	e := &events.Event{CompanyID: company, Topic: topic, Kind: "said", Subject: "s", Payload: payload, At: time.Now()}
	if err := x.store.Events.AddEvents(t.Context(), e); err != nil {
		t.Error(err)
		return
	}
	x.hub.Publish(e)
}

// screen reads a stream, and keeps its events and the last id.
type screen struct {
	last   string
	events []string
	kind   []string
	shown  func() // called for each event; may be nil
}

// follow reads until the context ends, or until most events have arrived.
func (s *screen) follow(ctx context.Context, url string, most int) {
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if s.last != "" {
		r.Header.Set("Last-Event-ID", s.last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = resp.Body.Close() }()
	id, kind, data := "", "", ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "": // an event counts only once it is complete, because a stream may be cut within a line
			if data == "" {
				continue
			}
			var b struct{ Data string }
			_ = json.Unmarshal([]byte(data), &b)
			s.events, s.kind = append(s.events, b.Data), append(s.kind, kind)
			if id != "" {
				s.last = id
			}
			if s.shown != nil {
				s.shown()
			}
			if len(s.events) >= most {
				return
			}
			id, kind, data = "", "", ""
		}
	}
}

// cutAndReplay interrupts the streams of screens while events are published on every node, and compares what the
// screens received.
func cutAndReplay(t *testing.T, nodes ...*screens) {
	company := newCompany(t, nodes[0].store)
	const total, cuts = 600, 50
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var work sync.WaitGroup
	for i := range 3 {
		work.Go(func() {
			for n := range total / 3 {
				nodes[n%len(nodes)].say(t, company, fmt.Sprintf("%d of %d", n, i))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	all := make([]screen, 4)
	for i := range all {
		all[i].last = "0"
		work.Go(func() {
			for n := 0; len(all[i].events) < total && ctx.Err() == nil; n++ {
				piece, end := ctx, func() {}
				if n < cuts {
					piece, end = context.WithTimeout(ctx, time.Duration(5+rand.IntN(30))*time.Millisecond)
				}
				all[i].follow(piece, nodes[(i+n)%len(nodes)].url+"/"+company, total)
				end()
			}
		})
	}
	work.Wait()
	stored, err := nodes[0].store.Topics.EventsAfter(t.Context(), company, topic, 0, 2*total)
	if err != nil || len(stored) != total {
		t.Fatalf("%d events are stored: %v", len(stored), err)
	}
	var want []string
	for i, e := range stored {
		var text string
		_ = json.Unmarshal(e.Payload, &text)
		if want = append(want, text); e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
	for i := range all {
		if !slices.Equal(all[i].events, want) || all[i].last != strconv.Itoa(total) {
			t.Errorf("screen %d shows %d events up to %s, and not the list that is stored", i, len(all[i].events), all[i].last)
		}
	}
}

func TestCutStreamsReplayToTheSameList(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		cutAndReplay(t, newSQLiteScreens(t))
	})
	t.Run("two nodes on postgres", func(t *testing.T) {
		url := storetest.PatientPostgres(t)
		var nodes []*screens
		for range 2 {
			var bus *realtime.Bus
			x := newScreens(t, openStore(t, store.Options{DatabaseURL: url}),
				func(kind string, items ...realtime.Item) { bus.Publish(kind, items...) })
			bus = realtime.NewBus(x.store.DB, slog.New(slog.DiscardHandler), x.hub.Kind())
			ctx, cancel := context.WithCancel(context.Background())
			var done sync.WaitGroup
			done.Go(func() { _ = bus.Run(ctx) })
			t.Cleanup(func() {
				cancel()
				done.Wait()
			})
			nodes = append(nodes, x)
		}
		cutAndReplay(t, nodes...)
	})
}

func newSQLiteScreens(t *testing.T) *screens {
	t.Helper()
	return newScreens(t, openStore(t, store.Options{Dir: storetest.Folder(t)}), nil)
}

func openStore(t *testing.T, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestASlowSubscriberIsDroppedAndFindsEverythingLater(t *testing.T) {
	x := newSQLiteScreens(t)
	company := newCompany(t, x.store)
	s, err := x.hub.Subscribe(company, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		x.say(t, company, strconv.Itoa(i))
	}
	if n := x.hub.Subscribers(); n != 0 {
		t.Fatalf("%d subscribers are left", n)
	}
	for range s.Ready() { //nolint:revive // until it is closed
	}
	s.Close()
	late := screen{last: "0"}
	late.follow(t.Context(), x.url+"/"+company, 300)
	if len(late.events) != 300 {
		t.Errorf("it came back to %d events", len(late.events))
	}
}

func TestEventsWithoutASeqAreNotStored(t *testing.T) {
	x := newSQLiteScreens(t)
	company, other := newCompany(t, x.store), newCompany(t, x.store)
	s, err := x.hub.Subscribe(company, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x.hub.Publish(&events.Event{CompanyID: company, Topic: topic, Kind: "typing", At: time.Now()})
	x.say(t, other, "of another company")
	x.say(t, company, "stored")
	events, missed, err := s.Next(t.Context())
	if err != nil || missed || len(events) != 2 {
		t.Fatalf("%v %v %v", events, missed, err)
	}
	kinds := []string{events[0].Kind, events[1].Kind}
	if slices.Sort(kinds); !slices.Equal(kinds, []string{"said", "typing"}) {
		t.Errorf("the events are %v", kinds)
	}
	if last, err := x.store.Topics.LastEvent(t.Context(), company, topic); last != 1 || err != nil {
		t.Errorf("the last seq is %d: %v", last, err)
	}
}

func TestTheLastOfEventsThatFollowOneAnotherIsAnnounced(t *testing.T) {
	var announced []realtime.Item
	hub := realtime.NewHub(nil, slog.New(slog.DiscardHandler), func(_ string, items ...realtime.Item) {
		announced = append(announced, items...)
	})
	event := func(company, topic string, seq int64) *events.Event {
		return &events.Event{CompanyID: company, Topic: topic, Seq: seq}
	}
	hub.Publish(event("a", "x", 1), event("a", "x", 2), event("a", "x", 0), event("a", "y", 1), event("b", "y", 0),
		event("b", "x", 7), event("a", "x", 3))
	want := []realtime.Item{{Key: "a/x", Value: 2}, {Key: "a/y", Value: 1}, {Key: "b/x", Value: 7}, {Key: "a/x", Value: 3}}
	if !slices.Equal(announced, want) {
		t.Errorf("announced: %v, want %v", announced, want)
	}
	announced = nil
	hub.Publish(event("a", "x", 0))
	if hub.Publish(); announced != nil {
		t.Errorf("announced though nothing is stored: %v", announced)
	}
}

func TestAScreenThatMissedPurgedEventsIsReset(t *testing.T) {
	x := newSQLiteScreens(t)
	company := newCompany(t, x.store)
	for i := range 5 {
		x.say(t, company, strconv.Itoa(i))
	}
	if p, err := x.store.Purges.Drop(t.Context(), purge.Events, time.Now().Add(time.Hour), 3); err != nil || p.Rows != 3 || !p.More {
		t.Fatalf("purged %+v: %v", p, err)
	}
	for last, want := range map[string]string{"1": "reset said said", "0": "said said", "3": "said said", "99": "reset"} {
		s := screen{last: last}
		s.follow(t.Context(), x.url+"/"+company, len(strings.Fields(want)))
		if got := strings.Join(s.kind, " "); got != want {
			t.Errorf("after %s it gets %s, want %s", last, got, want)
		}
	}
}

func TestAStopClosesTheStreams(t *testing.T) {
	x := newSQLiteScreens(t)
	company := newCompany(t, x.store)
	x.say(t, company, "first")
	s := screen{last: "0", shown: x.router.CloseStreams}
	s.follow(t.Context(), x.url+"/"+company, 100)
	if len(s.events) != 1 {
		t.Errorf("the screen received %v", s.events)
	}
}
