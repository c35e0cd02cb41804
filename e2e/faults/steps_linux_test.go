package faults

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/flow"
)

const stepsProvision = `companies:
  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e04
    name: Steps
    limits: {daily_recipients: 0, daily_bytes: 0, sends_per_minute: 0}
    users: [{email: ` + operator + `, password: ` + password + `, role: owner}]
    agents: [{id: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e14, name: Robin, language: en}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax,
        per_recipient_interval: 0,
         unknown_outcome: {transactional: fail, utility: fail, marketing: fail, after: 2s}, settings: {base_url: %q,
         phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, app_secret: provider-app-secret,
           verify_token: provider-verify-token,
         agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e14}}
      - {id: line, number: "15555550101", channel: voice, provider: sip, default: true, max_concurrent: 20, settings: {trunk: %q,
        agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e14}}
    templates:
      - {sender: main, name: plain, language: en, category: UTILITY, body: "Hello {{1}}.", examples: {body: [Ana]}}
    flows:
`

// kindOfStep is a kind of step in a flow, which starts with its name as a keyword. The flow asks whether to continue,
// does the step, says End and ends.
type kindOfStep struct {
	name, steps string
	// log is the run's log after the response to the question, as "path kind"; replies are the messages after the
	// question.
	log, replies string
	state        flow.State
	failed       string // error of a run that fails
	effect       bool
}

const endOfFlow = `{say: "End {{go}}{{mark}}{{status}}"}, {end: true}`

// kindsOfSteps are all kinds (see TestEveryKindOfStepIsKilled). %[1]s is the shop's address.
var kindsOfSteps = []kindOfStep{
	{name: "say", steps: `{say: "Said."}`, log: "steps.2 say, steps.3 say, steps.4 end", replies: "Said.|End yes"},
	{
		name: "ask", steps: `{say: "Second?"}, {ask: mark, choices: ["yes", "no"]}`,
		log: "steps.2 say, steps.3 ask, steps.3 response, steps.4 say, steps.5 end", replies: "Second?|End yesyes",
	},
	{
		name: "if", steps: `{if: "go == 'yes'", then: [{set: {mark: then}}], else: [{handoff: wrong}]}`,
		log: "steps.2 if, steps.2.then.0 set, steps.3 say, steps.4 end", replies: "End yesthen",
	},
	{name: "set", steps: `{set: {mark: "{{go}}{{mark}}-"}}`, log: "steps.2 set, steps.3 say, steps.4 end", replies: "End yesyes-"},
	{
		name: "goto", steps: `{goto: on}, {handoff: wrong}, {id: on, set: {mark: on}}`,
		log: "steps.2 goto, steps.4 set, steps.5 say, steps.6 end", replies: "End yeson",
	},
	{name: "wait", steps: `{wait: 1s}`, log: "steps.2 wait, steps.3 say, steps.4 end", replies: "End yes"},
	{
		name: "http", steps: `{http: {method: POST, url: "%[1]s/{{number}}", status: status}}`,
		log: "steps.2 http, steps.2 outcome, steps.3 say, steps.4 end", replies: "End yes200", effect: true,
	},
	{
		name: "http read", steps: `{http: {url: "%[1]s/{{number}}", save: {mark: state}}}`,
		log: "steps.2 http, steps.2 outcome, steps.3 say, steps.4 end", replies: "End yessent", effect: true,
	},
	{
		name: "send_template", steps: `{send_template: {name: plain, language: en, variables: {body_text_0: "{{go}}"}}}`,
		log: "steps.2 send_template, steps.2 outcome, steps.3 say, steps.4 end", replies: "End yes", effect: true,
	},
	{
		name: "place_call", steps: `{place_call: {agent: 7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e14}}`,
		log: "steps.2 place_call, steps.2 outcome, steps.3 say, steps.4 end", replies: "End yes", effect: true,
	},
	{name: "handoff", steps: `{handoff: help}`, log: "steps.2 handoff", state: flow.HandedOff},
	{name: "end", steps: `{end: true}`, log: "steps.2 end"},
	{
		name: "loop", steps: `{id: again, goto: again}`, log: strings.Repeat("steps.2 goto, ", 50) + "steps.2 failed", state: flow.Failed,
		failed: "steps.2: More than 50 steps without a response: the flow goes round in a circle",
	},
}

