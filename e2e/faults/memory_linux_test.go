package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

	"carillon/internal/store/storetest"
)

// memoryLimit is the memory available on a small machine or container.
const memoryLimit = 512 << 20

// TestFaultsHostileClients attacks the program with bodies, sockets, callbacks and lists for a minute. It stays within
// its memory, and another company's requests stay fast.
func TestFaultsHostileClients(t *testing.T) {
	long(t)
	const during = time.Minute
	t.Run("sqlite", func(t *testing.T) { attack(t, during) })
	t.Run("postgres", func(t *testing.T) {
		attack(t, during, "--database-url="+storetest.Postgres(t), "--master-key-file="+storetest.MasterKey(t))
	})
}

const twoCompanies = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01
    name: Ours
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0}
    keys: [{key: ck_ours_0123456789, label: ours, scopes: ["*"]}]
    senders: [{id: ours, number: "15555550100", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: ours, name: hello, language: en, category: UTILITY, status: approved, body: "Hello {{1}}, bye.",
      examples: {body: [Ana]}}]
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02
    name: Hostile
    limits: {sends_per_minute: 0, daily_recipients: 0, daily_bytes: 0}
    keys: [{key: ck_hostile_0123456789, label: hostile, scopes: ["*"]}]
    senders:
      - {id: hostile, number: "15555550200", channel: messaging, provider: sandbox, default: true}
      - {id: line, number: "15555550300", channel: messaging, provider: whatsapp, settings: {base_url: "http://127.0.0.1:9",
        version: v23.0, phone_number_id: "1", waba_id: "2", access_token: t, app_secret: s, verify_token: v}}
    templates: [{sender: hostile, name: hello, language: en, category: UTILITY, status: approved, body: "Hello {{1}}, bye.",
      examples: {body: [Ana]}}]
