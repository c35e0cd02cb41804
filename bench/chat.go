package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

// chatWidget is a widget of the bulk company without an agent, so that only turns are measured.
const chatWidget = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e21"

const (
	chatStreams = 2000
	chatRate    = 50 // turns per second
	chatInboxes = 5
)

// measureChat measures chats: the rate of stored turns, and how long a turn takes to all screens that show it, those
// of its visitor and of teammates' inboxes, while very many streams are open.
func (b *bench) measureChat(ctx context.Context, _ *provider, e engine) {
	b.acceptTurns(ctx, e)
	streams := chatStreams
	if b.quick {
		streams /= 10
	}
	memory := b.table.add(row{
		figure: fmt.Sprintf("Memory a stream, %d idle ones, %s", streams, e.name), unit: "kB resident", floor: maxFloor(40),
	})
	latency := b.table.add(row{
		figure: fmt.Sprintf("Chat turn to every screen, %d streams, %d a second, %s", streams, chatRate, e.name), unit: "ms, p99",
		floor: maxFloor(100),
	})
	for range min(b.rounds, 3) {
		n := b.serveEmpty(ctx, e, noProvider)
		c := newChatClient(ctx, n.addr)
		people := c.visitors(streams)
		n.waitIdle(ctx)
		before := n.megabytes()
		following, stop := context.WithCancel(ctx)
		var screens sync.WaitGroup
		for _, v := range people {
			screens.Go(func() { c.follow(following, "/functions/v1/chat/stream", v.token, "0") })
		}
		c.opened(ctx, streams)
		n.waitIdle(ctx)
		memory.add((n.megabytes()-before)*1000/float64(streams), 0)
		owner := c.signIn()
		for range chatInboxes {
			screens.Go(func() { c.follow(following, "/panel/v1/inbox/events", owner, "") })
		}
		c.opened(ctx, streams+chatInboxes)
		latency.add(c.turnsToScreens(ctx, people, 10*time.Second), 0)
		stop()
		screens.Wait()
		c.http.CloseIdleConnections()
		b.discard(n)
	}
}

// acceptTurns sends turns over 64 connections, each for a separate conversation, and compares the rate with yardstick
// H.
func (b *bench) acceptTurns(ctx context.Context, e engine) {
	h, bare := b.startHandler()
	defer h.stop()
	r := row{figure: "Chat turns accepted, " + e.name, unit: "turns/s", yardstick: "H"}
	if !e.postgres {
		r.floor = minRatio(0.35)
	}
	turns := b.table.add(r)
	n := b.serveEmpty(ctx, e, noProvider)
	defer b.discard(n)
	people := newChatClient(ctx, n.addr).visitors(connections)
	var count atomic.Int64
	request := func(conn, _ int) []byte {
		return turnRequest(people[conn].token, strconv.FormatInt(count.Add(1), 10), "Hola, ¿cuándo llega mi pedido A-1042?")
	}
	for round := range b.rounds + 1 { // the first one is a warm-up
		n.suspend()
		l := load.Load{Addr: bare, Conns: connections, For: 2 * time.Second, Request: request}
		yardstick := must(l.Run(ctx)).Rate()
		n.resume()
		check(load.Pause(ctx, 200*time.Millisecond))
		l = load.Load{Addr: n.addr, Conns: connections, For: 2 * time.Second, Request: request}
		if rate := must(l.Run(ctx)).Rate(); round > 0 {
			turns.add(rate, yardstick)
		}
	}
}

func turnRequest(token, clientID, text string) []byte {
	body := fmt.Sprintf(`{"client_id":%q,"text":%q}`, clientID, text)
	return []byte("POST /functions/v1/chat/turns HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// chatClient simulates the pages of visitors and teammates.
type chatClient struct {
	ctx   context.Context //nolint:containedctx // of one round
	addr  string
	http  *http.Client
	open  atomic.Int64
	dials atomic.Int64

	mu      sync.Mutex
	waiting map[string]*sentTurn // by text
}

// sentTurn is a turn that is not on all screens yet.
type sentTurn struct {
	at   time.Time
	left int
	all  *load.Latencies
}

func newChatClient(ctx context.Context, addr string) *chatClient {
	c := &chatClient{ctx: ctx, addr: addr, waiting: map[string]*sentTurn{}}
	c.http = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			// From many addresses, since the program limits the connections of each.
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+c.dials.Add(1)%200))}}
			return d.DialContext(ctx, network, addr)
		},
	}}
	return c
}