// death is one kill at one kind of step.
type death struct {
	kind kindOfStep
	name string
	at   moment // no table: while the shop or the channel has the request
	// unknown: the outcome of an effect cannot be known. undone: the effect may also not have happened.
	unknown, undone bool
	outside         bool // an effect has happened by then

	number, killed string
}

// deaths returns all kills at a kind of step, each of which uses a new person.
func (k kindOfStep) deaths() (all []*death) {
	begun := false
	add := func(name, table, row string, after bool) *death {
		d := &death{kind: k, name: name, at: moment{table, row, after}, outside: begun}
		all = append(all, d)
		return d
	}
	entry := func(name, path, kind string) {
		row := fmt.Sprintf("NEW.path = '%s' AND NEW.kind = '%s'", path, kind)
		add("before the commit of "+name, "flow_entry", row, false)
		add("after the commit of "+name, "flow_entry", row, true)
	}
	kind, _, _ := strings.Cut(k.name, " ")
	switch kind {
	case "loop":
		kind = "failed"
	case "ask":
		entry("the question", "steps.3", "ask")
		entry("the response", "steps.3", "response")
		return all
	}
	entry("the step", "steps.2", kind)
	switch kind {
	case "say":
		all = append(all, &death{kind: k, name: "while the channel has the reply", unknown: true})
	case "wait":
		entry("what comes behind it", "steps.3", "say")
	}
	if !k.effect {
		return all
	}
	add("before the commit that it is begun", "flow_run", "NEW.begun", false)
	begun = true
	d := add("after the commit that it is begun", "flow_run", "NEW.begun", true)
	d.unknown, d.undone = k.name == "http", true
	if strings.HasPrefix(k.name, "http") {
		all = append(all, &death{kind: k, name: "while the shop has the request", unknown: k.name == "http", outside: true})
	} else {
		add("before the commit of the notification", "notification", "NEW.campaign = 'flow'", false)
		add("after the commit of the notification", "notification", "NEW.campaign = 'flow'", true)
	}
	entry("the outcome", "steps.2", "outcome")
	all[len(all)-2].unknown = k.name == "http"
	return all
}

// stepSite is a site with flows of every kind of step, the channel, a shop and a telephone exchange.
type stepSite struct {
	t        *testing.T
	source   string
	db       *sql.DB
	fate     fate
	nodes    map[string]*node
	graph    *graphtest.Server
	exchange *exchange
	wave     int
	ahead    time.Duration // offset of the nodes' clocks, which people's messages use too

	mu       sync.Mutex
	asked    map[string]int      // requests to the shop, by number
	keys     map[string][]string // keys of those requests, by number
	held     string              // number whose request gets no response
	reached  chan struct{}       // signals that this request arrived
	answered map[string]bool     // answered questions of runs
	// unreported delivers reports that no node could accept because none was alive.
	unreported []func()
}

