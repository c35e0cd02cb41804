package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

// Remarked is an event of conversations held in a page: the page describes an action of the contact. The agent
// receives it as input.
const Remarked = "remarked"

// Aloud handles spoken conversations. It implements voice.Dialogue: the voice loop requests the agent's response and
// streams it, whereas chats leave that to the reply workers.
type Aloud struct{ c *Conversations }

// NewAloud returns the voice.Dialogue of c.
func NewAloud(c *Conversations) Aloud { return Aloud{c} }

// Begin implements voice.Dialogue.
func (a Aloud) Begin(ctx context.Context, companyID, id string) (*voice.Talk, error) {
	t, err := a.talk(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	t.Pending, err = a.Pending(ctx, companyID, id)
	return t, err
}

func (a Aloud) talk(ctx context.Context, companyID, id string) (*voice.Talk, error) {
	c, err := a.c.store.Chats.Find(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	contact, err := a.c.store.Contacts.ContactOf(ctx, companyID, c.ContactID)
	if err != nil {
		return nil, err
	}
	t := &voice.Talk{Conversation: c, ContactName: known(c, contact).Name}
	if c.AgentID == "" {
		return t, nil
	}
	t.Agent, t.CompanyName, err = a.c.o.Agents.TalkingAgent(ctx, companyID, c.AgentID)
	if carillon.IsCode(err, carillon.NotFound) { // deleted; a response is refused and the conversation handed over
		err = nil
	}
	return t, err
}

// State implements voice.Dialogue.
func (a Aloud) State(ctx context.Context, companyID, id string) (c *chats.Conversation, position int, err error) {
	c, err = a.c.store.Chats.Find(ctx, companyID, id)
	if err != nil || c.State != chats.Queued {
		return c, 0, err
	}
	if err := a.c.Alive(ctx, c); err != nil {
		return nil, 0, err
	}
	position, err = a.c.store.Chats.QueuePosition(ctx, c)
	return c, position, err
}

// Say implements voice.Dialogue.
func (a Aloud) Say(ctx context.Context, companyID, id string, in voice.Saying) (*chats.Turn, error) {
	if in.Kind == chats.KindEvent {
		now := a.c.now()
		t := event(Remarked, in.Text, now)
		t.ClientID = in.ClientID
		turn, _, err := a.c.append(ctx, companyID, id, in.ClientID, func(c *chats.Conversation) ([]chats.Turn, error) {
			return []chats.Turn{t}, full(c)
		})
		return turn, err
	}
	turn, _, err := a.c.say(ctx, companyID, id, Said{
		ClientID: in.ClientID, Kind: in.Kind, Text: in.Text, Voice: in.Voice, Digits: in.Digits, Early: in.Early, Quiet: in.Quiet,
	})
	return turn, err
}

// Respond implements voice.Dialogue.
func (a Aloud) Respond(
	ctx context.Context, companyID, id string, use voice.ToolUser, emit func(agent.Action) error,
) (turn *chats.Turn, err error) {
	r := a.c.replies
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	for {
		var rerun bool
		turn, rerun, err = r.replyTo(ctx, job{companyID, id}, use, emit)
		var silent *silentError
		if errors.As(err, &silent) && ctx.Err() == nil && carillon.IsCode(err, carillon.NotFound) { // there is no agent
			return nil, r.handOver(context.WithoutCancel(ctx), silent.conversation)
		}
		if err != nil || !rerun || turn != nil {
			return turn, err
		}
	}
}

// Think implements voice.Dialogue. It fails silently: Respond reports what is wrong.
func (a Aloud) Think(ctx context.Context, companyID, id, text string, use voice.ToolUser) {
	thinker, able := a.c.o.Thinker.(agent.Ahead)
	if !able {
		return
	}
	c, err := a.c.store.Chats.Find(ctx, companyID, id)
	if err != nil || c.State != chats.Automated || c.ReplySeq != 0 {
		return
	}
	if a.c.o.Flows != nil {
		if x, err := a.c.o.Runs.Current(ctx, companyID, id); x != nil || err != nil {
			return
		}
	}
	turns, err := a.c.store.Chats.TurnsBefore(ctx, companyID, id, math.MaxInt64, maxSaid-1)
	if err != nil {
		return
	}
	said := chats.Turn{Author: chats.Visitor, Kind: chats.KindText, Text: text, At: a.c.now()}
	request, err := a.c.replies.requestFor(ctx, c, append(turns, said))
	if err != nil {
		return
	}
	request.UseTool, request.Aloud, request.Toolbox = use, true, a.c.o.Toolbox
	thinker.Begin(ctx, request)
}

// Announce implements voice.Dialogue.
func (a Aloud) Announce(ctx context.Context, companyID, id string, in voice.Saying, excuse bool) (*chats.Turn, error) {
	now := a.c.now()
	clientID := ownID(chats.Agent, in.ClientID)
	name, err := a.agentName(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	turn, _, err := a.c.append(ctx, companyID, id, clientID, func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		if excuse {
			c.ReplySeq, c.ReplyAt = 0, time.Time{}
		}
		turns := []chats.Turn{{
			Author: chats.Agent, Kind: in.Kind, Text: in.Text, ClientID: clientID, At: now,
			Extra: chats.Extra{Name: name, Choices: in.Choices, Voice: in.Voice},
		}}
		if in.Asks != "" {
			asks(c, turns, in.Asks)
		}
		return turns, nil
	})
	return turn, err
}

func (a Aloud) agentName(ctx context.Context, companyID, id string) (string, error) {
	t, err := a.talk(ctx, companyID, id)
	if err != nil || t.Agent == nil {
		return "", err
	}
	return t.Agent.Name, nil
}

// Answer implements voice.Dialogue.
func (a Aloud) Answer(ctx context.Context, t voice.Teammate, in voice.Saying) (*chats.Turn, error) {
	return a.c.Desk.Caption(ctx, By{t.CompanyID, t.AccountID, t.Name}, t.ConversationID,
		Said{ClientID: in.ClientID, Kind: in.Kind, Text: in.Text, Voice: in.Voice})
}

// spoke is the payload of the event "spoke", which is not stored.
type spoke struct {
	Seq   int64       `json:"seq"`
	Voice chats.Voice `json:"voice"`
}

// Spoke implements voice.Dialogue.
func (a Aloud) Spoke(ctx context.Context, companyID, id string, seq int64, v chats.Voice) error {
	c := &chats.Change{CompanyID: companyID, ConversationID: id, Spoken: &chats.Spoken{Seq: seq, Voice: v}}
	if err := a.c.store.Chats.Do(ctx, c); err != nil {
		return err
	}
	text, _ := json.Marshal(spoke{seq, v}) // numbers and text cannot fail
	a.c.o.Publisher.Publish(&events.Event{
		CompanyID: companyID, Topic: chats.Topic(id), Kind: "spoke", Subject: id, Payload: text, At: a.c.now(),
	})
	return nil
}

// Leave implements voice.Dialogue.
func (a Aloud) Leave(ctx context.Context, companyID, id string) error {
	_, err := a.c.Leave(ctx, companyID, id)
	return err
}

// maxHold is the longest wait of a flow during which a caller is asked to hold the line.
const maxHold = time.Minute

// Pending implements voice.Dialogue.
func (a Aloud) Pending(ctx context.Context, companyID, id string) (*voice.Pending, error) {
	s := a.c.Runner
	var x *chats.Run
	if s.o.Flows != nil {
		var err error
		if x, err = s.o.Runs.Current(ctx, companyID, id); err != nil {
			return nil, err
		}
	}
	if x == nil {
		return a.asked(ctx, companyID, id)
	}
	switch flow.State(x.State) {
	case flow.Asking:
		p, err := s.program(ctx, companyID, x.FlowID, x.Version)
		if err != nil {
			return nil, err
		}
		step := p.Asked(stateOf(x))
		return &voice.Pending{
			Question: x.Question, Choices: step.Choices, Number: step.Accept == "number" || step.Accept == "phone", Accept: step.Accept,
		}, nil
	case flow.Calling:
		return &voice.Pending{Busy: true}, nil
	case flow.Waiting:
		return &voice.Pending{Busy: x.Due.Sub(s.now()) <= maxHold}, nil
	default:
		return nil, nil
	}
}

// asked returns the agent's own question that waits for an answer, or nil.
func (a Aloud) asked(ctx context.Context, companyID, id string) (*voice.Pending, error) {
	t, err := a.talk(ctx, companyID, id)
	if carillon.IsCode(err, carillon.NotFound) { // deleted
		return nil, nil
	}
	if err != nil || t.Agent == nil || t.Conversation.State != chats.Automated {
		return nil, err
	}
	if call := agent.ReadMemory(t.Conversation.Memory).Call; call.Open(t.Conversation.Asks) {
		return &voice.Pending{
			Question: call.Question, Choices: call.Choices, Number: call.Number || call.Digits > 0, Digits: call.Digits,
			Accept: call.Accept,
		}, nil
	}
	q := t.Agent.Question(t.Conversation.Asks)
	if q == nil {
		return nil, nil
	}
	return &voice.Pending{
		Question: q.Question, Choices: q.Offers(t.Conversation.Language), Number: q.Type == "number",
		Accept: agent.AnswerKind(q.Name, q.Type),
	}, nil
}