func (c *chatClient) do(ctx context.Context, method, path, token, last, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	return c.http.Do(r)
}

// post sends a request and returns a field of the response.
func (c *chatClient) post(path, body, field string) string {
	resp := must(c.do(c.ctx, http.MethodPost, path, "", "", body))
	defer resp.Body.Close()
	text := must(io.ReadAll(resp.Body))
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusOK {
		check(fmt.Errorf("%s: %d %s", path, resp.StatusCode, text))
	}
	value, _ := answer[field].(string)
	return value
}

// person is a visitor with an open conversation.
type person struct{ token string }

func (c *chatClient) visitors(n int) []person { return c.visitorsOf(chatWidget, n) }

func (c *chatClient) visitorsOf(widget string, n int) []person {
	all := make([]person, n)
	for i := range all {
		all[i].token = c.post("/functions/v1/chat/session",
			fmt.Sprintf(`{"widget_id":%q,"customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-%012d"}`, widget, i), "token")
	}
	return all
}

func (c *chatClient) signIn() string {
	return c.post("/functions/v1/auth?grant_type=password", `{"email":"owner@bench.test","password":"correct-horse-battery"}`,
		"access_token")
}

// follow reads a stream until ctx ends.
func (c *chatClient) follow(ctx context.Context, path, token, last string) {
	resp, err := c.do(ctx, http.MethodGet, path, token, last, "")
	if err != nil {
		return // the missing stream is reported by c.opened
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return
	}
	in := bufio.NewReaderSize(resp.Body, 4<<10)
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		if first {
			c.open.Add(1)
		}
		if _, text, found := bytes.Cut(line, []byte(`"text":"turn `)); found {
			name, _, _ := bytes.Cut(text, []byte(`"`))
			c.shown(string(name), time.Now())
		}
	}
}

// opened waits until that many streams are open.
func (c *chatClient) opened(ctx context.Context, n int) {
	deadline := time.Now().Add(time.Minute)
	for c.open.Load() < int64(n) {
		if time.Now().After(deadline) {
			check(fmt.Errorf("%d of %d streams are open", c.open.Load(), n))
		}
		check(load.Pause(ctx, 50*time.Millisecond))
	}
}

// shown counts a screen that shows a turn. The last screen ends the turn's latency.
func (c *chatClient) shown(name string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.waiting[name]
	if s == nil {
		return
	}
	if s.left--; s.left == 0 {
		s.all.Add(at.Sub(s.at))
		delete(c.waiting, name)
	}
}

// turnsToScreens lets visitors write at a steady rate and returns the p99 latency to a turn's last screen, in
// milliseconds.
func (c *chatClient) turnsToScreens(ctx context.Context, people []person, d time.Duration) float64 {
	var all load.Latencies
	var sending sync.WaitGroup
	begin := time.Now()
	for k := range int(d.Seconds() * chatRate) {
		check(load.Pause(ctx, time.Until(begin.Add(time.Duration(k)*time.Second/chatRate))))
		name := strconv.Itoa(k)
		c.mu.Lock()
		c.waiting[name] = &sentTurn{at: time.Now(), left: 1 + chatInboxes, all: &all}
		c.mu.Unlock()
		sending.Go(func() {
			body := fmt.Sprintf(`{"client_id":%q,"text":"turn %s"}`, name, name)
			if resp, err := c.do(ctx, http.MethodPost, "/functions/v1/chat/turns", people[k*7%len(people)].token, "", body); err == nil {
				_ = resp.Body.Close()
			}
		})
	}
	sending.Wait()
	check(load.Pause(ctx, time.Second))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 {
		check(fmt.Errorf("%d turns did not reach every screen", len(c.waiting)))
	}
	return all.Milliseconds(0.99)
}