func newStepSite(t *testing.T, engine string, addresses ...string) *stepSite {
	t.Helper()
	s := &stepSite{
		t: t, nodes: map[string]*node{}, asked: map[string]int{}, keys: map[string][]string{}, answered: map[string]bool{},
		reached: make(chan struct{}, 1),
	}
	shop := httptest.NewServer(http.HandlerFunc(s.shop))
	t.Cleanup(shop.Close)
	t.Cleanup(shop.CloseClientConnections)
	var err error
	if s.graph, err = graphtest.New(graphtest.Options{PhoneNumberID: "1000001", Templates: []carillon.Template{{
		Name: "plain", Language: "en", Category: "UTILITY", Components: []carillon.Component{{
			Type: "BODY", Text: "Hello {{1}}.", Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana"}}},
		}},
	}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.graph.Close() })
	s.graph.FailBy(func(p graphtest.Post) *graphtest.Failure {
		if strings.HasPrefix(p.Ref, "reply.") && strings.Contains(string(p.Body), "Said.") && s.holds(p.To) {
			return &graphtest.Failure{Kind: graphtest.Hang, Accepted: true}
		}
		return nil
	})
	s.exchange = newExchange(t)
	text := fmt.Sprintf(stepsProvision, s.graph.URL(), s.exchange.address())
	for _, k := range kindsOfSteps {
		text += fmt.Sprintf("      - {name: %q, trigger: {keywords: [\"walk %[1]s\"]}, steps: [{say: \"Begin?\"}, {ask: go, "+
			"choices: [\"yes\", \"no\"]}, %[2]s, %[3]s]}\n",
			k.name, strings.ReplaceAll(k.steps, "%[1]s", shop.URL), endOfFlow)
	}
	text += fmt.Sprintf("      - {name: month, trigger: {keywords: [walk month]}, steps: [{wait: 31d}, {http: {method: POST, url: "+
		"\"%s/{{number}}\"}}, {end: true}]}\n", shop.URL)
	dir := t.TempDir()
	provision := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(provision, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--provision=" + provision, "--password-memory=8", "--password-passes=1", "--media-allow-private=127.0.0.0/8"}
	if engine == "postgres" {
		s.source = storetest.Postgres(t)
		flags = append(flags, "--master-key-file="+storetest.MasterKey(t))
	}
	for i, a := range addresses {
		folder, name := filepath.Join(dir, fmt.Sprint(i)), fmt.Sprint(i)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		n := newNode(t, folder, append(slices.Clone(flags), "--sip-addr="+a+":0")...)
		if engine == "postgres" {
			n.args = append(n.args, "--database-url="+s.source+"&application_name=node"+name)
		} else if n.exe, err = mortal(); err != nil {
			t.Fatal(err)
		}
		n.start()
		s.nodes[name] = n
	}
	if engine == "postgres" {
		f := newPostgresFate(t, s.source)
		s.fate, s.db = f, f.db
	} else {
		f := newSQLiteFate(t, filepath.Join(dir, "0", "carillon.db"))
		s.fate, s.db = f, f.db
	}
	return s
}

// holds reports whether the request of a number must get no response. It signals its arrival once.
func (s *stepSite) holds(number string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != number {
		return false
	}
	s.held = ""
	s.reached <- struct{}{}
	return true
}

func (s *stepSite) hold(number string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = number
}

func (s *stepSite) shop(w http.ResponseWriter, r *http.Request) {
	number := strings.TrimPrefix(r.URL.Path, "/")
	s.mu.Lock()
	s.asked[number]++
	s.keys[number] = append(s.keys[number], r.Header.Get("Idempotency-Key"))
	s.mu.Unlock()
	if s.holds(number) {
		<-r.Context().Done()
		return
	}
	_, _ = io.WriteString(w, `{"state": "sent"}`)
}

// write delivers a message until a node accepts it. While no node is alive, the message waits for respond.
func (s *stepSite) write(number, id, text string) {
	body := s.graph.InboundBody("Ana", graphtest.Text(number, "wamid."+id, text, time.Now().Add(s.ahead)))
	for s.t.Context().Err() == nil {
		alive := false
		for _, n := range s.nodes {
			if n.dead() {
				continue
			}
			alive = true
			if status, err := s.graph.Deliver(s.t.Context(), "http://"+n.addr+"/callbacks/whatsapp/main", body); err == nil &&
				status == http.StatusOK {
				return
			}
		}
		if !alive {
			s.unreported = append(s.unreported, func() { s.write(number, id, text) })
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// respond selects the first choice of each unanswered question that a phone has received.
func (s *stepSite) respond() {
	again := s.unreported
	s.unreported = nil
	for _, report := range again {
		report()
	}
	rows, err := s.db.QueryContext(s.t.Context(), `SELECT id, rev, number FROM (SELECT f.id, f.rev, f.conversation_id,
		(SELECT w.number FROM reply_window w WHERE w.conversation_id = f.conversation_id) AS number FROM flow_run f
			WHERE f.state = 'asking') AS x
		WHERE number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reply r WHERE r.conversation_id = x.conversation_id
			AND r.state IN ('queued', 'sending'))`)
	if err != nil {
		return
	}
	defer rows.Close()
	open := map[string]string{}
	for rows.Next() {
		var id, rev, number string
		if rows.Scan(&id, &rev, &number) == nil {
			open[id+"."+rev] = number
		}
	}
	_ = rows.Close()
	for question, number := range open {
		if !s.answered[question] {
			s.answered[question] = true
			s.write(number, question, "yes")
		}
	}
}

// awaiting answers questions until the condition holds.
func (s *stepSite) awaiting(within time.Duration, what string, cond func() bool) {
	s.t.Helper()
	if !await(s.t.Context(), within, func() bool {
		s.respond()
		return cond()
	}) {
		s.t.Fatal("not in time:", what)
	}
}

// kill advances a person's flow run to the step given by d, waits until the node has been killed there, and restarts
// the node. If there are two nodes, the other one finishes the run first.
func (s *stepSite) kill(d *death) {
	s.t.Helper()
	s.die(d)
	if len(s.nodes) > 1 {
		s.awaiting(90*time.Second, "the end of the run on the other node: "+d.kind.name+" "+d.name, s.over)
	}
	s.nodes[d.killed].start()
}

// die advances a person's run to the point of a death, and waits until the node dies there.
func (s *stepSite) die(d *death) {
	s.t.Helper()
	s.wave++
	d.number = fmt.Sprintf("346000%06d", s.wave)
	of := fmt.Sprintf(` AND EXISTS (SELECT 1 FROM flow_run r WHERE r.id = NEW.run_id AND r.variables LIKE '%%"number":"%s"%%')`, d.number)
	switch m := d.at; m.table {
	case "":
		s.hold(d.number)
		s.fate.noting(moment{"flow_run", fmt.Sprintf(`NEW.begun AND NEW.variables LIKE '%%"number":"%s"%%'`, d.number), false})
	case "flow_run":
		m.row += fmt.Sprintf(` AND NEW.variables LIKE '%%"number":"%s"%%'`, d.number)
		s.fate.at(m)
	case "notification":
		m.row += fmt.Sprintf(` AND NEW.body LIKE '%%%s%%'`, d.number)
		s.fate.at(m)
	default:
		m.row += of
		s.fate.at(m)
	}
	s.write(d.number, d.number, "walk "+d.kind.name)
	nudge := time.Now().Add(time.Second)
	s.awaiting(30*time.Second, "the moment: "+d.kind.name+" "+d.name, func() bool {
		if d.at.after && time.Now().After(nudge) { // there may be nothing else to commit
			nudge = time.Now().Add(time.Second)
			s.nudge()
		}
		if d.at.table != "" {
			d.killed = s.fate.strike(s.nodes)
			return d.killed != ""
		}
		select {
		case <-s.reached:
			d.killed = "0"
			if name := s.fate.noted(); name != "" {
				d.killed = name
			}
			s.nodes[d.killed].kill()
			return true
		default:
			return false
		}
	})
	<-s.nodes[d.killed].ended
	s.fate.off()
}

// nudge sends a message of a person who is in no flow.
func (s *stepSite) nudge() {
	s.wave++
	number := fmt.Sprintf("347000%06d", s.wave)
	body := s.graph.InboundBody("Eve", graphtest.Text(number, "wamid."+number, "hello", time.Now().Add(s.ahead)))
	for _, n := range s.nodes {
		// The node may die from it.
		_, _ = s.graph.Deliver(s.t.Context(), "http://"+n.addr+"/callbacks/whatsapp/main", body)
	}
}
