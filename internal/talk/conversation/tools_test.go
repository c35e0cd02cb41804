package conversation

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/agent/tools"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// orderServer is a server of the company whose orders can be canceled.
type orderServer struct {
	url     string
	arrived chan string   // idempotency key of each request
	release chan struct{} // a request waits for one, if set

	mu    sync.Mutex
	calls []string
}

func (o *orderServer) called() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

// withOrders gives the rig's agent the tool cancel_order at a server.
func (r *rig) withOrders(idempotent bool) *orderServer {
	r.t.Helper()
	o := &orderServer{arrived: make(chan string, 10)}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		o.mu.Lock()
		o.calls = append(o.calls, req.Method+" "+req.URL.Path)
		wait := o.release
		o.mu.Unlock()
		o.arrived <- req.Header.Get("Idempotency-Key")
		if wait != nil {
			<-wait
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"state":"canceled"}`)
	}))
	r.t.Cleanup(listening.Close)
	o.url = listening.URL
	x := &tools.Tool{
		Name: "cancel_order", Description: "Cancels an order", HTTP: &tools.HTTP{Method: "DELETE", URL: o.url + "/orders/{{order_id}}"},
		Parameters: []agent.Parameter{{Name: "order_id", Type: "text", Required: true, Pattern: `[A-Z]{2}-\d+`}},
		Phrases:    []string{"cancel order", "cancel my order"}, Confirm: agent.Texts{"en": "Shall I cancel {{order_id}}?"},
		Say: agent.Texts{"en": "The order is {{/state}}."}, Idempotent: idempotent, Timeout: 30,
	}
	if err := x.Validate(); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.db.Resources.PutResource(r.t.Context(), r.company, tools.Kind(), x); err != nil {
		r.t.Fatal(err)
	}
	client := tools.NewClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")})
	r.t.Cleanup(client.Close)
	r.toolbox = tools.New(tools.Options{Resources: r.db.Resources, Client: client, Log: slog.New(slog.DiscardHandler)})
	r.Conversations = r.node()
	r.agent.mu.Lock()
	r.agent.agent = &agent.Agent{Name: "Robin", Language: "en", Engine: "builtin", ServerTools: []string{x.ID}}
	r.agent.mu.Unlock()
	r.agent.set(agent.Builtin{}.Reply)
	return o
}

// asked adds a message of the contact and gives the reply.
func (r *rig) asked(id, text string) {
	r.t.Helper()
	r.say(id, text+r.find(id).LastAt.String(), text)
	if _, _, err := r.replies.replyTo(r.t.Context(), job{r.company, id}, nil, nil); err != nil {
		r.t.Fatal(err)
	}
}

// uses returns the recorded calls of a conversation, by outcome.
func (r *rig) uses(id string) (all []string) {
	r.t.Helper()
	turns, err := r.store.Chats.Turns(r.t.Context(), r.company, id, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range turns {
		if turns[i].Extra.Event != ToolCalled {
			continue
		}
		if !turns[i].Note {
			r.t.Error("the contact sees the record of a call")
		}
		for _, u := range turns[i].Extra.Tools {
			all = append(all, u.Tool+" "+u.Status+" "+u.Arguments)
		}
	}
	return all
}

func TestACallIsConfirmedMadeOnceAndRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		o := r.withOrders(false)
		r.run()
		id := r.open()
		r.say(id, "1", "please cancel my order")
		r.within("it asks for the number", func() bool { return strings.Contains(r.find(id).LastText, "order id") })
		r.pass(5_000_000_000)
		r.say(id, "2", "AB-1")
		r.within("it asks for a confirmation", func() bool { return r.find(id).LastText == "Shall I cancel AB-1?" })
		if c := r.find(id); !strings.Contains(c.Memory, "AB-1") || !strings.HasPrefix(c.Asks, "-tool/") {
			t.Errorf("the memory is %q, the question %q", c.Memory, c.Asks)
		}
		r.pass(5_000_000_000)
		r.say(id, "3", "Yes") // and a second tap on the button
		r.say(id, "4", "Yes")
		r.within("it is done", func() bool { return len(r.uses(id)) > 0 && r.find(id).ReplySeq == 0 })
		if n := strings.Count(strings.Join(r.turns(id), "\n"), "agent The order is canceled."); n != 1 {
			t.Errorf("%v", r.turns(id))
		}
		if got := o.called(); !slices.Equal(got, []string{"DELETE /orders/AB-1"}) {
			t.Errorf("%v", got)
		}
		if got := r.uses(id); !slices.Equal(got, []string{`cancel_order ok {"order_id":"AB-1"}`}) || r.find(id).Memory != "" {
			t.Errorf("%v, %q", got, r.find(id).Memory)
		}
	})
}

// A node that dies during the call leaves its claim. The next node makes the call again only if the server recognizes
// its key, and otherwise says that the outcome is unknown.
func TestANodeThatDiesDuringACall(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for _, idempotent := range []bool{false, true} {
			o := r.withOrders(idempotent)
			id := r.open()
			r.asked(id, "cancel order AB-1")
			o.release = make(chan struct{})
			r.say(id, "yes", "yes")
			done := make(chan struct{})
			go func() { // the node that dies: it hangs until the end
				defer close(done)
				_, _, _ = r.replies.replyTo(t.Context(), job{r.company, id}, nil, nil)
			}()
			key := <-o.arrived
			o.mu.Lock()
			dead := o.release
			o.release = nil
			o.mu.Unlock()
			if _, _, err := r.node().replies.replyTo(t.Context(), job{r.company, id}, nil, nil); err != nil {
				t.Fatal(err)
			}
			want, calls := "I'm not sure if that worked", 1
			if idempotent {
				want, calls = "The order is canceled.", 2
				if again := <-o.arrived; again != key || key == "" {
					t.Errorf("the keys are %q and %q", key, again)
				}
			}
			if got := r.find(id); !strings.HasPrefix(got.LastText, want) || got.Memory != "" || len(o.called()) != calls {
				t.Errorf("%t: %q, %q, %v", idempotent, got.LastText, got.Memory, o.called())
			}
			close(dead)
			<-done
			if got := r.uses(id); len(got) != 2 || !strings.HasPrefix(got[1],
				"cancel_order ok") { // also what the first node learned at last
				t.Errorf("%t: %v", idempotent, got)
			}
			if n := strings.Count(strings.Join(r.turns(id), "\n"), "agent "); n != 2 {
				t.Errorf("%t: %v", idempotent, r.turns(id))
			}
		}
	})
}

// A teammate who takes the conversation ends the agent's reply, but not the call, whose outcome is recorded.
func TestATeammateTakesTheConversationDuringACall(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		o := r.withOrders(false)
		r.run()
		id := r.open()
		r.say(id, "1", "cancel order AB-1")
		r.within("it asks for a confirmation", func() bool { return r.find(id).LastText == "Shall I cancel AB-1?" })
		o.mu.Lock()
		o.release = make(chan struct{})
		release := o.release
		o.mu.Unlock()
		r.pass(5_000_000_000)
		r.say(id, "2", "yes")
		<-o.arrived
		if _, err := r.Desk.Take(t.Context(), r.ana, id, ""); err != nil {
			t.Fatal(err)
		}
		if got := r.find(id).Memory; got != "" {
			t.Errorf("the memory is %q", got)
		}
		close(release)
		r.within("the call is recorded", func() bool { return len(r.uses(id)) == 1 })
		if got := r.uses(id); got[0] != `cancel_order ok {"order_id":"AB-1"}` || r.find(id).State != chats.Active {
			t.Errorf("%v", got)
		}
	})
}

// On the telephone the open question comes with its choices, so that keys answer it.
func TestAConfirmationIsAskedAloud(t *testing.T) {
	r := newRig(t, store.Options{})
	r.withOrders(false)
	id := r.open()
	r.asked(id, "cancel order AB-1")
	p, err := NewAloud(r.Conversations).Pending(t.Context(), r.company, id)
	want := &voice.Pending{Question: "Shall I cancel AB-1?", Choices: []string{"Yes", "No"}}
	got, _ := json.Marshal(p)
	if text, _ := json.Marshal(want); err != nil || string(got) != string(text) {
		t.Errorf("%s, %v", got, err)
	}
}
