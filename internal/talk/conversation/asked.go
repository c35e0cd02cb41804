package conversation

import (
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

// bearing is the relation of a contact's message to the question that they are asked.
type bearing int

// The bearings.
const (
	attempts  bearing = iota // it answers, or is an attempt to
	meanwhile                // it was said before the question: it answers where it fits, and is no attempt
	past                     // it is for something earlier
	repeated                 // the last answer once more
)

// flowAsks names the question of a flow, which the run knows.
const flowAsks = "-flow"

// bearingOf is the bearing of the last of a conversation's turns, which the contact said. The turns are in order.
func bearingOf(c *chats.Conversation, turns []chats.Turn) bearing {
	if c.AskedSeq == 0 || len(turns) == 0 {
		return attempts
	}
	m := &turns[len(turns)-1]
	if m.Kind == chats.KindChoice && m.Extra.Of > 0 && m.Extra.Of < c.AskedSeq { // a button of an earlier question
		return past
	}
	if before := saidBefore(turns); before == nil || before.Seq < c.AskedSeq {
		switch {
		case before != nil && repeats(m, before):
			return repeated
		case m.Extra.Early:
			return past
		}
	}
	if c.Asks != "" && (m.Seq <= c.AskedSeq || m.Seq < c.CompanySeq) {
		return meanwhile
	}
	return attempts
}

// saidBefore returns the contact's turn before the last of turns, or nil. An early key answered nothing.
func saidBefore(turns []chats.Turn) *chats.Turn {
	for i := len(turns) - 2; i >= 0; i-- {
		t := &turns[i]
		if t.Author == chats.Visitor && t.Kind != chats.KindEvent && !(t.Extra.Early && t.Extra.Digits != "") {
			return t
		}
	}
	return nil
}

// repeats reports whether a turn says what the one before said, as fast as a person who says it twice.
func repeats(t, before *chats.Turn) bool {
	if begun(t).Sub(before.At) > voice.Doubled {
		return false
	}
	if t.Extra.Digits != "" && before.Extra.Digits != "" {
		return t.Extra.Digits == before.Extra.Digits
	}
	if words := flow.Plain(t.Text); words != "" {
		return words == flow.Plain(before.Text)
	}
	return t.Text != "" && t.Text == before.Text
}

// begun is the instant at which the contact began to say a turn. What is said aloud is stored once it was understood.
func begun(t *chats.Turn) time.Time {
	if v := t.Extra.Voice; v != nil {
		return t.At.Add(-time.Duration(v.LengthMS+v.TranscribeMS) * time.Millisecond)
	}
	return t.At
}

// asks records what the last of the turns asks that are about to be appended to a conversation: a result of the agent, a teammate
// (agent.OffersPerson), or flowAsks; "": nothing. A question that is asked again stays as old as it is, but in a flow, whose questions are
// each asked once. That the last question was answered is remembered until the next words of the company.
func asks(c *chats.Conversation, turns []chats.Turn, what string) {
	switch {
	case what == "" && c.Asks == "":
		c.AskedSeq = 0
		return
	case what == "":
		c.AskedSeq = c.LastSeq + 1
	case what == c.Asks && what != flowAsks:
		return
	default:
		c.AskedSeq = c.LastSeq
	}
	c.Asks = what
	for i := range turns {
		if t := &turns[i]; t.Author == chats.Agent && t.Kind != chats.KindEvent {
			c.AskedSeq = c.LastSeq + int64(i) + 1
		}
	}
}

// asksForAgent has the last words of a flow that is over ask what the agent asks in them, with its choices, and returns what that is.
func asksForAgent(a *agent.Agent, language string, turns []chats.Turn) string {
	if a == nil || len(turns) == 0 {
		return ""
	}
	last := &turns[len(turns)-1]
	name := a.Asking(last.Text)
	if q := a.Question(name); q != nil && len(last.Extra.Choices) == 0 {
		if last.Extra.Choices = q.Offers(language); len(last.Extra.Choices) > 0 {
			last.Kind = chats.KindChoices
		}
	}
	return name
}
