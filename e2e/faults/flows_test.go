package faults

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/storetest"
)

const flowsProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e03
    name: Flows
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e13, name: Robin, language: en}]
    users: [{email: %s, password: %s, role: owner}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax,
        per_recipient_interval: 0, settings: {base_url: %q,
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token,
         agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e13}}
    templates:
      - {sender: main, name: plain, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]}}
    flows:
      - name: every step
        trigger: {keywords: [begin]}
        steps:
          - {say: "First?"}
          - {ask: first, choices: ["yes", "no"]}
          - {set: {order: "{{number}}-1"}}
          - {http: {method: POST, url: "%s/{{order}}", status: status}}
          - {send_template: {name: plain, language: en, variables: {body_text_0: "{{order}}"}}}
          - {wait: 2s}
          - {if: "first == 'yes'", then: [{say: "Second?"}, {ask: second, choices: ["yes", "no"]}], else: [{end: true}]}
          - {http: {url: "%s/state", save: {state: state}}}
          - {say: "The state is {{state}}."}
          - {end: true}
`

// flowSite is a site with the channel, a shop, and people who write.
type flowSite struct {
	t     *testing.T
	nodes []*node
	graph *graphtest.Server

	db     *sql.DB
	open   func() *store.Store // opens the store once the nodes have stopped
	mu     sync.Mutex
	posted map[string]int // number of requests to the shop, by path
}

func (s *flowSite) shop(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.posted[r.URL.Path]++
		s.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
	_, _ = io.WriteString(w, `{"state": "sent"}`)
}

// deliver repeats a callback with a message until a node accepts it.
func (s *flowSite) deliver(body []byte) {
	for i := 0; s.t.Context().Err() == nil; i++ {
		n := s.nodes[i%len(s.nodes)]
		if status, err := s.graph.Deliver(s.t.Context(), "http://"+n.addr+"/callbacks/whatsapp/main", body); err == nil &&
			status == http.StatusOK {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// got returns the replies accepted for a number, in order of arrival.
func (s *flowSite) got(number string) (all []graphtest.Post) {
	for ref, posts := range s.graph.All() {
		for _, p := range posts {
			if p.Accepted && p.To == number && strings.HasPrefix(ref, "reply.") {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b graphtest.Post) int { return a.At.Compare(b.At) })
	return all
}

// lost returns the questions to a number that never reached the channel because their node died before. They are not
// sent again.
func (s *flowSite) lost(number string) (all []string) {
	rows, err := s.db.Query(`SELECT r.conversation_id, r.seq FROM reply r JOIN flow_run f ON f.conversation_id = r.conversation_id
		WHERE r.number = $1 AND r.state = 'unknown' AND f.state = 'asking'`, number)
	if err != nil { // the database is busy: retry later
		return nil
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		var seq int64
		if rows.Scan(&id, &seq) != nil {
			return nil
		}
		ref := fmt.Sprintf("reply.%s.%d.", id, seq)
		if !slices.ContainsFunc(s.got(number), func(p graphtest.Post) bool { return strings.HasPrefix(p.Ref, ref) }) {
			all = append(all, ref)
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return all
}

// isQuestion reports whether a reply is a question.
func isQuestion(p graphtest.Post) bool {
	return strings.Contains(string(p.Body), "First?") || strings.Contains(string(p.Body), "Second?")
}

// person starts the flow, and answers each question that arrives once, with the first choice. If a question was lost
// with its node, the person writes anyway.
func (s *flowSite) person(i int, over <-chan struct{}) {
	number := fmt.Sprintf("346005%05d", i)
	n := 0
	write := func(text string) {
		s.deliver(s.graph.InboundBody("Ana", graphtest.Text(number, fmt.Sprintf("wamid.%d.%d", i, n), text, time.Now())))
		n++
	}
	write("begin")
	answered := map[string]bool{}
	for done := false; !done; {
		await(s.t.Context(), hung, func() bool {
			select {
			case <-over:
				done = true
			default:
			}
			if done {
				return true
			}
			var asked []string
			for _, p := range s.got(number) {
				if isQuestion(p) {
					asked = append(asked, p.Ref)
				}
			}
			for _, ref := range append(asked, s.lost(number)...) {
				if !answered[ref] {
					answered[ref] = true
					write("1")
					return true
				}
			}
			return false
		})
	}
}

// strike kills the nodes while the channel has a question of theirs that it has not responded to, and restarts them.
func (s *flowSite) strike(d dice, done func() bool) {
	taken := make(chan struct{})
	var once sync.Once
	skip := int32(d.IntN(10)) // questions that succeed before
	var asked atomic.Int32
	s.graph.FailBy(func(p graphtest.Post) *graphtest.Failure {
		var hang bool
		if strings.HasPrefix(p.Ref, "reply.") && isQuestion(p) && asked.Add(1) > skip {
			once.Do(func() { hang = true })
		}
		if !hang {
			return nil
		}
		close(taken)
		return &graphtest.Failure{Kind: graphtest.Hang, Accepted: true}
	})
	await(s.t.Context(), hung, func() bool {
		select {
		case <-taken:
			return true
		default:
			return done()
		}
	})
	s.graph.FailBy(nil)
	for _, n := range s.nodes {
		n.kill()
	}
	for _, n := range s.nodes {
		n.start()
	}
}

// Nodes die while people are in a flow with every kind of step, each time while the channel has one of their
// questions. The answer continues the flow, each run continues where it was, and its effects happened once or are
// recorded as unknown. Nobody writes more than one answer per question.
func TestFlowsGoOnOverKills(t *testing.T) {
	for engine, nodes := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newFlowSite(t, engine, nodes)
			const people = 30
			over := make(chan struct{})
			var all sync.WaitGroup
			for i := range people {
				all.Go(func() { s.person(i, over) })
			}
			done := func() bool {
				completed, waiting := 0, 0 // waiting: to be sent, once the shards of dead nodes are taken over
				err := errors.Join(s.db.QueryRow("SELECT COUNT(*) FROM flow_run WHERE state = 'completed'").Scan(&completed),
					s.db.QueryRow(
						`SELECT (SELECT COUNT(*) FROM message WHERE q = 1) + (SELECT COUNT(*) FROM reply
							WHERE state IN ('queued', 'sending'))
						+ (SELECT COUNT(*) FROM inbound_message WHERE due_at > 0)`).Scan(&waiting))
				return err == nil && completed == people && waiting == 0
			}
			d := newDice(t, "flows "+engine)
			for range 6 {
				s.strike(d, done)
			}
			if !await(t.Context(), 3*time.Minute, done) {
				t.Error("not everybody comes to the end")
			}
			close(over)
			all.Wait()
			for _, n := range s.nodes {
				n.stop(hung)
			}
			s.judge(people)
		})
	}
}

func newFlowSite(t *testing.T, engine string, nodes int) *flowSite {
	t.Helper()
	s := &flowSite{t: t, posted: map[string]int{}}
	shop := httptest.NewServer(http.HandlerFunc(s.shop))
	t.Cleanup(shop.Close)
	var err error
	if s.graph, err = graphtest.New(graphtest.Options{PhoneNumberID: "1000001", Templates: []carillon.Template{{
		Name: "plain", Language: "en", Category: "UTILITY", Components: []carillon.Component{{
			Type: "BODY", Text: "Hello {{1}}.", Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana"}}},
		}},
	}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.graph.Close() })
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, fmt.Appendf(nil, flowsProvision, operator, password, s.graph.URL(), shop.URL, shop.URL),
		0o600); err != nil {
		t.Fatal(err)
	}
	key := storetest.MasterKey(t)
	flags := []string{
		"--provision=" + provision, "--password-memory=8", "--password-passes=1", "--media-allow-private=127.0.0.0/8",
		"--master-key-file=" + key,
	}
	o := store.Options{Dir: filepath.Join(dir, "0")}
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	copy(o.MasterKey[:], text)
	if s.db, o.DatabaseURL = database(t, engine, o.Dir); o.DatabaseURL != "" {
		flags = append(flags, "--database-url="+o.DatabaseURL)
	}
	for i := range nodes {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		n := newNode(t, folder, flags...)
		n.start()
		s.nodes = append(s.nodes, n)
	}
	s.open = func() *store.Store {
		x, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	return s
}

// database returns a connection to the database of nodes, and its address; empty for SQLite in the folder of the node.
func database(t *testing.T, engine, dir string) (db *sql.DB, url string) {
	t.Helper()
	driver, source := "sqlite", "file:"+filepath.Join(dir, "carillon.db")+"?_pragma=busy_timeout(20000)&_pragma=wal_autocheckpoint(0)"
	if engine == "postgres" {
		url = storetest.Postgres(t)
		driver, source = "pgx", url
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, url
}

// judge compares the stored data with the effects outside.
func (s *flowSite) judge(people int) {
	t := s.t
	x := s.open()
	defer func() { _ = x.Close() }()
	all, err := x.Runs.List(t.Context(), "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e03", chats.RunFilter{}, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]*chats.Run{} // by number; each person who wrote "begin" once has one
	unknown := 0
	for _, r := range all {
		number := r.Variables["number"]
		if first[number] != nil {
			t.Errorf("%s has two runs", number)
		}
		first[number] = r
		if r.State != "completed" || r.Error != "" {
			t.Errorf("the run of %s is %s at %s: %s", number, r.State, r.Path, r.Error)
		}
		posts := s.posted["/"+number+"-1"]
		switch status := r.Variables["status"]; {
		case posts > 1, status == "200" && posts != 1, status != "200" && status != "unknown" && status != "failed":
			t.Errorf("the shop was asked %d times for %s, whose status is %q", posts, number, status)
		case status != "200":
			unknown++
		}
		if r.Variables["first"] != "yes" || r.Variables["second"] != "yes" {
			t.Errorf("of %s is known %q and %q", number, r.Variables["first"], r.Variables["second"])
		}
		var order []int // a text may have been lost with its node, but none arrives twice or out of order
		for _, p := range s.got(number) {
			is := func(text string) bool { return strings.Contains(string(p.Body), text) }
			order = append(order, slices.IndexFunc([]string{"First?", "Second?", "The state is"}, is))
		}
		if !slices.IsSorted(order) || len(slices.Compact(slices.Clone(order))) != len(order) {
			t.Errorf("%s gets the texts %v", number, order)
		}
	}
	if len(first) != people {
		t.Errorf("%d of %d people have a run", len(first), people)
	}
	sent, replies := map[string]map[string]bool{}, map[string]int{}
	for ref, posts := range s.graph.All() {
		for _, p := range posts {
			if r, err := provider.ParseReplyRef(ref); err == nil {
				if p.Accepted {
					replies[fmt.Sprint(r.ConversationID, " ", r.Seq)]++
				}
				continue
			}
			if sent[p.To] == nil {
				sent[p.To] = map[string]bool{}
			}
			id, _, _ := strings.Cut(ref, ".")
			sent[p.To][id] = true
		}
	}
	for key, n := range replies {
		if n > 1 {
			t.Errorf("the reply %s was sent %d times", key, n)
		}
	}
	for number, ids := range sent {
		if len(ids) != 1 {
			t.Errorf("%s got %d notifications", number, len(ids))
		}
	}
	t.Logf("%d runs, %d requests of unknown outcome, %d replies, %d templates", len(first), unknown, len(replies), len(sent))
}
