package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

const (
	chatCompany = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"
	chatWidget  = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e21"
	chatMates   = 5
)

// chatProvision returns a set-up of a company with a chat widget, an agent without knowledge, and teammates.
func chatProvision() string {
	text := "companies:\n  - id: " + chatCompany + "\n    name: Chat\n    limits: {widget_calls_per_minute: 0}\n" +
		"    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11, name: Robin, language: en}]\n" +
		"    widgets: [{id: " + chatWidget + ", kind: chat, name: Web, agent: Robin, language: en}]\n    users:\n"
	for i := range chatMates {
		text += fmt.Sprintf("      - {email: mate%d@chat.test, password: long-enough-password, name: Mate %d, role: teammate}\n", i, i)
	}
	return text
}

// talkSite is a site with visitors and teammates who chat.
type talkSite struct {
	t      *testing.T
	d      dice
	nodes  []*node
	client *http.Client
	begin  chan struct{} // closed when all teammates follow the inbox
	// working counts the teammates who are still active.
	working sync.WaitGroup

	mu     sync.Mutex
	acked  map[string]int64 // seq of each confirmed turn, by conversation and client ID
	people []*visitor
}

// visitor is a person on a page whose stream is cut at random. The page shows the turns in the order of arrival.
type visitor struct {
	screen
	token, conversation string
}

// screen holds the turns that a stream has shown.
type screen struct {
	mu    sync.Mutex
	last  string
	turns map[string][]shownTurn // by conversation
	reset bool
	open  bool // it was open at least once
	cuts  int
}

