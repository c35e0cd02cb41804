package voice

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

// response is a sequence of the agent's words: a response to the person, or other words.
type response struct {
	id        int64
	seq       int64 // of its turn; 0 until it is stored
	ephemeral bool  // not stored, not part of the reply
	text      strings.Builder
	split     sentences
	spokenTo  int  // end of the text that was split into parts
	whole     bool // the text is complete
	parts     int  // parts not sent yet
	samples   int
	asked     time.Time // end of the words that it answers; zero if it answers none
	first     time.Time // time of its first words
	voice     chats.Voice
	spoke     bool // the timing of its sound was recorded
}

// place returns where the next spoken sentence begins in the response's text. Words outside the text, such as the keys
// of its choices, are at its end.
func (r *response) place(sentence string) int {
	text := r.text.String()
	at := strings.Index(text[r.spokenTo:], sentence)
	if at < 0 {
		return len(text)
	}
	at += r.spokenTo
	r.spokenTo = at + len(sentence)
	return at
}

// held is an interrupted response that may resume.
type held struct {
	response *response
	unheard  []*part
}

// newResponse begins a response; the previous one is spoken to its end.
func (l *talker) newResponse() *response {
	l.ids++
	r := &response{id: l.ids}
	l.response = r
	return r
}

// say adds text to a response and speaks the complete sentences.
func (l *talker) say(r *response, text string) {
	if r.first.IsZero() {
		r.first = time.Now()
		l.show(Event{Kind: Responding, ID: r.id})
	}
	r.text.WriteString(text)
	l.show(Event{Kind: Piece, ID: r.id, Text: text})
	for _, sentence := range r.split.add(text) {
		l.speak(r, sentence)
	}
}

// said ends a response's text.
func (l *talker) said(r *response, e Event) {
	r.whole = true
	if rest := r.split.end(); rest != "" {
		l.speak(r, rest)
	}
	if l.hasKeys() {
		for i, choice := range e.Choices[:min(len(e.Choices), choiceKeys)] {
			l.speak(r, fmt.Sprintf(l.x.words.Press, i+1, choice))
		}
	}
	if r.ephemeral && e.Choices == nil && l.mate == nil && l.conversation.State == chats.Automated {
		e.Choices = l.offered() // still available
	}
	e.Kind, e.ID, e.Text = Responded, r.id, strings.TrimSpace(r.text.String())
	l.show(e)
	l.recordSpoken(r)
}

// speak queues a sentence to be spoken.
func (l *talker) speak(r *response, sentence string) {
	if l.x.start.Line == nil {
		return
	}
	p := l.mouth.add(r, sentence)
	r.parts++
	if !l.maker.make(p) {
		l.made(piece{part: p, end: true})
	}
}

// made handles produced sound.
func (l *talker) made(p piece) {
	p.part.pcm = append(p.part.pcm, p.pcm...)
	if !p.end {
		return
	}
	p.part.made = true
	if p.err != nil && l.ctx.Err() == nil {
		l.x.all.o.Observer.Failed("speaker")
		l.x.all.o.Log.WarnContext(l.ctx, "speak", "company", l.x.start.CompanyID, "conversation", l.x.start.ConversationID, "error", p.err)
		l.show(Event{Kind: Failure, Code: "speech_unavailable", Text: "The voice is not available. Please read the answers."})
	}
}

// sound sends the samples that may be sent now.
func (l *talker) sound(now time.Time) {
	for {
		done := l.mouth.done()
		for _, p := range done {
			p.response.parts--
			l.recordSpoken(p.response)
		}
		pcm, p := l.mouth.next(now)
		if p == nil {
			return
		}
		r := p.response
		if r.samples == 0 {
			l.begun(r, now)
		}
		r.samples += len(pcm)
		l.writeLine(l.ducking(pcm))
		if b := l.x.start.Browser; b != nil {
			b.speaks(p.text, now, now.Add(l.mouth.left(now)))
		}
	}
}

