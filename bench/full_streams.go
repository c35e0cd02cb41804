package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

// screens are the streams of a full installation: half of them of the panel, a quarter of visitors with a chat, and a
// quarter of programs that wait for events.
type screens struct {
	*chatClient
	extent  extent
	owners  []string // access tokens by company
	people  []person // by company
	panel   load.Latencies
	pulled  load.Latencies
	running sync.WaitGroup
	refused atomic.Int64 // pages of the panel that were not shown

	mu     sync.Mutex
	lost   int           // numbers of events that are missing between two others
	newest map[int]int   // by company, the highest number of an event on any of its panel's streams
	last   map[int][]int // the last numbers of these streams
}

// openScreens signs the owners in, and opens the streams until ctx ends.
func openScreens(ctx context.Context, addr string, x extent) *screens {
	s := &screens{chatClient: newChatClient(ctx, addr), extent: x, newest: map[int]int{}, last: map[int][]int{}}
	for c := range x.companies {
		s.owners = append(s.owners, s.post("/functions/v1/auth?grant_type=password",
			fmt.Sprintf(`{"email":%q,"password":%q}`, fullOwner(c), password), "access_token"))
		s.people = append(s.people, s.visitorsOf(fullChat(c), 1)...)
	}
	for i := range x.streams {
		c := i % x.companies
		s.running.Go(func() {
			switch i * 4 / x.streams {
			case 0, 1:
				s.followPanel(ctx, c)
			case 2:
				s.follow(ctx, "/functions/v1/chat/stream", s.people[c].token, "0")
			default:
				s.open.Add(1)
				s.pull(ctx, c)
			}
		})
	}
	s.opened(ctx, x.streams)
	return s
}

// followPanel reads the stream of a company's notifications, whose ids have no gaps.
func (s *screens) followPanel(ctx context.Context, company int) {
	resp, err := s.do(ctx, http.MethodGet, "/panel/v1/events", s.owners[company], "", "")
	if err != nil {
		return // s.opened reports it
	}
	defer resp.Body.Close()
	last, lost := 0, 0
	in := bufio.NewReaderSize(resp.Body, 4<<10)
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			break
		}
		if first {
			s.open.Add(1)
		}
		if text, found := bytes.CutPrefix(line, []byte("id: ")); found {
			n, _ := strconv.Atoi(string(bytes.TrimSpace(text)))
			if last > 0 {
				lost += n - last - 1
			}
			last = n
		}
		if bytes.Contains(line, []byte(`"kind":"notification.accepted"`)) {
			if at, ok := acceptedAt(line); ok {
				s.panel.Add(time.Since(at))
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += lost
	s.newest[company] = max(s.newest[company], last)
	s.last[company] = append(s.last[company], last)
}

// pull reads events as a program does that cannot receive requests.
func (s *screens) pull(ctx context.Context, company int) {
	path := "/functions/v1/events?access_key=" + fullKey(company) + "&limit=100"
	var page struct {
		NextCursor string `json:"next_cursor"`
		Data       []struct {
			Type     string
			Sequence int
			Data     struct {
				NotificationID string `json:"notification_id"`
			}
		}
	}
	for last := 0; ; {
		address := path
		if page.NextCursor != "" {
			address += "&wait=25&cursor=" + page.NextCursor
		}
		resp, err := s.do(ctx, http.MethodGet, address, "", "", "")
		if err != nil {
			return
		}
		now := time.Now()
		page.Data = nil
		err = json.NewDecoder(resp.Body).Decode(&page)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return
		}
		for _, e := range page.Data {
			if e.Type != "notification.accepted" && e.Type != "message.sent" {
				continue // of another topic, which has its own numbers
			}
			if at, ok := timeOf(e.Data.NotificationID); ok && e.Type == "notification.accepted" {
				s.pulled.Add(now.Sub(at))
			}
			if last > 0 && e.Sequence > last+1 {
				s.mu.Lock()
				s.lost += e.Sequence - last - 1
				s.mu.Unlock()
			}
			last = e.Sequence
		}
	}
}

// missing returns the number of events that streams lost, also at their end, after the streams have ended.
func (s *screens) missing() int {
	s.running.Wait()
	n := s.lost
	for company, all := range s.last {
		for _, last := range all {
			if last > 0 {
				n += s.newest[company] - last
			}
		}
	}
	return n
}

// look opens the overview and the list of notifications of one company after the other, until ctx ends.
func (s *screens) look(ctx context.Context, overview, list *load.Latencies) {
	for i := 0; load.Pause(ctx, 100*time.Millisecond) == nil; i++ {
		path, took := "/panel/v1/overview", overview
		if i%2 == 1 {
			path, took = "/panel/v1/notifications?limit=50", list
		}
		begin := time.Now()
		resp, err := s.do(ctx, http.MethodGet, path, s.owners[i%len(s.owners)], "", "")
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			s.refused.Add(1)
			continue
		}
		took.Add(time.Since(begin))
	}
}

// write sends ten turns a second of visitors, and returns the p50 and p99 in milliseconds until their page shows them, and
// the number of turns that it does not show.
func (s *screens) write(ctx context.Context) (p50, p99 float64, lost int) {
	var all load.Latencies
	for k := 0; load.Pause(ctx, 100*time.Millisecond) == nil; k++ {
		name := strconv.Itoa(k)
		s.chatClient.mu.Lock()
		s.waiting[name] = &sentTurn{at: time.Now(), left: 1, all: &all}
		s.chatClient.mu.Unlock()
		resp, err := s.do(s.ctx, http.MethodPost, "/functions/v1/chat/turns", s.people[k%len(s.people)].token, "",
			fmt.Sprintf(`{"client_id":%q,"text":"turn %s"}`, name, name))
		stored := err == nil && resp.StatusCode == http.StatusOK
		if err == nil {
			_ = resp.Body.Close()
		}
		if !stored { // it was refused, and no stream lost it
			s.chatClient.mu.Lock()
			delete(s.waiting, name)
			s.chatClient.mu.Unlock()
		}
	}
	_ = load.Pause(s.ctx, 2*time.Second) // until the last turns are shown
	s.chatClient.mu.Lock()
	defer s.chatClient.mu.Unlock()
	return all.Milliseconds(0.5), all.Milliseconds(0.99), len(s.waiting)
}
