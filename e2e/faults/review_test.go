package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

const reviewsProvision = `companies:
  - id: ` + chatCompany + `
    name: Reviews
    agents: [{name: Robin, language: en, goal: The person is greeted, engine: openai, openai: {base_url: "%s/v1", model: m}}]
    widgets: [{id: ` + chatWidget + `, kind: chat, name: Web, agent: Robin, language: en}]
    users: [{email: mate@chat.test, password: long-enough-password, role: owner}]
`

// reviewEngine is a server with OpenAI's API that leaves the first request for a review unanswered.
type reviewEngine struct {
	asked chan struct{} // closed with that request

	mu      sync.Mutex
	reviews int // requests
}

func (e *reviewEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	say := "Hello!"
	if strings.Contains(string(body), "You review a conversation") {
		e.mu.Lock()
		e.reviews++
		first := e.reviews == 1
		e.mu.Unlock()
		if first {
			close(e.asked)
			<-r.Context().Done()
			return
		}
		say = `{"summary":"They said hello.","goal":"yes","reason":"The agent greeted them."}`
	}
	text, _ := json.Marshal(say)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%s},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", text)
}

func (e *reviewEngine) asks() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reviews
}

// A node is killed between the claim of a review and its end, while the engine is asked. The next node makes the review
// once the claim has lapsed, and it is counted once.
func TestAReviewIsMadeAfterAKill(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			server := &reviewEngine{asked: make(chan struct{})}
			listening := httptest.NewServer(server)
			t.Cleanup(listening.Close)
			s, db := newReviewSite(t, engine, listening.URL)
			ctx, cancel := context.WithTimeout(t.Context(), 2*hung)
			defer cancel()
			ask := func(method, path, token, body string) map[string]any {
				t.Helper()
				status, answer, ok := s.ask(ctx, s.d, method, path, token, body)
				if !ok || status >= 400 {
					t.Fatalf("%s was answered %d %v", path, status, answer)
				}
				return answer
			}
			first, next := s.nodes[0], s.nodes[len(s.nodes)-1]
			s.nodes = []*node{first}
			first.start()
			visit := ask("POST", "/functions/v1/chat/session", "",
				fmt.Sprintf(`{"widget_id":%q,"customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-000000000001"}`, chatWidget))
			token, _ := visit["token"].(string)
			id, _ := visit["conversation_id"].(string)
			ask("POST", "/functions/v1/chat/turns", token, `{"client_id":"1","text":"Hello"}`)
			replied := func() (done bool) {
				err := db.QueryRowContext(ctx, "SELECT company_seq > visitor_seq FROM conversation WHERE id = $1", id).Scan(&done)
				return err == nil && done
			}
			if !await(ctx, hung, replied) {
				t.Fatal("no reply of the agent")
			}
			in := ask("POST", "/functions/v1/auth?grant_type=password", "", `{"email":"mate@chat.test","password":"long-enough-password"}`)
			owner, _ := in["access_token"].(string)
			ask("POST", "/panel/v1/conversations/"+id+"/resolve", owner, "")
			select {
			case <-server.asked:
			case <-ctx.Done():
				t.Fatal("the engine was not asked for a review")
			}
			first.kill()
			var until, tries, reviews int64
			if err := db.QueryRowContext(ctx, `SELECT review_at, review_tries, (SELECT COUNT(*) FROM review) FROM conversation
				WHERE id = $1`, id).Scan(&until, &tries, &reviews); err != nil {
				t.Fatal(err)
			}
			if until <= time.Now().UnixMilli() || tries != 1 || reviews != 0 {
				t.Errorf("killed with a claim until %s, %d attempts and %d reviews", time.UnixMilli(until), tries, reviews)
			}
			// The claim lapses.
			if _, err := db.ExecContext(ctx, "UPDATE conversation SET review_at = 1 WHERE id = $1", id); err != nil {
				t.Fatal(err)
			}
			s.nodes = []*node{next}
			next.start()
			var review map[string]any
			if !await(ctx, hung, func() bool {
				review, _ = ask("GET", "/panel/v1/conversations/"+id, owner, "")["review"].(map[string]any)
				return review != nil
			}) {
				t.Fatal("no review after the kill")
			}
			if review["by"] != "openai" || review["summary"] != "They said hello." || review["failure"] != nil || server.asks() != 2 {
				t.Errorf("%d requests, %v", server.asks(), review)
			}
			if counts := ask("GET", "/panel/v1/answers/reviews", owner, ""); counts["reviews"] != 1. {
				t.Errorf("counted %v", counts)
			}
			if err := db.QueryRowContext(ctx, "SELECT review_at, review_tries FROM conversation WHERE id = $1", id).
				Scan(&until, &tries); err != nil || until != 0 || tries != 0 {
				t.Errorf("due at %d, %d attempts, %v", until, tries, err)
			}
		})
	}
}

// newReviewSite returns a site with nodes that are not started, and its database. On SQLite there is one node.
func newReviewSite(t *testing.T, engine, server string) (*talkSite, *sql.DB) {
	t.Helper()
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, fmt.Appendf(nil, reviewsProvision, server), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{
		"--provision=" + provision, "--password-memory=8", "--password-passes=1", "--media-allow-private=127.0.0.0/8",
		"--master-key-file=" + storetest.MasterKey(t),
	}
	nodes := 1
	db, url := database(t, engine, filepath.Join(dir, "0"))
	if url != "" {
		nodes, flags = 2, append(flags, "--database-url="+url)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s := &talkSite{t: t, d: newDice(t, "review "+engine), client: &http.Client{Transport: transport}}
	for i := range nodes {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		s.nodes = append(s.nodes, newNode(t, folder, flags...))
	}
	return s, db
}
