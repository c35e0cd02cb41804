package voice

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// respond requests the agent's response to the person's last words.
func (l *replier) respond() {
	l.dropAnswer()
	if l.owed.IsZero() {
		l.owed, l.filled = time.Now(), time.Time{}
	}
	ctx, cancel := context.WithCancel(l.ctx)
	a := &answer{cancel: cancel}
	l.answer = a
	var use ToolUser
	if l.x.start.ClientTools {
		use = l.x.use
	}
	go func() {
		defer cancel()
		var t *chats.Turn
		err := Guard(func() (err error) {
			t, err = l.dialogue().Respond(ctx, l.x.start.CompanyID, l.x.start.ConversationID, use, func(x agent.Action) error {
				l.x.call(func(l *loop) { l.take(a, x) })
				return ctx.Err()
			})
			return err
		})
		l.x.call(func(l *loop) { l.responded(a, t, err) })
	}()
}

// dropAnswer abandons the awaited response, because the person said more or somebody else answers.
func (l *replier) dropAnswer() {
	a := l.answer
	if a == nil {
		return
	}
	l.answer = nil
	a.dropped = true
	a.cancel()
	if a.response != nil {
		l.stopTalking()
	}
	if a.moved != nil {
		a.moved()
	}
}

// responded handles the agent's complete, stored response.
func (l *replier) responded(a *answer, t *chats.Turn, err error) {
	if a.dropped {
		return
	}
	l.answer = nil
	if a.moved != nil {
		defer a.moved()
	}
	r := a.response
	switch {
	case err != nil:
		l.x.all.o.Observer.Failed("engine")
		l.x.all.o.Log.WarnContext(l.ctx, "have an agent respond", "company", l.x.start.CompanyID, "conversation",
			l.x.start.ConversationID, "error", err)
		if r != nil {
			l.said(r, Event{})
		}
		l.excuse(l.x.words.Busy)
		return
	case r == nil && t == nil && a.stored != nil:
		l.takeTurn(a.stored)
		return
	case r == nil && a.handoff:
		l.owed = time.Time{} // the change of state is announced instead
		return
	case r == nil && t == nil:
		l.owed, l.unanswered = time.Time{}, false
		l.askOn()
		return
	case r == nil: // only choices, or an answer from another node
		r = l.newResponse()
		l.say(r, t.Text)
	}
	e := Event{Sources: a.sources, Choices: a.choices}
	if t != nil {
		e.Seq = t.Seq
		l.own[t.ClientID] = true
	}
	l.complete(r, e)
}

// complete handles a stored response and gives the person the turn.
func (l *replier) complete(r *response, e Event) {
	r.seq, l.choices = e.Seq, e.Choices
	l.said(r, e)
	if l.x.start.Line == nil || r.parts == 0 {
		l.owed, l.unanswered = time.Time{}, false
	}
	l.active()
}

// askOn returns to the open question if the person's words get no response. It repeats the question unless that is
// being spoken.
func (l *replier) askOn() {
	before := l.before
	l.lookUpPending(func(l *loop, p *Pending) {
		switch {
		case l.ending != "" || l.answer != nil || l.choices != nil || l.conversation.State != chats.Automated:
		case p == nil || p.Question == "":
			l.choices = before
		case slices.ContainsFunc(l.mouth.saying(time.Now()), func(p *part) bool { return !p.response.ephemeral }):
			l.choices = p.Choices
		default:
			l.ask(p)
		}
	})
}

// apologize stops waiting for the agent or a transcriber.
func (l *replier) apologize() {
	if l.answer == nil {
		l.owed = time.Time{}
		l.notUnderstood(context.DeadlineExceeded)
		return
	}
	l.dropAnswer()
	l.x.all.o.Observer.Failed("engine")
	l.excuse(l.x.words.Apology)
}

// excuse speaks a text instead of a failed response, and offers a teammate.
func (l *replier) excuse(text string) {
	l.owed = time.Time{}
	l.announce(text, []string{l.x.words.Person}, true)
}

const toolTimeout = 10 * time.Second

// use runs a tool of the page.
func (x *Session) use(ctx context.Context, name, parameters string) (string, error) {
	result := make(chan toolResult, 1)
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	x.call(func(l *loop) {
		l.ids++
		id := "tool_" + strconv.FormatInt(l.ids, 10)
		l.tools[id] = result
		context.AfterFunc(ctx, func() { x.call(func(l *loop) { delete(l.tools, id) }) })
		l.show(Event{Kind: ToolCall, ID: l.ids, Tool: &Tool{ID: id, Name: name, Parameters: parameters}})
	})
	select {
	case r := <-result:
		if r.failed {
			return "", errors.New(r.text)
		}
		return r.text, nil
	case <-ctx.Done():
		return "", errors.New("the page did not answer")
	case <-x.done:
		return "", errors.New("the person has left")
	}
}

// ToolResult passes the result of the page's tool.
func (x *Session) ToolResult(id, result string, failed bool) {
	x.call(func(l *loop) {
		if c := l.tools[id]; c != nil {
			delete(l.tools, id)
			c <- toolResult{result, failed}
		}
	})
}

// Type handles a turn that the person typed, or a choice that they tapped.
func (x *Session) Type(clientID, text string) {
	x.call(func(l *loop) {
		if text == "" || l.ending != "" {
			return
		}
		if l.mate == nil {
			l.stopTalking()
		}
		if l.confirm != "" {
			l.active()
			l.confirmed(text, nil)
			return
		}
		if clientID == "" {
			clientID = l.newClientID()
		}
		l.own[clientID] = true
		l.sayFor(Saying{ClientID: clientID, Kind: chats.KindText, Text: text})
	})
}

// Remark handles the page's description of an action of the person. The agent receives it with the next turn.
func (x *Session) Remark(text string) {
	x.call(func(l *loop) {
		l.active()
		in := Saying{ClientID: l.newClientID(), Kind: chats.KindEvent, Text: text}
		l.store(func(ctx context.Context) error {
			_, err := l.dialogue().Say(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in)
			return err
		})
	})
}

// Active records a sign of life of the person.
func (x *Session) Active() { x.call(func(l *loop) { l.active() }) }

// End ends the session and the conversation, because the person hung up.
func (x *Session) End() {
	x.call(func(l *loop) {
		l.dropAnswer()
		l.stopTalking()
		l.ending, l.endBy = "hung_up", time.Now()
		l.store(func(ctx context.Context) error {
			return l.dialogue().Leave(ctx, l.x.start.CompanyID, l.x.start.ConversationID)
		})
	})
}
