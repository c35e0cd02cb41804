package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/whatsapp/graphtest"
)

// moreFlows are flows besides those of repliesSetUp.
const moreFlows = `    flows:
      - name: late
        trigger: {keywords: [late]}
        steps: [{say: First}, {wait: 7s}, {say: Second}, {ask: x}, {say: "{{x}}"}]
      - name: three
        trigger: {keywords: [three]}
        steps: [{say: one}, {say: two}, {say: three}]
      - name: long
        trigger: {keywords: [long]}
        steps:
          - {say: "Which?"}
          - {ask: which, choices: ["The tour of the old harbour in the morning", "The tour of the old harbour in the evening", "None"]}
          - {say: "{{which}}"}
`

var orderSetUp = strings.Replace(repliesSetUp, "    flows:\n", moreFlows, 1)

// posts are the first words of what was posted for the person, accepted or not.
func (p *person) posts(accepted bool) (n int) {
	for ref, posts := range p.graph.All() {
		for _, x := range posts {
			if strings.HasPrefix(ref, "reply.") && x.To == p.number && x.Accepted == accepted {
				n++
			}
		}
	}
	return n
}

// last is the newest reply that was posted for the person.
func (p *person) last() (last graphtest.Post) {
	for ref, posts := range p.graph.All() {
		for _, x := range posts {
			if strings.HasPrefix(ref, "reply.") && x.To == p.number && x.At.After(last.At) {
				last = x
			}
		}
	}
	return last
}

// together is one callback with the changes of several.
func together(t *testing.T, bodies ...[]byte) []byte {
	t.Helper()
	var entries []any
	for _, b := range bodies {
		var e struct{ Entry []any }
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e.Entry...)
	}
	b, err := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": entries})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *person) deliver(body []byte) {
	p.t.Helper()
	if status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", body); status != http.StatusOK || err != nil {
		p.t.Error(status, err)
	}
}

// of says the words of a post.
func says(p graphtest.Post, words string) bool {
	return strings.Contains(string(p.Body), `"body":"`+words+`"`)
}

func TestRepliesComeInOrderWhateverTheChannelDoes(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startPerson(t, engine, orderSetUp)
			p.refused = true
			p.office("GET", "/conversations", "", http.StatusOK)
			limited, lost, early, reversed, long := p.another("34600800001"), p.another("34600800002"), p.another("34600800003"), p.another("34600800004"), p.another("34600800005")
			p.graph.FailBy(func(x graphtest.Post) *graphtest.Failure {
				switch {
				case x.To == limited.number && says(x, "one") && limited.posts(false) == 1:
					f := graphtest.Code(http.StatusTooManyRequests, 130429)
					return &f
				case x.To == limited.number && says(x, "one") && limited.posts(false) == 2:
					f := graphtest.Code(http.StatusServiceUnavailable, 131016)
					return &f
				case x.To == lost.number && says(x, "one"):
					return &graphtest.Failure{Kind: graphtest.CloseAfter, Accepted: true}
				case x.To == early.number && says(x, "What?") && early.posts(true) == 0:
					// Before its response come its statuses, and with them two messages in the wrong order.
					now := time.Now()
					early.deliver(together(t, p.graph.StatusBody(graphtest.StatusOf(x, "read", now), graphtest.StatusOf(x, "delivered", now), graphtest.StatusOf(x, "sent", now)),
						p.graph.InboundBody("Ana "+early.number, graphtest.Text(early.number, "wamid.e3", "echo", now.Add(time.Second)), graphtest.Text(early.number, "wamid.e2", "hello", now))))
				}
				return nil
			})
			for _, x := range []*person{limited, lost} {
				x.text("three")
			}
			early.text("echo")
			long.text("long")
			now := time.Now()
			reversed.writes(graphtest.Text(reversed.number, "wamid.r2", "second", now), graphtest.Text(reversed.number, "wamid.r1", "echo", now.Add(-2*time.Second)))
			moved, end := talk{t: t, a: p.a}.follow("/panel/v1/inbox/events", p.token, "")
			reversed.expect("What?", "second")
			// Of two that come before the flow has gone on, the newer one is the answer.
			replies, shown := []string{"What?", "hello", "What?"}, map[string]string{">": "> echo > hello > echo", "<": "< What? < hello < What?"}
			if got := early.first(2); got[1] == "echo" {
				replies, shown["<"] = []string{"What?", "echo"}, "< What? < echo"
			}
			early.expect(replies...)
			for side, want := range shown {
				if got := strings.Join(slices.DeleteFunc(early.inbox(), func(line string) bool { return !strings.HasPrefix(line, side) }), " "); got != want {
					t.Errorf("the inbox shows %s, not %s", got, want)
				}
			}
			// A report that says less than is known is not shown.
			early.deliver(p.graph.StatusBody(graphtest.StatusOf(early.last(), "read", time.Now())))
			early.deliver(p.graph.StatusBody(graphtest.StatusOf(early.last(), "delivered", time.Now()), graphtest.StatusOf(early.last(), "sent", time.Now()), graphtest.StatusOf(early.last(), "read", time.Now())))
			limited.expect("one", "two", "three")
			end()
			order, stands := []string{"", "queued", "sending", "sent", "delivered", "read"}, map[string]string{}
			for e := range moved {
				if e.kind != "delivery" {
					continue
				}
				of, state := fmt.Sprint(e.data["conversation_id"], e.data["seq"]), fmt.Sprint(e.data["state"])
				if before := stands[of]; state != "sending" && slices.Index(order, state) <= slices.Index(order, before) {
					t.Errorf("a reply goes from %s to %s on screens", before, state)
				}
				stands[of] = state
			}
			if len(stands) < 4 {
				t.Errorf("screens show %v", stands)
			}
			if n := limited.posts(false); n != 2 {
				t.Errorf("%d attempts failed", n)
			}
			for late := time.Now().Add(10 * time.Second); time.Now().Before(late) && lost.posts(true) == 0; time.Sleep(20 * time.Millisecond) {
			}
			time.Sleep(300 * time.Millisecond)
			if n := lost.posts(true); n != 1 {
				t.Errorf("%d replies were posted while the outcome of the first was unknown", n)
			}
			lost.deliver(p.graph.StatusBody(graphtest.StatusOf(lost.last(), "delivered", time.Now())))
			lost.expect("one", "two", "three")
			// A choice that the channel shows shortened comes back as it was meant.
			long.expect("Which? (The tour of the old har…) (The tour of the old har…) (None)")
			long.write("wamid.l2", parse(t, `{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.2","title":"The tour of the old har…"}},"context":{"id":"`+long.last().ID+`"}}`))
			long.shows("> long", "* flow_began long", "< Which? [The tour of the old harbour in the morning The tour of the old harbour in the evening None]",
				"> The tour of the old harbour in the evening {Which?}", "< The tour of the old harbour in the evening")
		})
	}
}

