package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// hour are the hostile clients.
type hour struct {
	hostile
	sip     string
	packets atomic.Int64
}

// hourCounts is the last output of the attackers' process.
type hourCounts struct{ Packets, Opened, Refused int64 }

// Environment variables that turn this program into the attackers' process.
const (
	hourAddress    = "CARILLON_TEST_HOUR"
	hourSIPAddress = "CARILLON_TEST_HOUR_SIP"
)

// attackers is a process of hostile clients. Within the test process they would delay the audio of the company that is
// measured.
type attackers struct {
	cmd    *exec.Cmd
	stop   io.Closer
	counts io.Reader
}

func startAttackers(t *testing.T, address, sipAddress string) *attackers {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &attackers{cmd: exec.Command(exe)}
	a.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", hourAddress+"="+address, hourSIPAddress+"="+sipAddress)
	a.cmd.Stderr = os.Stderr
	var errs [3]error
	a.stop, errs[0] = a.cmd.StdinPipe()
	a.counts, errs[1] = a.cmd.StdoutPipe()
	errs[2] = a.cmd.Start()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	})
	return a
}

// end stops the attackers and returns their counts.
func (a *attackers) end(t *testing.T) (c hourCounts) {
	t.Helper()
	_ = a.stop.Close()
	if err := json.NewDecoder(a.counts).Decode(&c); err != nil {
		t.Fatal("the attackers ended early: ", err)
	}
	return c
}

// init runs the attackers instead of the tests if the environment has their addresses. They attack until the input
// ends.
//
//nolint:gochecknoinits // TestMain belongs to the package's other tests
func init() {
	address, sipAddress := os.Getenv(hourAddress), os.Getenv(hourSIPAddress)
	if address == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &hour{hostile: hostile{ctx: ctx, addr: address, clients: &sync.WaitGroup{}}, sip: sipAddress}
	h.strangers()
	if err := errors.Join(h.visitor(), h.marketer()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	h.clients.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(hourCounts{Packets: h.packets.Load(), Opened: h.opened.Load(), Refused: h.shed.Load()})
	os.Exit(0)
}

const (
	flooders       = 8
	packetsASecond = 20000
	connections    = 4000 // of strangers, for SIP and HTTP each
	// reopen is the wait before a closed connection is opened again, so that they do not all come at once.
	reopen = 10 * time.Second
)

// strangers sends 20,000 packets per second over UDP, and holds 8,000 connections or as many as it gets.
func (h *hour) strangers() {
	for i := range flooders {
		h.clients.Go(func() { h.flood(fmt.Sprintf("127.0.20.%d", i+1)) })
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

// flood sends a share of the packets from one address, as many as are due, so that a late tick does not lower the
// rate.
func (h *hour) flood(from string) {
	to, err := net.ResolveUDPAddr("udp", h.sip)
	if err != nil {
		return
	}
	c, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)}, to)
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for i := 0; ; {
		for due := int(time.Since(begin).Seconds() * packetsASecond / flooders); i < due && h.ctx.Err() == nil; i++ {
			method := "INVITE"
			if i%4 == 0 {
				method = "OPTIONS"
			}
			if _, err := c.Write(h.request(method, from, "UDP", i)); err == nil {
				h.packets.Add(1)
			}
		}
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *hour) request(method, from, transport string, i int) []byte {
	return fmt.Appendf(nil, "%s sip:15555550101@%s SIP/2.0\r\n"+
		"Via: SIP/2.0/%s %s:5060;branch=z9hG4bK%s%d\r\nMax-Forwards: 70\r\n"+
		"From: <sip:34600111222@%s>;tag=%d\r\nTo: <sip:15555550101@%s>\r\n"+
		"Call-ID: %s-%d\r\nCSeq: 1 %s\r\nContact: <sip:34600111222@%s:5060>\r\nContent-Length: 0\r\n\r\n",
		method, h.sip, transport, from, strings.ReplaceAll(from, ".", "x"), i, from, i, h.sip, from, i, method, from)
}

// holdAt is hold at another address.
func (h *hour) holdAt(address string, from net.IP, text []byte) {
	other := hostile{ctx: h.ctx, addr: address, clients: h.clients}
	other.hold(from, text)
	h.opened.Add(other.opened.Load())
}

// visitor is one visitor behind a proxy, with a chat and a voice conversation, who opens as many of both as possible.
func (h *hour) visitor() error {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(proxyAddress)}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
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
	resp, err := ask("POST", "/functions/v1/chat/session", "",
		`{"widget_id":"`+hourChat+`","customer_id":"55555555-5555-4555-8555-555555555501"}`)
	if err == nil {
		err = json.NewDecoder(resp.Body).Decode(&begun)
		h.note(resp)
	}
	switch {
	case err != nil:
		return fmt.Errorf("begin a chat: %w", err)
	case begun.Token == "":
		return errors.New("begin a chat: no token")
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
				resp, err := ask("GET", "/functions/v1/voice-widget/signed-url?access_key=ck_hostile_widget&id_widget="+hourTalks, "", "")
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
	return nil
}

// sit opens a voice conversation and stays silent.
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

// note reads a response to its end and counts refusals.
func (h *hour) note(resp *http.Response) {
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		h.shed.Add(1)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// marketer uploads lists with endless rows, and tries flows with expensive patterns.
func (h *hour) marketer() error {
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
	status, err := ask("/panel/v1/session", "application/json",
		[]byte(`{"email":"marketer@hostile.test","password":"hostile-horse-battery"}`))
	switch {
	case err != nil:
		return fmt.Errorf("sign in: %w", err)
	case status != http.StatusOK:
		return fmt.Errorf("sign in: status %d", status)
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
	return nil
}