// begun records the first sound of a response.
func (l *talker) begun(r *response, now time.Time) {
	l.show(Event{Kind: Sounding, ID: r.id})
	r.voice.FirstAudioMS = max(now.Sub(r.first).Milliseconds(), 1)
	l.x.all.o.Observer.Took("first_audio", now.Sub(r.first))
	if !r.ephemeral {
		l.owed, l.unanswered = time.Time{}, false
	}
}

// writeLine sends sound to the person.
func (l *talker) writeLine(pcm []int16) {
	if err := l.x.start.Line.Write(pcm); err != nil {
		l.over = true
	}
}

// ducking returns sound made quieter while the person speaks over it. If the line is far ahead, the page does that
// instead.
func (l *talker) ducking(pcm []int16) []int16 {
	if l.mouth.lead > closeLead || l.person == nil || l.person.current == nil || !ducks(l.person.current.spoken) {
		return pcm
	}
	quieter := make([]int16, len(pcm))
	for i, s := range pcm {
		quieter[i] = int16(float64(s) * ducked)
	}
	return quieter
}

// recordSpoken records the timing of a spoken response, once it is stored and completely sent.
func (l *talker) recordSpoken(r *response) {
	if r.spoke || !r.whole || r.parts > 0 || r.seq == 0 || r.samples == 0 || l.held != nil && l.held.response == r {
		return
	}
	r.spoke = true
	v := r.voice
	v.LengthMS = l.mouth.length(r.samples).Milliseconds()
	seq := r.seq
	l.store(func(ctx context.Context) error {
		return l.dialogue().Spoke(ctx, l.x.start.CompanyID, l.x.start.ConversationID, seq, v)
	})
}

// sayEphemeral speaks words that are not part of the conversation.
func (l *talker) sayEphemeral(text string) {
	before := l.response
	r := l.newResponse()
	r.ephemeral = true
	l.say(r, text)
	l.said(r, Event{})
	l.response = before
}

// ask repeats a question, which is already stored as a turn.
func (l *talker) ask(p *Pending) {
	before := l.response
	r := l.newResponse()
	r.ephemeral = true
	l.choices = p.Choices
	l.say(r, p.Question)
	l.said(r, Event{Choices: p.Choices})
	l.response = before
	l.idleSince = time.Now()
}

// sayNow speaks the agent's own words without storing them.
func (l *talker) sayNow(text string) {
	l.sayEphemeral(text)
	l.idleSince = time.Now()
}

// announce speaks the agent's own words as a turn. excuse means that they replace the awaited response.
func (l *talker) announce(text string, choices []string, excuse bool) {
	l.announceAs(Saying{Text: text, Choices: choices}, excuse)
}

func (l *talker) announceAs(in Saying, excuse bool) {
	r := l.newResponse()
	l.choices = in.Choices
	in.ClientID, in.Kind = l.newClientID(), chats.KindText
	if len(in.Choices) > 0 {
		in.Kind = chats.KindChoices
	}
	l.store(func(ctx context.Context) error {
		t, err := l.dialogue().Announce(ctx, l.x.start.CompanyID, l.x.start.ConversationID, in, excuse)
		if err == nil && t != nil {
			l.later(func(l *loop) {
				r.seq = t.Seq
				l.recordSpoken(r)
			})
		}
		return err
	})
	l.say(r, in.Text)
	l.said(r, Event{Choices: in.Choices})
}

// later makes the loop run a function, called from the storing goroutine. It does not wait if the session has ended.
func (l *loop) later(f func(l *loop)) {
	select {
	case l.x.calls <- f:
	case <-l.ctx.Done():
	}
}

// speakTurn speaks a turn of somebody else.
func (l *talker) speakTurn(v *chats.TurnView) {
	if l.mate != nil || v.Text == "" {
		return
	}
	l.stopTalking()
	r := l.newResponse()
	r.first = time.Now()
	for _, sentence := range append(r.split.add(v.Text), r.split.end()) {
		if sentence != "" {
			l.speak(r, sentence)
		}
	}
	r.whole = true
	l.owed = time.Time{}
	l.active()
}