func TestARunEndsWhereItsWordsComeTooLate(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startPerson(t, engine, orderSetUp)
			p.refused = true
			p.office("GET", "/conversations", "", http.StatusOK)
			ours, refused, later, again := p.another("34600810001"), p.another("34600810002"), p.another("34600810003"), p.another("34600810004")
			p.graph.FailBy(func(x graphtest.Post) *graphtest.Failure {
				if x.To == refused.number && says(x, "First") {
					f := graphtest.Code(http.StatusBadRequest, 131047)
					return &f
				}
				return nil
			})
			ours.writes(graphtest.Text(ours.number, "wamid.o1", "late", time.Now().Add(6*time.Second-24*time.Hour)))
			refused.text("late")
			later.text("echo")
			again.text("echo")
			ended := []string{"* handoff_requested", "* missed"}
			refused.shows(append([]string{"> late", "* flow_began late", "< First ! window_closed"}, ended...)...)
			later.expect("What?")
			again.expect("What?")
			old := again.last()
			for _, code := range []int{131047, 131047} {
				late := graphtest.StatusOf(later.last(), "failed", time.Now())
				late.Code = code
				later.deliver(p.graph.StatusBody(late))
			}
			later.shows(append([]string{"> echo", "* flow_began echo", "< What? ! window_closed"}, ended...)...)
			// A report on what was said before the person wrote again ends nothing.
			again.text("x")
			again.expect("What?", "x") // or the next is the answer
			again.text("echo")
			again.expect("What?", "x", "What?")
			late := graphtest.StatusOf(old, "failed", time.Now())
			late.Code = 131047
			again.deliver(p.graph.StatusBody(late))
			again.text("y")
			again.expect("What?", "x", "What?", "y")
			ours.shows(append([]string{"> late", "* flow_began late", "< First", "< Second ! window_closed"}, ended...)...)
			if n := ours.posts(true); n != 1 {
				t.Errorf("%d replies were posted", n)
			}
			for _, x := range []*person{ours, refused, later} {
				if run := x.run(); run["state"] != "failed" || !strings.Contains(fmt.Sprint(run["error"]), "window_closed") || !strings.HasPrefix(fmt.Sprint(run["error"]), "steps.") || run["open"] != false {
					t.Errorf("%s: the run is %v", x.number, run)
				}
			}
			// What is left is a template; what the person writes opens the window again.
			at := "/conversations/" + ours.conversation()
			if got := ours.office("POST", at+"/answers", `{"client_id":"1","text":"Hello"}`, http.StatusConflict); !strings.Contains(fmt.Sprint(got), "window") {
				t.Error(got)
			}
			offered := ours.office("GET", at+"/templates", "", http.StatusOK)
			if !strings.Contains(fmt.Sprint(offered), "plain") {
				t.Error(offered)
			}
			ours.office("POST", at+"/templates", `{"client_id":"2","name":"plain","language":"en","variables":{"body_text_0":"{{name}}"}}`, http.StatusOK)
			for end := time.Now().Add(20 * time.Second); ours.templates() == 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the template is not sent")
				}
			}
			ours.text("I am back")
			for end := time.Now().Add(20 * time.Second); !strings.Contains(strings.Join(ours.inbox(), "\n"), "> I am back"); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal(ours.inbox())
				}
			}
			ours.office("POST", at+"/answers", `{"client_id":"3","text":"Welcome"}`, http.StatusOK)
			ours.expect("First", "Welcome")
		})
	}
}