`

const sendForm = `{"contact":{"number":"34600111222","name":"Ana"},"recipient_id":%q,"name_template":"hello","language_template":"en",` +
	`"notification_type":"utility","campaign_name":"c","components_push":{"body_text_0":"{{name}}"}%s}`

func attack(t *testing.T, during time.Duration, flags ...string) {
	dir := t.TempDir()
	setup := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(setup, []byte(twoCompanies), 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNode(t, dir, append(flags, "--provision="+setup)...)
	n.start()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	h := &hostile{ctx: ctx, addr: n.addr, clients: &clients}
	t.Cleanup(func() {
		cancel()
		clients.Wait()
	})
	h.attack()
	pause(ctx, 2*time.Second) // until most connections are open
	took := h.sendOurs(t, &http.Client{Timeout: hung}, during)
	cancel()
	clients.Wait()
	if n.dead() {
		t.Fatal("the program ended")
	}
	slices.Sort(took)
	p99, peak := took[len(took)*99/100], peakMemory(t, n.cmd.Process.Pid)
	t.Logf("%d sends, p99 %v; %d MB; %d hostile connections, %d requests were answered 503", len(took), p99, peak>>20,
		h.opened.Load(), h.shed.Load())
	if p99 > time.Second {
		t.Errorf("the p99 of another company's sends is %v", p99)
	}
	if peak > memoryLimit {
		t.Errorf("the program used %d MB", peak>>20)
	}
	if h.shed.Load() == 0 {
		t.Error("nothing was shed: the attack is too weak")
	}
}

// hostile are many clients from a few addresses.
type hostile struct {
	ctx          context.Context
	addr         string
	clients      *sync.WaitGroup
	opened, shed atomic.Int64
}

func (h *hostile) attack() {
	const key = "?access_key=ck_hostile_0123456789"
	head := func(path string, size int, more string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", path,
			size, more)
	}
	signature := "X-Hub-Signature-256: sha256=" + strings.Repeat("0", 64) + "\r\n"
	h.stall(3000, "127.0.1.1", head("/functions/v1/auth?grant_type=password", 16<<10, ""), 16<<10-1)
	h.stall(1000, "127.0.2.1", head("/callbacks/whatsapp/line", 4<<20, signature), 64<<10)
	h.stall(500, "127.0.3.1", head("/callbacks/whatsapp/line", 4<<20, ""), 64<<10)
	h.stall(300, "127.0.4.1", head("/functions/v1/notify"+key, 1<<20, ""), 256<<10)
	h.stall(2000, "127.0.5.1", "", 0) // idle
	// A body near the limit, with unused values.
	var more strings.Builder
	for i := range 240 {
		fmt.Fprintf(&more, `,"x%d":%q`, i, strings.Repeat("y", 4000))
	}
	large := fmt.Sprintf(sendForm, "hostile", more.String())
	refused := strings.Replace(large, "34600111222", "346 00", 1)
	for i := range 8 {
		h.repeat("127.0.6."+strconv.Itoa(1+i), http.MethodPost, "/functions/v1/notify"+key, refused)
		h.repeat("127.0.7."+strconv.Itoa(1+i), http.MethodGet, "/functions/v1/notify"+key+"&limit=100", "")
	}
	h.requests("127.0.8.1", http.MethodPost, "/functions/v1/notify"+key, large, 100)
}

// stall keeps n connections from two addresses open, each with a part of a request, and reopens those that are closed.
func (h *hostile) stall(n int, from, head string, body int) {
	text := append([]byte(head), bytes.Repeat([]byte(" "), body)...)
	for i := range n {
		ip := net.ParseIP(from).To4()
		ip[3] += byte(i % 2)
		h.clients.Go(func() {
			for h.ctx.Err() == nil {
				h.hold(ip, text)
				pause(h.ctx, time.Second)
			}
		})
	}
}

func (h *hostile) hold(from net.IP, text []byte) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 5 * time.Second}
	c, err := d.DialContext(h.ctx, "tcp", h.addr)
	if err != nil {
		return
	}
	stop := context.AfterFunc(h.ctx, func() { _ = c.Close() })
	defer stop()
	defer func() { _ = c.Close() }()
	h.opened.Add(1)
	if _, err := c.Write(text); err != nil {
		return
	}
	var response [64]byte
	if k, _ := c.Read(response[:]); bytes.HasPrefix(response[:k], []byte("HTTP/1.1 503")) {
		h.shed.Add(1)
	}
}

// repeat sends a request repeatedly.
func (h *hostile) repeat(from, method, path, body string) {
	h.clients.Go(func() { h.send(from, method, path, body, 0) })
}

func (h *hostile) requests(from, method, path, body string, n int) {
	h.clients.Go(func() { h.send(from, method, path, body, n) })
}

func (h *hostile) send(from, method, path, body string, n int) {
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	for i := 0; h.ctx.Err() == nil && (n == 0 || i < n); i++ {
		req, err := http.NewRequestWithContext(h.ctx, method, "http://"+h.addr+path, strings.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			h.shed.Add(1)
		}
		pause(h.ctx, 100*time.Millisecond)
	}
}

// sendOurs sends as a normal company and returns how long each request took.
func (h *hostile) sendOurs(t *testing.T, client *http.Client, during time.Duration) (took []time.Duration) {
	t.Helper()
	defer client.CloseIdleConnections()
	body := fmt.Sprintf(sendForm, "ours", "")
	for end := time.Now().Add(during); time.Now().Before(end); {
		begin := time.Now()
		resp, err := client.Post("http://"+h.addr+"/functions/v1/notify?access_key=ck_ours_0123456789", "application/json",
			strings.NewReader(body))
		if err != nil {
			t.Fatalf("send %d: %v", len(took), err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("send %d: %d %s", len(took), resp.StatusCode, text)
		}
		took = append(took, time.Since(begin))
		pause(t.Context(), 20*time.Millisecond)
	}
	return took
}

// peakMemory returns the peak resident memory of a process.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "kB")
	kb, err := strconv.ParseInt(strings.TrimSpace(peak), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
