package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/store/storetest"
)

const (
	voiceWidget = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e22"
	voiceKey    = "ck_faults_widget"
)

const voiceProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02
    name: Voice
    limits: {widget_calls_per_minute: 0}
    keys: [{key: ck_faults_widget, label: page, scopes: ["widget:use"]}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e12, name: Robin, language: en, greeting: Hello.}]
    widgets: [{id: 1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e22, kind: voice, name: Web, agent: Robin, language: en}]
`

// voicePage is a page whose visitor types. It returns to its conversation even if nodes die.
type voicePage struct {
	t            *testing.T
	nodes        []*node
	conversation string
	token        string
}

// get sends a request to the nodes in turn until one gives a definite response.
func (p *voicePage) get(ctx context.Context, path string, into any) (status int, ok bool) {
	for i := 0; ctx.Err() == nil; i++ {
		status, text, err := p.once(ctx, p.nodes[i%len(p.nodes)], path)
		if err != nil || status >= 500 {
			pause(ctx, 30*time.Millisecond)
			continue
		}
		return status, json.Unmarshal(text, into) == nil
	}
	return 0, false
}

func (p *voicePage) once(ctx context.Context, n *node, path string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+path, nil)
	if err != nil {
		return 0, nil, err
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// open opens a socket for the conversation on any available node.
func (p *voicePage) open(ctx context.Context) *websocket.Conn {
	for i := 0; ctx.Err() == nil; i++ {
		var s struct {
			URL            string `json:"signed_url"`
			ConversationID string `json:"conversation_id"`
			Token          string `json:"conversation_token"`
		}
		status, ok := p.get(ctx, "/functions/v1/voice-widget/signed-url?access_key="+voiceKey+"&id_widget="+voiceWidget, &s)
		if !ok || status != http.StatusOK {
			p.t.Errorf("an address is refused with %d", status)
			return nil
		}
		if p.conversation == "" {
			p.conversation = s.ConversationID
		}
		if p.token = s.Token; s.ConversationID != p.conversation {
			p.t.Errorf("the conversation became %s", s.ConversationID)
		}
		at, err := url.Parse(s.URL)
		if err != nil {
			p.t.Error(err)
			return nil
		}
		at.Host = p.nodes[i%len(p.nodes)].addr // not always the one that signed
		dial, cancel := context.WithTimeout(ctx, 5*time.Second)
		ws, _, err := websocket.Dial(dial, at.String(), &websocket.DialOptions{Subprotocols: []string{"convai"}})
		cancel()
		if err == nil {
			_ = ws.Write(ctx, websocket.MessageText,
				[]byte(`{"type":"conversation_initiation_client_data","conversation_config_override":{"conversation":{"text_only":true}}}`))
			return ws
		}
	}
	return nil
}

// answered sends a text until the agent has answered it, over as many sockets as needed. Like a page, it repeats a
// text that may not have arrived under the same client ID.
func (p *voicePage) answered(ctx context.Context, ws *websocket.Conn, id string) *websocket.Conn {
	for repeats := false; ctx.Err() == nil; ws, repeats = p.open(ctx), true {
		if ws == nil {
			return nil
		}
		if repeats && p.has(ctx, id) || p.turn(ctx, ws, id) { // an answer may be stored though no socket delivered it
			return ws
		}
		_ = ws.CloseNow()
	}
	return nil
}

func (p *voicePage) turn(ctx context.Context, ws *websocket.Conn, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text := fmt.Sprintf(`{"type":"user_message","text":"Question %s","client_id":%q}`, id, id)
	if ws.Write(ctx, websocket.MessageText, []byte(text)) != nil {
		return false
	}
	for {
		_, text, err := ws.Read(ctx)
		var m struct {
			Type     string `json:"type"`
			Response struct {
				Seq int64 `json:"seq"`
			} `json:"agent_response_event"`
		}
		if err != nil || json.Unmarshal(text, &m) != nil {
			return false
		}
		if m.Type != "agent_response" || m.Response.Seq == 0 {
			continue
		}
		if p.has(ctx, id) {
			return true
		}
	}
}

// has reports whether the conversation has a text of the visitor and an answer after it.
func (p *voicePage) has(ctx context.Context, id string) bool {
	turns := p.turns(ctx)
	i := slices.IndexFunc(turns, func(t shownTurn) bool { return t.ClientID == id })
	return i >= 0 && slices.ContainsFunc(turns[i:], func(t shownTurn) bool { return t.Author == "agent" })
}

func (p *voicePage) turns(ctx context.Context) []shownTurn {
	var x struct{ Turns []shownTurn }
	p.get(ctx, "/functions/v1/voice-widget/chat-by-conversation?conversation_id="+p.conversation, &x)
	return x.Turns
}

// TestVoiceConversationsSurviveTheirNodes kills nodes during a conversation. The page returns, and the conversation
// contains everything once and in order.
func TestVoiceConversationsSurviveTheirNodes(t *testing.T) {
	for engine, count := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			provision := filepath.Join(dir, "provision.yaml")
			if err := os.WriteFile(provision, []byte(voiceProvision), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := []string{"--provision=" + provision, "--password-memory=8", "--password-passes=1"}
			if engine == "postgres" {
				flags = append(flags, "--database-url="+storetest.Postgres(t), "--master-key-file="+storetest.MasterKey(t))
			}
			p := &voicePage{t: t}
			for i := range count {
				folder := filepath.Join(dir, fmt.Sprint(i))
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				n := newNode(t, folder, flags...)
				n.start()
				p.nodes = append(p.nodes, n)
			}
			d := newDice(t, "voice "+engine)
			ctx := t.Context()
			bounded, cancel := context.WithTimeout(ctx, hung)
			defer cancel()
			ws := p.open(bounded)
			answered := func(id string) {
				t.Helper()
				ctx, cancel := context.WithTimeout(ctx, hung)
				defer cancel()
				if ws = p.answered(ctx, ws, id); ws == nil {
					t.Fatal("no answer came any more")
				}
			}
			var want []string
			for round := range max(3, *rounds) {
				ids := []string{fmt.Sprintf("%d-a", round), fmt.Sprintf("%d-b", round)}
				want = append(want, ids...)
				answered(ids[0])
				n := p.nodes[d.IntN(len(p.nodes))]
				killed := make(chan struct{})
				go func() {
					defer close(killed)
					pause(ctx, d.child().between(0, 150*time.Millisecond))
					n.kill()
					n.start()
				}()
				answered(ids[1])
				<-killed
			}
			_ = ws.CloseNow()
			var got []string
			last := int64(0)
			for _, turn := range p.turns(ctx) {
				if turn.Seq != last+1 {
					t.Errorf("seq %d follows %d", turn.Seq, last)
				}
				if last = turn.Seq; turn.Author == "visitor" {
					got = append(got, turn.ClientID)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the visitor said %v, the conversation has %v", want, got)
			}
		})
	}
}
