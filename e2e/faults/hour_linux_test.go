package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/need"
	"carillon/internal/sip"
)

var hostileTime = flag.Duration("faults.hostile", 10*time.Minute, "how long the hostile hour lasts")

const (
	filesLimit   = 4096 // descriptors of the node
	proxyAddress = "127.0.9.1"
	trunkAddress = "127.0.0.43"
	hourWidget   = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e31"
	hourChat     = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e32"
	hourGreeting = "Welcome to the harbour. Our tours leave every hour from the pier, and the next one leaves soon. What would you like to know?"
)

const hourProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01
    name: Ours
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0, widget_calls_per_minute: 0}
    keys:
      - {key: ck_ours_0123456789, label: ours, scopes: ["*"]}
      - {key: ck_ours_widget, label: page, scopes: ["widget:use"]}
    senders:
      - {id: ours, number: "15555550100", channel: messaging, provider: sandbox, default: true}
      - {id: line, number: "15555550101", channel: voice, provider: sip, default: true, max_concurrent: 4, settings: {trunk: "sip:TRUNK;transport=udp", agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e31}}
    templates: [{sender: ours, name: hello, language: en, category: UTILITY, status: approved, body: "Hello {{1}}, bye.", examples: {body: [Ana]}}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e31, name: Robin, language: en, greeting: "` + hourGreeting + `", voice: {speaker: espeak}}]
    widgets: [{id: ` + hourWidget + `, kind: voice, name: Voice, agent: Robin, language: en}]
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02
    name: Hostile
    keys: [{key: ck_hostile_widget, label: page, scopes: ["widget:use"]}]
    users: [{email: marketer@hostile.test, password: hostile-horse-battery, name: Mallory, role: owner}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e32, name: Robin, language: en, greeting: "` + hourGreeting + `", voice: {speaker: espeak}}]
    widgets:
      - {id: 1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e33, kind: voice, name: Voice, agent: Robin, language: en}
      - {id: ` + hourChat + `, kind: chat, name: Chat, agent: Robin, language: en, welcome: Hello.}
