//go:build measure

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

const (
	movedMessages      = 100_000
	movedConversations = 1_000
	movedFiles         = 100
	movedFileBytes     = 200 << 10
	movedLoad          = 200 // requests per second during the move
)

// TestTheMoveOfAHundredThousandMessages measures the pause of a move under load, on a PostgreSQL with durable commits.
// `make measure` runs it.
func TestTheMoveOfAHundredThousandMessages(t *testing.T) {
	url, stop, err := storetest.Durable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	m := newMoved(t)
	m.fill()
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(url), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var accepted, refused atomic.Int64
	var load sync.WaitGroup
	load.Go(func() {
		tick := time.NewTicker(time.Second / movedLoad)
		defer tick.Stop()
		for i := movedMessages; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			load.Go(func() {
				if m.send(i) == http.StatusOK {
					accepted.Add(1)
				} else {
					refused.Add(1)
				}
			})
		}
	})
	s := site{t: t, x: m.node}
	output, ok := s.migrate(t.Context(), []string{"migrate", "--json", "--to-file=" + file, "--data=" + m.dir}, "", nil)
	end()
	load.Wait()
	if !ok {
		t.Fatal(output)
	}
	t.Logf("%d requests accepted, %d refused meanwhile\n%s", accepted.Load(), refused.Load(), output)
	var r struct {
		Pause float64 `json:"pause_seconds"`
	}
	if err := json.Unmarshal([]byte(output[strings.Index(output, "\n{"):]), &r); err != nil {
		t.Fatal(err)
	}
	const most = 10 // seconds
	if r.Pause > most {
		t.Errorf("the pause lasted %.1f s", r.Pause)
	}
	<-m.node.ended
	begin := time.Now()
	m.node.args = append(m.node.args, "--database-url-file="+file, "--master-key-file="+filepath.Join(m.dir, "master.key"))
	m.node.start()
	t.Logf("the program starts on PostgreSQL in %s", time.Since(begin).Round(time.Millisecond))
}

// moved is a company with many messages, conversations and files.
type moved struct {
	t      *testing.T
	dir    string
	node   *node
	client *http.Client
}

func newMoved(t *testing.T) *moved {
	t.Helper()
	dir := t.TempDir()
	endpoint := newTaker(t)
	text := strings.NewReplacer("FREE", endpoint.URL, "ORDERED", endpoint.URL+"/ordered").Replace(hooksProvision) +
		"    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11, name: Robin, language: en}]\n" +
		"    widgets: [{id: " + chatWidget + ", kind: chat, name: Web, agent: Robin, language: en}]\n"
	text = strings.Replace(text, "daily_bytes: 0", "daily_bytes: 0, widget_calls_per_minute: 0", 1)
	provision := filepath.Join(t.TempDir(), "provision.yaml")
	if err := os.WriteFile(provision, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &moved{t: t, dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	t.Cleanup(m.client.CloseIdleConnections)
	m.node = newNode(t, dir, "--provision="+provision, "--media-allow-private=127.0.0.0/8", "--password-memory=8", "--password-passes=1")
	m.node.start()
	return m
}

// fill sends the messages, half of them for a later day, and makes the conversations and files.
func (m *moved) fill() {
	m.t.Helper()
	begin := time.Now()
	const callers = 32
	var done sync.WaitGroup
	var next atomic.Int64
	for range callers {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < movedMessages; i = int(next.Add(1)) - 1 {
				for m.send(i) != http.StatusOK {
					pause(m.t.Context(), 50*time.Millisecond)
				}
			}
		})
	}
	done.Wait()
	for i := range movedConversations {
		session := m.post("/functions/v1/chat/session", "application/json", "", strings.NewReader(fmt.Sprintf(
			`{"widget_id":%q,"customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-%012d"}`, chatWidget, i)))
		token, _ := session["token"].(string)
		for k := range 3 {
			turn := fmt.Sprintf(`{"client_id":"%d","text":"Hello %d"}`, k, k)
			m.post("/functions/v1/chat/turns", "application/json", token, strings.NewReader(turn))
		}
		if i < movedFiles {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			part, _ := w.CreateFormFile("file", "a.pdf")
			_, _ = part.Write(append([]byte("%PDF-1.7 "), bytes.Repeat([]byte{byte(i)}, movedFileBytes)...))
			_ = w.Close()
			m.post("/functions/v1/chat/files", w.FormDataContentType(), token, &b)
		}
	}
	m.t.Logf("%d messages, %d conversations, %d files in %s", movedMessages, movedConversations, movedFiles,
		time.Since(begin).Round(time.Second))
}

// send sends a message with a body of 1.2 kB and returns the status; 0 without a response.
func (m *moved) send(i int) int {
	later := ""
	if i%2 == 0 {
		later = `,"datetime_sending":"2099-01-01T00:00:00"`
	}
	body := fmt.Sprintf(`{"contact":{"number":"3460%07d","name":"Ana"},"recipient_id":"main","name_template":"hello",`+
		`"language_template":"en","notification_type":"utility","campaign_name":"campaign %d","components_push":{"body_text_0":%q}%s}`,
		i, i%100, strings.Repeat("x", 900), later)
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, "http://"+m.node.addr+"/functions/v1/notify?access_key="+accessKey,
		strings.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", fmt.Sprint("key-", i))
	response, err := m.client.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

func (m *moved) post(path, kind, token string, body io.Reader) (into map[string]any) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, "http://"+m.node.addr+path, body)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&into); err != nil || response.StatusCode != http.StatusOK {
		m.t.Fatal(path, response.StatusCode, into, err)
	}
	return into
}