// cut stops our words immediately. The unplayed ones are kept until the reason of the interruption is known.
func (l *talker) cut(now time.Time) {
	r := l.response
	unheard := l.mouth.stop(now)
	if b := l.x.start.Browser; b != nil {
		b.silenced(now)
	}
	if r == nil || len(unheard) == 0 {
		return
	}
	l.maker.clear()
	if err := l.x.start.Line.Clear(); err != nil {
		l.over = true
	}
	l.show(Event{Kind: Interrupted, ID: l.ids})
	for _, p := range unheard {
		if p.response != r && !p.response.ephemeral {
			r = p.response
		}
	}
	l.held = &held{r, unheard}
}

// resume continues the interrupted words.
func (l *talker) resume() {
	h := l.held
	l.held = nil
	l.ids++ // pages drop sound of interrupted responses
	h.response.id = l.ids
	l.show(Event{Kind: Sounding, ID: l.ids})
	back := l.mouth.samples(resumeBack)
	for _, p := range h.unheard {
		p.response.parts = 0
	}
	for _, p := range h.unheard {
		p.response.parts++
		if p.made {
			p.taken = max(0, p.taken-back)
			l.mouth.parts = append(l.mouth.parts, p)
			continue
		}
		p.pcm, p.taken = nil, 0
		l.mouth.parts = append(l.mouth.parts, p)
		if !l.maker.make(p) {
			p.made = true
		}
	}
}

// drop abandons the interrupted words, of which the person heard no more.
func (l *talker) drop() {
	h := l.held
	if h == nil {
		return
	}
	l.held = nil
	r := h.response
	r.parts, r.whole = 0, true
	if r.ephemeral {
		return
	}
	r.voice.Cut, r.voice.Heard = true, heardOf(r, h.unheard)
	l.show(Event{Kind: Corrected, ID: r.id, Text: r.voice.Heard, Original: strings.TrimSpace(r.text.String())})
	if r.samples == 0 {
		r.samples = 1
	}
	l.recordSpoken(r)
}

// stopTalking stops our words for good.
func (l *talker) stopTalking() {
	if l.x.start.Line == nil {
		return
	}
	l.cut(time.Now())
	l.drop()
	l.maker.clear()
	l.mouth.stop(time.Now())
}

// toolResult is the result of the page's tool.
type toolResult struct {
	text   string
	failed bool
}

// answer is an awaited response of the agent.
type answer struct {
	cancel   context.CancelFunc
	response *response
	sources  []chats.Source
	choices  []string
	handoff  bool
	dropped  bool
	stored   *chats.TurnView // the response, if stored before it was completely spoken
	moved    func()          // applies the state of the conversation after the response
}

// take handles an action of the agent.
func (l *replier) take(a *answer, x agent.Action) {
	if a.dropped {
		return
	}
	if x.Say != "" {
		if a.response == nil {
			a.response = l.newResponse()
			a.response.asked = l.owed
			if !l.owed.IsZero() {
				a.response.voice.ThinkMS = max(time.Since(l.owed).Milliseconds(), 1)
				l.x.all.o.Observer.Took("think", time.Since(l.owed))
			}
		}
		l.say(a.response, x.Say)
		if l.x.start.Line == nil {
			l.owed = time.Time{}
		}
	}
	for _, s := range x.Sources {
		a.sources = append(a.sources, chats.Source{Title: s.Title, URL: s.URL})
	}
	a.choices = append(a.choices, x.Choices...)
	a.handoff = a.handoff || x.Handoff != ""
	for _, v := range x.Set {
		l.show(Event{Kind: Noted, Name: v.Name, Text: v.Text, Code: v.Type})
	}
	if x.End {
		l.finish("agent")
	}
}