type shownTurn struct {
	Seq      int64  `json:"seq"`
	Author   string `json:"author"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	ClientID string `json:"client_id"`
	Note     bool   `json:"note"`
}

func newTalkSite(t *testing.T, engine string, nodes int) *talkSite {
	t.Helper()
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, []byte(chatProvision()), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--provision=" + provision, "--password-memory=8", "--password-passes=1"}
	if engine == "postgres" {
		flags = append(flags, "--database-url="+storetest.Postgres(t), "--master-key-file="+storetest.MasterKey(t))
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	s := &talkSite{
		t: t, d: newDice(t, "chat "+engine), client: &http.Client{Transport: transport}, acked: map[string]int64{},
		begin: make(chan struct{}),
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
	return s
}

// ask repeats a request on random nodes until one gives a definite response. ok is false if ctx ends first.
func (s *talkSite) ask(ctx context.Context, d dice, method, path, token, body string) (status int, answer map[string]any, ok bool) {
	for ; ctx.Err() == nil; pause(ctx, 30*time.Millisecond) {
		node := s.nodes[d.IntN(len(s.nodes))]
		one, cancel := context.WithTimeout(ctx, 15*time.Second)
		status, text, err := s.once(one, node, method, path, token, body)
		cancel()
		if err != nil || status >= 500 {
			continue
		}
		_ = json.Unmarshal(text, &answer) // a 204 has no body
		return status, answer, true
	}
	return 0, nil, false
}

func (s *talkSite) once(ctx context.Context, n *node, method, path, token, body string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+n.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// ack records that a turn was confirmed. A repeated confirmation must be the same.
func (s *talkSite) ack(conversation, clientID string, turn any) {
	fields, _ := turn.(map[string]any)
	seq, _ := fields["seq"].(float64)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := conversation + " " + clientID
	if have, again := s.acked[key]; again && have != int64(seq) || seq < 1 {
		s.t.Errorf("%s was confirmed as %d, then as %v", clientID, have, turn)
	}
	s.acked[key] = int64(seq)
}

// watch keeps a stream open on changing nodes and cuts it at random. read gets each event.
func (x *screen) watch(ctx context.Context, s *talkSite, d dice, path, token string, read func(kind string, data []byte)) {
	for ; ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		piece, cut := context.WithTimeout(ctx, d.between(100*time.Millisecond, 1500*time.Millisecond))
		x.follow(piece, s, s.nodes[d.IntN(len(s.nodes))], path, token, read)
		cut()
		x.cuts++
	}
}

func (x *screen) follow(ctx context.Context, s *talkSite, n *node, path, token string, read func(kind string, data []byte)) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+path, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Last-Event-ID", x.last)
	resp, err := s.client.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode < 500 {
			s.t.Errorf("%s answered %d", path, resp.StatusCode)
		}
		return
	}
	x.mu.Lock()
	x.open = true
	x.mu.Unlock()
	id, kind, data := "", "", ""
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() { // an event that is cut off in the middle does not count
		field, value, _ := strings.Cut(in.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			x.mu.Lock()
			if kind != "" {
				read(kind, []byte(data))
			}
			if id != "" {
				x.last = id
			}
			x.mu.Unlock()
			id, kind, data = "", "", ""
		}
	}
}

func (x *screen) opened() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open
}

func (x *screen) count(conversation string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.turns[conversation])
}

// visit simulates a visitor, who sends turns, asks for a person in between, and reads along.
func (s *talkSite) visit(ctx, reading context.Context, d dice, v *visitor, i, turns int) {
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		v.watch(reading, s, d.child(), "/functions/v1/chat/stream", v.token, func(kind string, data []byte) {
			var turn shownTurn
			if kind == "turn" && json.Unmarshal(data, &turn) == nil {
				v.turns[v.conversation] = append(v.turns[v.conversation], turn)
			}
		})
	}()
	for n := 0; n < turns && ctx.Err() == nil; n++ {
		clientID := fmt.Sprintf("v%d-%d", i, n)
		body := fmt.Sprintf(`{"client_id":%q,"text":"turn %d of visitor %d"}`, clientID, n, i)
		for range 1 + d.IntN(2) { // some send it again
			status, turn, ok := s.ask(ctx, d, "POST", "/functions/v1/chat/turns", v.token, body)
			if ok && status == 200 {
				s.ack(v.conversation, clientID, turn)
			} else if ok {
				s.t.Errorf("a turn was answered %d %v", status, turn)
			}
		}
		if d.chance(15) {
			s.ask(ctx, d, "POST", "/functions/v1/chat/handoff", v.token, `{}`)
		}
		pause(ctx, d.between(0, 150*time.Millisecond))
	}
	<-watching
}

// work simulates a teammate, who takes conversations, answers, writes notes, returns and resolves them, and reads
// along.
func (s *talkSite) work(ctx, reading context.Context, d dice, x *screen, i int, token string) {
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		x.watch(reading, s, d.child(), "/panel/v1/inbox/events", token, x.readUpdate)
	}()
	defer func() { <-watching }()
	defer s.working.Done()
	<-s.begin
	for n := 0; ctx.Err() == nil; n++ {
		v := s.people[d.IntN(len(s.people))]
		one, clientID := "/panel/v1/conversations/"+v.conversation, fmt.Sprintf("m%d-%d", i, n)
		said := fmt.Sprintf(`{"client_id":%q,"text":"answer %d of mate %d"}`, clientID, n, i)
		action, body := "/answers", said
		switch p := d.IntN(100); {
		case p < 20:
			action, body = "/take", `{}`
		case p < 30:
			action = "/notes"
		case p < 40:
			action, body = "/release", `{"to":"agent"}`
		case p < 45:
			action, body = "/resolve", ""
		}
		for range 1 + d.IntN(2) {
			status, answer, ok := s.ask(reading, d, "POST", one+action, token, body) // to its end
			switch {
			case ok && status == 200 && body == said:
				s.ack(v.conversation, clientID, answer["turn"])
			case ok && status != 200 && status != 409:
				s.t.Errorf("%s was answered %d %v", action, status, answer)
			}
		}
		pause(ctx, d.between(0, 60*time.Millisecond))
	}
}

func (x *screen) readUpdate(kind string, data []byte) {
	var update struct {
		Conversation struct{ ID string }
		Turns        []shownTurn
	}
	switch {
	case kind == "reset":
		x.reset = true
	case kind == "conversation.updated" && json.Unmarshal(data, &update) == nil:
		x.turns[update.Conversation.ID] = append(x.turns[update.Conversation.ID], update.Turns...)
	}
}

// talk lets visitors and teammates chat while breaks injects faults, then waits until every screen is up to date, and
// compares the screens with the database.
func (s *talkSite) talk(visitors, mates, turns int, breaks func(ctx context.Context)) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 4*time.Minute)
	defer cancel()
	var tokens []string
	for i := range mates {
		_, answer, _ := s.ask(ctx, s.d, "POST", "/functions/v1/auth?grant_type=password", "",
			fmt.Sprintf(`{"email":"mate%d@chat.test","password":"long-enough-password"}`, i))
		token, _ := answer["access_token"].(string)
		tokens = append(tokens, token)
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	for i := range visitors {
		_, answer, _ := s.ask(ctx, s.d, "POST", "/functions/v1/chat/session", "",
			fmt.Sprintf(`{"widget_id":%q,"customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-%012d"}`, chatWidget, i))
		v := &visitor{screen: screen{last: "0", turns: map[string][]shownTurn{}}}
		v.token, _ = answer["token"].(string)
		v.conversation, _ = answer["conversation_id"].(string)
		if v.token == "" {
			s.t.Fatalf("a visitor got %v", answer)
		}
		s.people = append(s.people, v)
	}
	var all, talking sync.WaitGroup
	screens := make([]*screen, mates)
	for i := range mates {
		screens[i] = &screen{last: "0", turns: map[string][]shownTurn{}}
		d := s.d.child()
		s.working.Add(1)
		all.Go(func() { s.work(working, reading, d, screens[i], i, tokens[i]) })
	}
	if !await(ctx, hung, func() bool { return !slices.ContainsFunc(screens, func(x *screen) bool { return !x.opened() }) }) {
		s.t.Error("not every teammate follows the inbox")
	}
	close(s.begin)
	for i, v := range s.people {
		d := s.d.child()
		said := make(chan struct{})
		all.Go(func() {
			defer close(said)
			s.visit(ctx, reading, d, v, i, turns)
		})
		talking.Go(func() {
			await(ctx, 3*time.Minute, func() bool { return s.saidAll(v.conversation, i, turns) })
		})
	}
	breaks(ctx)
	talking.Wait()
	stopWorking()
	s.working.Wait()
	for _, v := range s.people { // so that no further replies of the agent arrive
		s.ask(ctx, s.d, "POST", "/panel/v1/conversations/"+v.conversation+"/resolve", tokens[0], "")
	}
	stored := map[string][]shownTurn{}
	settled := await(ctx, time.Minute, func() bool {
		for _, v := range s.people {
			stored[v.conversation] = s.stored(ctx, tokens[0], v.conversation)
			if v.count(v.conversation) < len(seenByVisitor(stored[v.conversation])) {
				return false
			}
			for _, x := range screens {
				if !x.reset && x.count(v.conversation) < len(stored[v.conversation]) {
					return false
				}
			}
		}
		return true
	})
	stopReading()
	all.Wait()
	if !settled {
		s.t.Error("not every screen shows everything a minute after the last turn")
	}
	s.compare(stored, screens)
}

func (s *talkSite) saidAll(conversation string, i, turns int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, last := s.acked[fmt.Sprintf("%s v%d-%d", conversation, i, turns-1)]
	return last
}

// stored returns a conversation's turns as the panel reads them.
func (s *talkSite) stored(ctx context.Context, token, conversation string) (all []shownTurn) {
	for after := int64(0); ; {
		_, answer, ok := s.ask(ctx, s.d, "GET", fmt.Sprintf("/panel/v1/conversations/%s/turns?after=%d", conversation, after), token, "")
		if !ok {
			return all
		}
		var turns []shownTurn
		text, _ := json.Marshal(answer["turns"])
		if err := json.Unmarshal(text, &turns); err != nil {
			s.t.Error(err)
			return all
		}
		all = append(all, turns...)
		if answer["more"] != true {
			return all
		}
		after = all[len(all)-1].Seq
	}
}

// seenByVisitor returns the turns without teammates' notes.
func seenByVisitor(all []shownTurn) []shownTurn {
	return slices.DeleteFunc(slices.Clone(all), func(t shownTurn) bool { return t.Note })
}

// compare compares the stored turns with the confirmed ones, and every screen with the stored turns.
func (s *talkSite) compare(stored map[string][]shownTurn, screens []*screen) {
	s.t.Helper()
	total, cuts, resets, left := 0, 0, 0, maps.Clone(s.acked)
	for _, v := range s.people {
		turns := stored[v.conversation]
		total, cuts = total+len(turns), cuts+v.cuts
		seen := map[string]bool{}
		for i, turn := range turns {
			if turn.Seq != int64(i+1) {
				s.t.Errorf("turn %d has seq %d", i+1, turn.Seq)
			}
			id := turn.Author + turn.ClientID
			if turn.ClientID != "" && seen[id] {
				s.t.Errorf("%s is stored twice", turn.ClientID)
			}
			seen[id] = true
			key := v.conversation + " " + turn.ClientID
			if seq, confirmed := left[key]; confirmed && seq != turn.Seq {
				s.t.Errorf("%s was confirmed as %d and is %d", turn.ClientID, seq, turn.Seq)
			}
			delete(left, key)
		}
		if shown := v.turns[v.conversation]; !slices.Equal(shown, seenByVisitor(turns)) {
			s.t.Errorf("a visitor's screen shows %d turns, not the %d that are stored:\n%v\n%v", len(shown),
				len(seenByVisitor(turns)), shown, turns)
			return
		}
		for i, x := range screens {
			if shown := x.turns[v.conversation]; !x.reset && !slices.Equal(shown, turns) {
				s.t.Errorf("teammate %d sees %d turns, not the %d that are stored:\n%v\n%v", i, len(shown), len(turns), shown, turns)
			}
		}
	}
	for _, x := range screens {
		cuts += x.cuts
		if x.reset {
			resets++
		}
	}
	for key := range left {
		s.t.Errorf("%s was confirmed and is not stored", key)
	}
	s.t.Logf("%d turns in %d conversations, %d of them confirmed; streams were cut %d times; %d teammates had to load everything",
		total, len(s.people), len(s.acked), cuts, resets)
	if resets == len(screens) {
		s.t.Error("no teammate followed without a gap")
	}
}

// breakNode kills and restarts a node.
func (s *talkSite) breakNode(ctx context.Context, d dice) {
	n := s.nodes[d.IntN(len(s.nodes))]
	n.kill()
	pause(ctx, d.between(0, 500*time.Millisecond))
	n.start()
}

func onBothEngines(t *testing.T, test func(t *testing.T, s *talkSite)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newTalkSite(t, "sqlite", 1))
	})
	t.Run("two nodes on postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newTalkSite(t, "postgres", 2))
	})
}

// TestNoTurnIsLostOrDoubledOverAKill is the short form of TestFaultsChat.
func TestNoTurnIsLostOrDoubledOverAKill(t *testing.T) {
	onBothEngines(t, func(t *testing.T, s *talkSite) {
		s.talk(10, 3, 12, func(ctx context.Context) {
			pause(ctx, s.d.between(300*time.Millisecond, 900*time.Millisecond))
			s.breakNode(ctx, s.d)
		})
	})
}

// TestFaultsChat lets fifty visitors and five teammates chat while streams are cut and nodes are killed repeatedly.
func TestFaultsChat(t *testing.T) {
	long(t)
	onBothEngines(t, func(t *testing.T, s *talkSite) {
		s.talk(50, chatMates, 20*min(*rounds, 10), func(ctx context.Context) {
			for range *rounds {
				pause(ctx, s.d.between(500*time.Millisecond, 2*time.Second))
				s.breakNode(ctx, s.d)
			}
		})
	})
}