// run is the newest run in the person's conversation.
func (p *person) run() map[string]any {
	p.t.Helper()
	for _, x := range p.office("GET", "/flow-runs?limit=100", "", http.StatusOK)["data"].([]any) {
		if run := x.(map[string]any); run["number"] == p.number {
			return run
		}
	}
	return nil
}

// templates is how many templates were sent to the person.
func (p *person) templates() (n int) {
	for ref, posts := range p.graph.All() {
		if !strings.HasPrefix(ref, "reply.") && posts[0].To == p.number {
			n += len(posts)
		}
	}
	return n
}

// A callback that is not signed by the sender's application, or holds nothing that can be read, changes nothing.
func TestOnlyASignedCallbackChangesAnything(t *testing.T) {
	t.Parallel()
	p := startReplies(t, "sqlite")
	foreign, err := graphtest.New(graphtest.Options{PhoneNumberID: "1000001", AppSecret: "another-secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = foreign.Close() })
	body := p.graph.InboundBody("Eve", graphtest.Text(p.number, "wamid.eve", "echo", time.Now()))
	sign := func(b []byte) string { return p.graph.Sign(b) }
	large := append(bytes.TrimSuffix(body, []byte("}")), []byte(`,"x":"`+strings.Repeat("x", 5<<20)+`"}`)...)
	deep := []byte(strings.Repeat(`{"entry":[`, 20_000))
	for _, c := range []struct {
		name, path, signature string
		body                  []byte
		want                  int
	}{
		{"no signature", "main", "", body, 401},
		{"of another form", "main", "sha1=" + sign(body)[7:], body, 401},
		{"half a signature", "main", sign(body)[:40], body, 401},
		{"no digits", "main", "sha256=" + strings.Repeat("z", 64), body, 401},
		{"another application's", "main", foreign.Sign(body), body, 401},
		{"of another body", "main", sign(append([]byte(" "), body...)), body, 401},
		{"a body with a byte more", "main", sign(body), append(body, ' '), 401},
		{"a sender that does not exist", "nobody", sign(body), body, 404},
		{"a sender's id with a null byte", "main%00", sign(body), body, 404},
		{"another channel", "../sandbox/main", sign(body), body, 404},
		{"too large", "main", sign(large), large, 413},
		{"no JSON", "main", sign([]byte("hello")), []byte("hello"), 400},
		{"nothing", "main", sign(nil), nil, 400},
		{"too deep", "main", sign(deep), deep, 400},
		{"an array", "main", sign([]byte("[]")), []byte("[]"), 200}, // what is ours in it is nothing
		{"another object", "main", sign([]byte(`{"object":"page","entry":[]}`)), []byte(`{"object":"page","entry":[]}`), 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/callbacks/whatsapp/"+c.path, bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.signature != "" {
			r.Header.Set("X-Hub-Signature-256", c.signature)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			if c.want != http.StatusRequestEntityTooLarge { // it may close the connection before all is written
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: %d, not %d", c.name, resp.StatusCode, c.want)
		}
	}
	time.Sleep(300 * time.Millisecond)
	if got := p.office("GET", "/conversations?limit=100", "", http.StatusOK)["data"].([]any); len(got) > 0 || p.graph.Total() > 0 {
		t.Errorf("there are conversations %v, and %d posts", got, p.graph.Total())
	}
	p.text("echo")
	p.expect("What?")
}
