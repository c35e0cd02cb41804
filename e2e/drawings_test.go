package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/docs"
	"carillon/internal/app"
)

const drawnProvision = `companies:
  - id: 77777777-7777-4777-8777-777777777731
    name: Drawn
    redial: {attempts: 1, outcomes: [busy]}
    keys: [{key: ck_drawn_everything, label: all}]
    senders:
      - {id: main, number: "15550100188", channel: messaging, provider: sandbox, default: true}
      - {id: line, number: "15550100189", channel: voice, provider: sandbox}
    templates: [{sender: main, name: hello, language: en, category: UTILITY, status: approved, body: "Hello."}]
    agents: [{id: 77777777-7777-4777-8777-777777777734, name: Ann, language: en, greeting: "Hello."}]
`

// drawn sends requests, and collects the transitions visible in the timestamps of recipients.
type drawn struct {
	t    *testing.T
	p    *program
	seen map[docs.Transition]bool
}

// TestDrawnTransitionsHappen compares the state diagrams of messages and calls with the sandbox's behavior: every
// arrow happens, here or in the named test, and nothing happens that is not in the diagram.
func TestDrawnTransitionsHappen(t *testing.T) {
	t.Parallel()
	provision := filepath.Join(t.TempDir(), "provision.yaml")
	if err := os.WriteFile(provision, []byte(drawnProvision), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &drawn{t: t, p: startWith(t, "sqlite", provision, app.Options{}, nil)}
	for _, c := range []struct {
		file, path, body string
		number           string // its prefix
		ends             map[string]string
		elsewhere        []docs.Transition // covered by other tests
	}{
		{
			"states-message.svg", "notify", `"recipient_id":"main","name_template":"hello","language_template":"en",` +
				`"notification_type":"utility","components_push":{}`, "3460055",
			map[string]string{"0100": "read", "0001": "failed", "0002": "read", "0005": "failed", "0007": "read"},
			nil,
		},
		{
			"states-call.svg", "notify/voice",
			`"recipient_id":"line","agent_id":"77777777-7777-4777-8777-777777777734","notification_type":"transactional"`, "3460056",
			map[string]string{"0001": "failed", "0011": "queued", "0012": "no_answer", "0013": "rejected", "0017": "completed"},
			// testdata/contract/voice.json
			[]docs.Transition{{From: "dialing", To: "busy"}, {From: "in_progress", To: "voicemail"}},
		},
	} {
		t.Run(c.path, func(t *testing.T) {
			x := &drawn{t: t, p: x.p, seen: map[docs.Transition]bool{}}
			ids := map[string]string{}
			for suffix := range c.ends {
				ids[suffix] = x.send(c.path, c.number+suffix, c.body)
			}
			const late = `,"datetime_sending":"2098-01-01T09:00:00"`
			soon := func(id string) {
				x.ask(http.MethodPatch, "notify/"+id,
					`{"datetime_sending":"`+time.Now().UTC().Add(5*time.Second).Format("2006-01-02T15:04:05")+`"}`)
			}
			skipped := x.send(c.path, c.number+"0102", c.body+late)
			x.ask(http.MethodPost, "suppressions", `{"number":"`+c.number+`0102"}`)
			soon(skipped)
			due := x.send(c.path, "34600570017", c.body+late) // a callee who hangs up at once
			soon(due)
			canceled := x.send(c.path, c.number+"0101", c.body+late)
			x.ask(http.MethodDelete, "notify/"+canceled, "")
			x.until(canceled, "canceled")
			x.until(skipped, "skipped")
			x.until(due, map[string]string{"notify": "read", "notify/voice": "completed"}[c.path])
			for suffix, state := range c.ends {
				x.until(ids[suffix], state)
			}
			waits := ids["0011"] // a call that waits for its second attempt, or a rate-limited message
			if c.path == "notify" {
				waits = x.waiting(c.number, c.body)
			}
			x.until(waits, "queued")
			x.ask(http.MethodDelete, "notify/"+waits, "")
			// Its timestamps also show the attempt before.
			x.seen[docs.Transition{From: "queued", To: "canceled"}] = true
			drawing, err := docs.Transitions(c.file)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range drawing {
				if !x.seen[a] && !slices.Contains(c.elsewhere, a) {
					t.Errorf("docs/images/%s shows that %s becomes %s, which did not happen", c.file, a.From, a.To)
				}
			}
			for a := range x.seen {
				if !slices.Contains(drawing, a) {
					t.Errorf("docs/images/%s does not show that %s becomes %s", c.file, a.From, a.To)
				}
			}
		})
	}
}

func (x *drawn) ask(method, path, body string) map[string]any {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), method, x.p.url+"/functions/v1/"+path+"?access_key=ck_drawn_everything",
		strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode > http.StatusNoContent {
		x.t.Fatalf("%s %s: %s %s", method, path, resp.Status, text)
	}
	var m map[string]any
	_ = json.Unmarshal(text, &m)
	return m
}

