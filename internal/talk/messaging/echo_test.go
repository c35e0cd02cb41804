package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// echo delivers a message that the team wrote to the person in the channel's own app, with the members of a JSON object.
// It comes twice.
func (p *person) echo(id, members string) {
	p.t.Helper()
	m := map[string]any{"from": "15555550100", "id": id, "timestamp": fmt.Sprint(p.now().Unix())}
	if p.number != "" {
		m["to"] = p.number
	}
	if p.user != "" {
		m["to_user_id"] = p.user
	}
	if err := json.Unmarshal([]byte(members), &m); err != nil {
		p.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": []any{map[string]any{
		"id": "2000001", "changes": []any{map[string]any{"field": "smb_message_echoes", "value": map[string]any{
			"messaging_product": "whatsapp", "message_echoes": []any{m},
			"metadata": map[string]string{"display_phone_number": "15555550100", "phone_number_id": phoneID},
		}}},
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	for range 2 {
		p.take(p.sender, body)
	}
}

const ready = `{"type":"text","text":{"body":"It is ready"}}`

// appTurn checks the last turn: the team wrote it in the channel's own app, it is not sent, and nobody has to read it.
func (p *person) appTurn(kind string) *chats.Turn {
	p.t.Helper()
	turns := p.turns()
	last := &turns[len(turns)-1]
	if last.Author != chats.Teammate || last.Kind != kind || !last.Extra.PhoneApp || last.AccountID != "" {
		p.t.Errorf("the turn is %+v", last)
	}
	c := p.conversation()
	if c.State != chats.Active || c.Assignee != "" || c.Unread() || c.ReplySeq != 0 || !c.WaitingAt.IsZero() {
		p.t.Errorf("the conversation is %+v", c)
	}
	if replies, err := p.db.Replies.Replies(p.t.Context(), p.company.ID, c.ID, last.Seq, last.Seq); err != nil || len(replies) != 0 {
		p.t.Error("it is to be sent:", replies, err)
	}
	return last
}

// A message from the channel's own app opens a conversation, by number or id, but no window, and is no news for
// anybody.
func TestAnEchoOpensAConversationWithoutAWindow(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		if err := r.db.Topics.Follow(t.Context(), r.company.ID, events.Conversations); err != nil {
			t.Fatal(err)
		}
		r.run()
		for i, p := range []*person{r.person("34600130001"), r.nameless("US.13000000001")} {
			p.echo(fmt.Sprintf("wamid.echo.%d", i), ready)
			p.shows(" It is ready")
			p.appTurn(chats.KindText)
			w, err := r.db.Replies.Window(t.Context(), r.company.ID, p.conversation().ID)
			if err != nil || w == nil || !w.Until.IsZero() || w.Number != p.number || w.UserID != p.user || w.SenderUID != r.sender.UID {
				t.Error("the window:", w, err)
			}
		}
		all, err := r.db.Topics.EventsAfter(t.Context(), r.company.ID, events.Conversations, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Kind != "conversation.started" {
				t.Errorf("the event %s: %s", e.Kind, e.Payload)
			}
		}
		if n := r.counts.of("shown"); n != 0 {
			t.Errorf("%d count as messages of people", n)
		}
	})
}

// The agent stops, as after a teammate's answer. When the person writes again, a teammate is waited for, until the team
// answers in the app or a teammate takes the conversation.
func TestAnEchoStopsTheAgentAndEndsAWait(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		r.run()
		p := r.person("34600130003")
		p.text("hi")
		p.until("the agent answers", func() bool { return len(p.gets()) == 1 })
		p.echo("wamid.echo.1", ready)
		p.until("the echo is shown", func() bool { return p.conversation().State == chats.Active })
		p.appTurn(chats.KindText)
		p.text("thanks")
		p.until("a teammate is waited for", func() bool { return p.conversation().State == chats.Missed })
		if c := p.conversation(); c.WaitingAt.IsZero() || !c.Unread() {
			t.Errorf("%+v", c)
		}
		p.echo("wamid.echo.2", `{"type":"text","text":{"body":"You're welcome"},"context":{"id":"wamid.34600130003.2"}}`)
		p.until("the wait ends", func() bool { return p.conversation().State == chats.Active })
		if last := p.appTurn(chats.KindText); last.Extra.About != "thanks" || last.Extra.Of == 0 {
			t.Errorf("it answers %+v", last.Extra)
		}
		p.comeToRest()
		if got := p.gets(); len(got) != 1 {
			t.Errorf("the person gets %q", got)
		}
		p.write("wamid.quote", `{"type":"text","text":{"body":"Really?"},"context":{"id":"wamid.echo.1"}}`)
		p.until("the quote is shown", func() bool {
			turns := p.turns()
			return turns[len(turns)-1].Extra.About == "It is ready"
		})
	})
}