`

// TestFaultsAHostileHour holds against a node of 512 MB and 4,096 files what strangers and one company can: SIP of strangers over UDP
// and TCP, idle connections, streams and talks of one visitor behind a proxy, lists without an end and patterns that cost. Another
// company sends, talks and takes calls meanwhile.
func TestFaultsAHostileHour(t *testing.T) {
	long(t)
	need.Program(t, "espeak-ng", "espeak-ng")
	n, sipAddress, ops := hourNode(t)
	before := standing(t, n, ops)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &hour{hostile: hostile{ctx: ctx, addr: n.addr, clients: &sync.WaitGroup{}}, sip: sipAddress}
	h.strangers()
	h.visitor(t)
	h.marketer(t)
	pause(ctx, reopen) // until most connections are open
	o := &ours{t: t, base: "http://" + n.addr, sip: sipAddress}
	took := o.work(ctx, h, *hostileTime)
	cancel()
	h.clients.Wait()
	if n.dead() {
		t.Fatal("the program ended")
	}
	slices.Sort(took)
	p99, peak := took[len(took)*99/100], peakMemory(t, n.cmd.Process.Pid)
	t.Logf("%d sends, p99 %v; %d talks, the longest gap %v; %d calls, the longest gap %v; %d MB; %d packets and %d connections of strangers, %d requests refused",
		len(took), p99, o.talks, o.talkGap, o.calls, o.callGap, peak>>20, h.packets.Load(), h.opened.Load(), h.shed.Load())
	if p99 > time.Second {
		t.Errorf("the p99 of another company's sends is %v", p99)
	}
	if o.talks == 0 || o.talkGap > 100*time.Millisecond {
		t.Errorf("%d talks of another company, with a gap of %v", o.talks, o.talkGap)
	}
	if o.calls == 0 || o.callGap > 100*time.Millisecond {
		t.Errorf("%d calls of another company, with a gap of %v", o.calls, o.callGap)
	}
	if peak > memoryLimit {
		t.Errorf("the program used %d MB", peak>>20)
	}
	if h.shed.Load() == 0 {
		t.Error("nothing was refused: the attack is too weak")
	}
	var after figures
	if !await(t.Context(), hung, func() bool {
		after = standing(t, n, ops)
		return after.files <= before.files+20 && after.goroutines <= before.goroutines+50
	}) {
		t.Errorf("after it %+v, before it %+v", after, before)
	}
}

func hourNode(t *testing.T) (n *node, sipAddress, ops string) {
	t.Helper()
	dir := t.TempDir()
	setup := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(setup, []byte(strings.Replace(hourProvision, "TRUNK", trunkAddress+":5060", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	sipAddress, ops = freeAddress(t), freeAddress(t)
	n = newNode(t, dir, "--provision="+setup, "--trusted-proxies="+proxyAddress+"/32", "--sip-addr="+sipAddress, "--ops-addr="+ops,
		"--password-memory=8", "--password-passes=1")
	// The shell lowers the bound for the program alone: this process needs many connections.
	n.args = append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, filesLimit), executable(t)}, n.args...)
	n.exe = "/bin/sh"
	n.env = []string{"GOMEMLIMIT=400MiB"}
	n.start()
	return n, sipAddress, ops
}

// figures are what a leak would raise.
type figures struct{ files, goroutines int }

func standing(t *testing.T, n *node, ops string) (f figures) {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	f.files = len(files)
	resp, err := http.Get("http://" + ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	_, rest, _ := strings.Cut(string(text), "\ngo_goroutines ")
	rest, _, _ = strings.Cut(rest, "\n")
	f.goroutines, _ = strconv.Atoi(rest)
	return f
}

// hour are the hostile clients.
type hour struct {
	hostile
	sip     string
	packets atomic.Int64
}

const (
	connections = 4000 // of strangers, to SIP and to HTTP each
	// reopen is after how long one that was closed is opened again: they come one after the other, and not all at once.
	reopen = 10 * time.Second
)

// strangers send 20,000 packets a second over UDP, and hold 8,000 connections or as many as they get.
func (h *hour) strangers() {
	const senders, each, tick = 8, 25, 10 * time.Millisecond
	for i := range senders {
		h.clients.Go(func() { h.flood(fmt.Sprintf("127.0.20.%d", i+1), each, tick) })
	}
	invite := h.request("INVITE", "127.0.21.1", "TCP", 0)
	for i := range connections {
		from := net.ParseIP("127.0.21.1").To4()
		from[3] += byte(i % 2)
		text := []byte(nil) // idle
		if i%4 == 0 {
			text = invite[:len(invite)/2]
		}
		h.clients.Go(func() {
			pause(h.ctx, time.Duration(i)*reopen/connections)
			for h.ctx.Err() == nil {
				h.holdAt(h.sip, from, text)
				pause(h.ctx, reopen)
			}
		})
	}
	for i := range connections {
		from := net.ParseIP("127.0.22.1").To4()
		from[3] += byte(i % 2)
		h.clients.Go(func() {
			pause(h.ctx, time.Duration(i)*reopen/connections)
			for h.ctx.Err() == nil {
				h.hold(from, nil)
				pause(h.ctx, reopen)
			}
		})
	}
}

func (h *hour) flood(from string, each int, tick time.Duration) {
	local, err := net.ResolveUDPAddr("udp", from+":0")
	if err != nil {
		return
	}
	to, err := net.ResolveUDPAddr("udp", h.sip)
	if err != nil {
		return
	}
	c, err := net.DialUDP("udp", local, to)
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	next := time.NewTicker(tick)
	defer next.Stop()
	for i := 0; h.ctx.Err() == nil; {
		for range each {
			method := "INVITE"
			if i%4 == 0 {
				method = "OPTIONS"
			}
			i++
			if _, err := c.Write(h.request(method, from, "UDP", i)); err == nil {
				h.packets.Add(1)
			}
		}
		select {
		case <-h.ctx.Done():
		case <-next.C:
		}
	}
}

func (h *hour) request(method, from, transport string, i int) []byte {
	return fmt.Appendf(nil, "%s sip:15555550101@%s SIP/2.0\r\nVia: SIP/2.0/%s %s:5060;branch=z9hG4bK%s%d\r\nMax-Forwards: 70\r\n"+
		"From: <sip:34600111222@%s>;tag=%d\r\nTo: <sip:15555550101@%s>\r\nCall-ID: %s-%d\r\nCSeq: 1 %s\r\nContact: <sip:34600111222@%s:5060>\r\n"+
		"Content-Length: 0\r\n\r\n", method, h.sip, transport, from, strings.ReplaceAll(from, ".", "x"), i, from, i, h.sip, from, i, method, from)
}

// holdAt is hold at another address.
func (h *hour) holdAt(address string, from net.IP, text []byte) {
	other := hostile{ctx: h.ctx, addr: address, clients: h.clients}
	other.hold(from, text)
	h.opened.Add(other.opened.Load())
}

// visitor is one visitor behind a proxy, with a chat and with a talk, who opens as much of both as there is.
func (h *hour) visitor(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(proxyAddress)}}).DialContext}}
	ask := func(method, path, token, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(h.ctx, method, "http://"+h.addr+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "2001:db8:1:1::"+strconv.FormatInt(time.Now().UnixNano()%0xffff, 16))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return client.Do(r)
	}
	var begun struct{ Token string }
	resp, err := ask("POST", "/functions/v1/chat/session", "", `{"widget_id":"`+hourChat+`","customer_id":"55555555-5555-4555-8555-555555555501"}`)
	if err == nil {
		err = json.NewDecoder(resp.Body).Decode(&begun)
		h.note(resp)
	}
	if err != nil || begun.Token == "" {
		t.Fatal("begin a chat: ", err)
	}
	for range 1000 {
		h.clients.Go(func() {
			for h.ctx.Err() == nil {
				if resp, err := ask("GET", "/functions/v1/chat/stream", begun.Token, ""); err == nil {
					h.note(resp)
				}
				pause(h.ctx, time.Second)
			}
		})
	}
	for range 60 {
		h.clients.Go(func() {
			for h.ctx.Err() == nil {
				resp, err := ask("GET", "/functions/v1/voice-widget/signed-url?access_key=ck_hostile_widget&id_widget=1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e33", "", "")
				if err != nil {
					pause(h.ctx, time.Second)
					continue
				}
				var signed struct {
					URL string `json:"signed_url"`
				}
				_ = json.NewDecoder(resp.Body).Decode(&signed)
				h.note(resp)
				if signed.URL != "" {
					h.sit(client, signed.URL)
				}
				pause(h.ctx, time.Second)
			}
		})
	}
}

// sit opens a talk and stays, without a word.
func (h *hour) sit(client *http.Client, address string) {
	ws, _, err := websocket.Dial(h.ctx, address+"&source=js_sdk&version=1.25.0", &websocket.DialOptions{
		Subprotocols: []string{"convai"}, HTTPClient: client, HTTPHeader: http.Header{"X-Forwarded-For": {"2001:db8:1:1::7"}},
	})
	if err != nil {
		h.shed.Add(1)
		return
	}
	defer func() { _ = ws.CloseNow() }()
	_ = ws.Write(h.ctx, websocket.MessageText, []byte(`{"type":"conversation_initiation_client_data"}`))
	for {
		if _, _, err := ws.Read(h.ctx); err != nil {
			return
		}
	}
}

// note reads a response to its end.
func (h *hour) note(resp *http.Response) {
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		h.shed.Add(1)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// marketer uploads lists whose rows have no end, and tries flows with patterns that cost.
func (h *hour) marketer(t *testing.T) {
	t.Helper()
	var cookie string
	ask := func(path, kind string, body []byte) (int, error) {
		r, err := http.NewRequestWithContext(h.ctx, http.MethodPost, "http://"+h.addr+path, bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("X-Carillon-Panel", "1")
		r.Header.Set("Cookie", cookie)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		if c := resp.Cookies(); len(c) > 0 && cookie == "" {
			cookie = c[0].Name + "=" + c[0].Value
		}
		h.note(resp)
		return resp.StatusCode, nil
	}
	if status, err := ask("/panel/v1/session", "application/json", []byte(`{"email":"marketer@hostile.test","password":"hostile-horse-battery"}`)); status != http.StatusOK {
		t.Fatal(status, err)
	}
	const company = "?company=5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02"
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, _ := w.CreateFormFile("file", "list.csv")
	_, _ = part.Write(bytes.Repeat([]byte(","), 31<<20))
	_ = w.Close()
	pattern := strings.Repeat("(x{1,30}){1,30}", 4)
	flow := fmt.Sprintf(`{"flow":{"id":"f","name":"f","starts":{"keywords":["x"]},"steps":[%s{"say":"x"}]},"inputs":[],"values":{"v":%q}}`,
		strings.Repeat(fmt.Sprintf(`{"if":%q,"then":[{"say":"y"}]},`, "v matches \""+pattern+"\""), 100), strings.Repeat("x", 4000))
	for range 4 {
		h.clients.Go(func() {
			for h.ctx.Err() == nil {
				_, _ = ask("/panel/v1/send/jobs"+company, w.FormDataContentType(), form.Bytes())
				pause(h.ctx, 200*time.Millisecond)
			}
		})
		h.clients.Go(func() {
			for h.ctx.Err() == nil {
				_, _ = ask("/panel/v1/flows/try"+company, "application/json", []byte(flow))
				pause(h.ctx, 50*time.Millisecond)
			}
		})
	}
}

// ours is the company that does nothing wrong.
type ours struct {
	t                *testing.T
	base, sip        string
	talks, calls     int
	talkGap, callGap time.Duration
}

// work sends, talks and takes calls.
func (o *ours) work(ctx context.Context, h *hour, during time.Duration) (took []time.Duration) {
	trunk, err := sip.New(ctx, sip.Options{Address: trunkAddress + ":5060", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = trunk.Close() }()
	end := time.Now().Add(during)
	var all sync.WaitGroup
	all.Go(func() {
		for time.Now().Before(end) && ctx.Err() == nil {
			o.talk(ctx)
		}
	})
	all.Go(func() {
		for time.Now().Before(end) && ctx.Err() == nil {
			o.call(ctx, trunk)
		}
	})
	took = h.sendOurs(o.t, during)
	all.Wait()
	return took
}

// talk takes a greeting, and measures how long its sound was missing while it was played.
func (o *ours) talk(ctx context.Context) {
	resp, err := http.Get(o.base + "/functions/v1/voice-widget/signed-url?access_key=ck_ours_widget&id_widget=" + hourWidget)
	if err != nil {
		o.t.Errorf("sign an address: %v", err)
		return
	}
	var signed struct {
		URL string `json:"signed_url"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&signed)
	_ = resp.Body.Close()
	ws, _, err := websocket.Dial(ctx, signed.URL+"&source=js_sdk&version=1.25.0", &websocket.DialOptions{Subprotocols: []string{"convai"}})
	if err != nil {
		o.t.Errorf("open a talk: %v", err)
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(1 << 20)
	_ = ws.Write(ctx, websocket.MessageText, []byte(`{"type":"conversation_initiation_client_data"}`))
	heard, until := time.Duration(0), time.Time{}
	for heard < 4*time.Second {
		_, text, err := ws.Read(ctx)
		if err != nil {
			o.t.Errorf("hear a greeting after %v of it: %v", heard, err)
			return
		}
		var m struct {
			Type  string `json:"type"`
			Audio struct {
				Bytes string `json:"audio_base_64"`
			} `json:"audio_event"`
		}
		if json.Unmarshal(text, &m) != nil || m.Type != "audio" {
			continue
		}
		pcm, _ := base64.StdEncoding.DecodeString(m.Audio.Bytes)
		length := time.Duration(len(pcm)/2) * time.Second / 16000
		now := time.Now()
		if gap := now.Sub(until); !until.IsZero() && gap > 0 {
			o.talkGap = max(o.talkGap, gap)
			until = now
		} else if until.IsZero() {
			until = now
		}
		until = until.Add(length)
		heard += length
	}
	o.talks++
}

// call calls the line as its trunk, and measures how long no packet of the greeting came.
func (o *ours) call(ctx context.Context, trunk *sip.Engine) {
	var loud atomic.Bool
	c, err := trunk.Dial(ctx, sip.Dial{
		Trunk: sip.Trunk{Host: o.sip, Transport: "udp"}, To: "15555550101", From: "34600110077", Ring: hung,
		OnFrame: func(in, _ []int16) {
			if slices.ContainsFunc(in, func(s int16) bool { return s > 500 || s < -500 }) {
				loud.Store(true)
			}
		},
	})
	if err != nil {
		o.t.Errorf("call: %v", err)
		pause(ctx, time.Second)
		return
	}
	defer func() { c.HangUp(context.WithoutCancel(ctx)) }()
	if !await(ctx, hung, func() bool { return loud.Load() || over(c) }) || over(c) {
		o.t.Error("the greeting of a call is not heard")
		return
	}
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end) && !over(c); pause(ctx, 10*time.Millisecond) {
		o.callGap = max(o.callGap, time.Since(c.Received()))
	}
	o.calls++
}

func over(c *sip.Call) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}