func (x *drawn) send(path, number, rest string) string {
	x.t.Helper()
	id, _ := x.ask(http.MethodPost, path, fmt.Sprintf(`{"contact":{"number":%q},"campaign_name":"drawn",%s}`, number,
		rest))["notification_id"].(string)
	return id
}

// until waits until the recipient has a state, and records the transitions shown by its timestamps.
func (x *drawn) until(id, state string) {
	x.t.Helper()
	for limit := time.Now().Add(2 * time.Minute); ; {
		recipient, _ := x.ask(http.MethodGet, "notify/"+id, "")["recipients"].([]any)[0].(map[string]any)
		if recipient["state"] == state {
			x.note(recipient)
			return
		}
		if time.Now().After(limit) {
			text, _ := json.Marshal(recipient)
			x.t.Fatalf("it does not become %s: %s", state, text)
		}
		<-time.After(100 * time.Millisecond)
	}
}

func (x *drawn) note(recipient map[string]any) {
	type step struct{ at, state string }
	var steps []step
	times, _ := recipient["times"].(map[string]any)
	for name, at := range times {
		steps = append(steps, step{at.(string), strings.TrimSuffix(name, "_at")}) //nolint:forcetypeassert // as described
	}
	// Order of those with the same timestamp.
	order := []string{"scheduled", "queued", "sending", "sent", "delivered", "dialing", "ringing", "in_progress"}
	rank := func(s string) int {
		if i := slices.Index(order, s); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(steps, func(a, b step) int {
		if d := strings.Compare(a.at, b.at); d != 0 {
			return d
		}
		return rank(a.state) - rank(b.state)
	})
	for i := 1; i < len(steps); i++ {
		x.seen[docs.Transition{From: steps[i-1].state, To: steps[i].state}] = true
	}
	attempts, _ := recipient["attempts"].(float64)
	call, _ := recipient["call"].(map[string]any)
	outcomes, _ := call["outcomes"].([]any)
	switch {
	case len(outcomes) > 0 && recipient["state"] == "queued":
		x.seen[docs.Transition{From: "dialing", To: "queued"}] = true
	case call == nil && attempts > 1:
		x.seen[docs.Transition{From: "sending", To: "queued"}] = true
	}
}

// waiting returns a message that waits for its second attempt.
func (x *drawn) waiting(number, body string) string {
	x.t.Helper()
	id := x.send("notify", number+"0010", body) // limited for five seconds
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-time.After(20 * time.Millisecond) {
		recipient, _ := x.ask(http.MethodGet, "notify/"+id, "")["recipients"].([]any)[0].(map[string]any)
		if text, _ := json.Marshal(recipient); bytes.Contains(text, []byte(`"state":"queued"`)) && recipient["attempts"] == 1.0 {
			return id
		}
	}
	x.t.Fatal("it does not wait")
	return ""
}