// An answer that the agent is making when the team writes in the app is not sent.
func TestAnEchoOvertakesTheAgent(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		thinking, say := make(chan struct{}), make(chan struct{})
		r.thinker = thinker(func(ctx context.Context, x *agent.Request, emit func(agent.Action) error) error {
			close(thinking)
			select {
			case <-say:
			case <-ctx.Done():
			}
			return emit(agent.Action{Say: "too late"})
		})
		r.build()
		r.run()
		p := r.person("34600130004")
		p.text("hi")
		<-thinking
		p.echo("wamid.echo.1", ready)
		p.until("the echo is shown", func() bool { return p.conversation().State == chats.Active })
		close(say)
		p.comeToRest()
		p.shows("> hi", " It is ready")
		if got := p.gets(); len(got) != 0 {
			t.Errorf("the person gets %q", got)
		}
	})
}

func TestAnEchoStopsAFlow(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600130005")
		p.text("echo")
		p.got("What?")
		p.echo("wamid.echo.1", ready)
		p.until("the run is stopped", func() bool { return p.newestRun().State == string(flow.Stopped) })
		p.text("Blue")
		p.until("a teammate is waited for", func() bool { return p.conversation().State == chats.Missed })
		p.got("What?")
	})
}

// A teammate who has the conversation keeps it.
func TestAnEchoLeavesTheTeammateTheirConversation(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600130006")
		p.text("hi")
		p.until("it is taken in", func() bool { return p.conversation() != nil && p.conversation().State == chats.Missed })
		by := conversation.By{CompanyID: r.company.ID, AccountID: "eva", Name: "Eva"}
		if _, err := r.talks.Desk.Take(t.Context(), by, p.conversation().ID, ""); err != nil {
			t.Fatal(err)
		}
		p.echo("wamid.echo.1", ready)
		p.until("the echo is shown", func() bool { return p.conversation().LastText == "It is ready" })
		if c := p.conversation(); c.Assignee != "eva" || c.State != chats.Active {
			t.Errorf("%+v", c)
		}
	})
}

// All kinds are shown, and the person is never asked for anything.
func TestEchoesOfAllKindsAreShown(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for id, f := range graphtest.SampleFiles() {
			r.channel.put(id, file{mime: f.Type, data: f.Data})
		}
		r.run()
		p := r.person("34600130007")
		for i, x := range []string{
			ready,
			`{"type":"image","image":{"id":"png","mime_type":"image/png","caption":"Look"}}`,
			`{"type":"location","location":{"latitude":40.5,"longitude":-3.5}}`,
			`{"type":"document","document":{"id":"no-such-file","mime_type":"application/pdf","filename":"gone.pdf"}}`,
			`{"type":"unsupported","errors":[{"code":131051}],"unsupported":{"type":"poll"}}`,
			`{"type":"reaction","reaction":{"message_id":"wamid.e.0","emoji":"👍"}}`,
			`{"type":"edit","edit":{"original_message_id":"wamid.e.0","message":{"type":"text","text":{"body":"It is done"}}}}`,
			`{"type":"revoke","revoke":{"original_message_id":"wamid.e.0"}}`,
		} {
			r.pass(time.Second)
			p.echo(fmt.Sprintf("wamid.e.%d", i), x)
		}
		p.shows(" It is ready", " Look (image.png image/png)", " 📍 40.5, -3.5", "* file_missing gone.pdf gone", "* not_shown poll",
			"* reacted 👍 {It is ready}", "* edited It is done {It is ready}", "* deleted {It is ready}")
		if got := p.gets(); len(got) != 0 {
			t.Errorf("the person is asked for %q", got)
		}
		if turns := p.turns(); slices.ContainsFunc(turns, func(t chats.Turn) bool { return !t.Extra.PhoneApp }) {
			t.Errorf("%+v", turns)
		}
	})
}

// thinker is an agent's engine in a function.
type thinker func(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error

// Reply implements agent.Thinker.
func (f thinker) Reply(ctx context.Context, r *agent.Request, emit func(agent.Action) error) error {
	return f(ctx, r, emit)
}
