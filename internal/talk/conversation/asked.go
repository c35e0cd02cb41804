package conversation

import (
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

// bearing is the relation of a contact's message to the open question.
type bearing int

// Bearings.
const (
	attempts  bearing = iota // answers the question, or tries to
	meanwhile                // said before the question: counts as an answer if it fits, but not as a failed attempt
	past                     // belongs to something earlier
	repeated                 // repeats the previous answer
)

// flowAsks marks a question of a flow; the run holds the question itself.
const flowAsks = "-flow"

// bearingOf returns the bearing of the last turn, which is the contact's. The turns are in order.
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

// saidBefore returns the contact's turn before the last one, or nil. It skips early key presses, which answered
// nothing.
func saidBefore(turns []chats.Turn) *chats.Turn {
	for i := len(turns) - 2; i >= 0; i-- {
		t := &turns[i]
		if t.Author == chats.Visitor && t.Kind != chats.KindEvent && !(t.Extra.Early && t.Extra.Digits != "") {
			return t
		}
	}
	return nil
}

// repeats reports whether a turn has the same content as the previous one and follows it so fast that it is a
// repetition.
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

// continues reports whether a turn continues the previous one, which was mistaken for complete.
func continues(t, before *chats.Turn) bool {
	return t.Extra.Voice != nil && t.Extra.Voice.Continues && before.Author == chats.Visitor && before.Kind != chats.KindEvent
}

// joined returns the text of the last turn, with that of the turns that it continues.
func joined(turns []chats.Turn) string {
	i := len(turns) - 1
	text := turns[i].Text
	for ; i > 0 && continues(&turns[i], &turns[i-1]); i-- {
		text = turns[i-1].Text + " " + text
	}
	return text
}

// begun returns the time at which the contact began to say a turn. Speech is stored only after transcription.
func begun(t *chats.Turn) time.Time {
	if v := t.Extra.Voice; v != nil {
		return t.At.Add(-time.Duration(v.LengthMS+v.TranscribeMS) * time.Millisecond)
	}
	return t.At
}

// asks updates the open question of a conversation to that of the turns about to be appended: the name of a result of
// the agent, agent.OffersPerson, flowAsks, or empty for none. A repeated question keeps its age, except in a flow,
// where each question is asked once. After the last question is answered, AskedSeq keeps that fact until the company
// speaks next.
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

// asksForAgent finds the agent's question in the final turn of a completed flow, adds the question's choices to that
// turn, and returns the question's name, or "" if there is none.
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
