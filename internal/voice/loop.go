package voice

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"carillon"
	"carillon/internal/event/realtime"
	"carillon/internal/store/chats"
)

// Times of the loop.
const (
	fillerAfter    = 1500 * time.Millisecond // silence on our side while it is our turn
	stillEvery     = 2500 * time.Millisecond
	apologyAfter   = 8 * time.Second
	idleFirst      = 6 * time.Second
	idleNext       = 12 * time.Second
	brokenOff      = time.Minute      // since the last words
	typedIdle      = 10 * time.Minute // for a person who types
	waitingEvery   = 25 * time.Second // interval between announcements to a person in the queue
	stateEvery     = 5 * time.Second  // interval of looking up the position in the queue
	goodbyeTimeout = 15 * time.Second
	storeTimeout   = 10 * time.Second // for one turn
	lastTimeout    = 30 * time.Second // for all pending writes at the end of a session
	never          = time.Hour
	// closeLead is the maximum lead of a line without buffering, which delivers sound every 20 ms in any case.
	closeLead  = 100 * time.Millisecond
	ducked     = 0.3                     // factor for the volume
	minResume  = 1500 * time.Millisecond // minimum unplayed sound that a backchannel does not stop
	resumeBack = 200 * time.Millisecond  // length of interrupted words that is repeated on resuming
)

// loop runs one voice session on one goroutine. Slow work runs on others and returns through Session.call. The parts
// of the loop share it, each with its own state.
type loop struct {
	x            *Session
	ctx          context.Context //nolint:containedctx // loop is one call of Run
	cancel       context.CancelFunc
	conversation *chats.Conversation
	position     int

	frames  chan []int16    // from the line; closed when the person has left
	writes  chan func()     // pending writes, in order
	storing context.Context //nolint:containedctx // context of the writes, which outlives ctx
	giveUp  func()          // ends it
	own     map[string]bool // client IDs of turns stored by this session
	stateAt time.Time       // last time that the conversation was looked up

	ending string // reason for ending the session after the last words; empty means it continues
	endBy  time.Time
	over   bool

	*talker
	*hearer
	*replier
	*relay
	*patience
}

// talker speaks the agent's words.
type talker struct {
	*loop
	ids      int64
	mouth    *mouth
	maker    *maker
	response *response // being produced or played; nil for none
	held     *held     // interrupted words, until the reason of the interruption is known
}

// hearer handles the person's speech and keys.
type hearer struct {
	*loop
	person   *listener // nil: the person is not transcribed
	choices  []string  // available to the person
	before   []string  // earlier words of the person in this turn
	confirm  string    // words that the person must confirm
	repeats  int       // number of times that the person was asked to repeat their words
	informed bool      // the person was informed that speech is not understood
	entry    *entry    // keys that select no choice; nil for none
	unasked  entry     // digits pressed before the first sound of a question
	key      pressed
	// unrecorded means that the person has refused the recording.
	unrecorded bool
	// unanswered means that we have said nothing since the person's last words.
	unanswered bool
	asked      expected  // by the open question, looked up when the person begins to speak
	habits     pauses    // of the person
	spoke      time.Time // time of the person's last words; zero if they were typed
}

// replier requests responses of the agent.
type replier struct {
	*loop
	answer *answer // the awaited response of the agent; nil for none
	tools  map[string]chan toolResult
}

// relay connects a teammate with the person.
type relay struct {
	*loop
	mate *mate
}

// patience fills the silence for a waiting person, and speaks to a silent person.
type patience struct {
	*loop
	owed      time.Time // time since which the person waits for our words; zero if it is not our turn
	filled    time.Time // last time that the person was asked to wait
	idleSince time.Time
	idles     int
	waits     int       // number of times that the person was asked to wait for the flow
	queuedAt  time.Time // last announcement to the person in the queue
}

func newLoop(ctx context.Context, x *Session) *loop {
	ctx, cancel := context.WithCancel(ctx)
	l := &loop{
		x: x, ctx: ctx, cancel: cancel, conversation: x.talk.Conversation, frames: make(chan []int16, 64), writes: make(chan func(), 256),
		own: map[string]bool{},
	}
	l.talker, l.hearer, l.replier, l.relay, l.patience = &talker{loop: l}, &hearer{loop: l},
		&replier{loop: l, tools: map[string]chan toolResult{}}, &relay{loop: l}, &patience{loop: l}
	l.storing, l.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	rate, lead := 16000, 300*time.Millisecond
	if line := x.start.Line; line != nil {
		rate, lead = line.Rate(), line.Lead()
		var services Transcriber
		if b := x.start.Browser; b != nil {
			services = b
		}
		l.person = l.listener(rate, services)
		l.person.onBegan, l.person.onGoes, l.person.onOver, l.person.onText = l.began, l.goes, l.endedUtterance, l.understood
		l.person.onEarly = func(u *utterance, text string) {
			l.show(Event{Kind: Tentative, Text: text})
			l.think(u, text)
		}
		l.person.onPause = func(_ *utterance, d time.Duration) { l.habits.add(d) }
		l.person.onScore = func(score float32) { l.show(Event{Kind: Score, Value: score}) }
	}
	l.mouth = newMouth(rate, lead)
	l.maker = newMaker(ctx, x)
	return l
}

func (l *loop) dialogue() Dialogue { return l.x.all.o.Dialogue }

func (l *loop) show(e Event) { l.x.start.Show(e) }

func (l *loop) newClientID() string {
	id := carillon.NewID(time.Now())
	l.own[id] = true
	return id
}

// store queues a write after the pending ones.
func (l *loop) store(write func(ctx context.Context) error) {
	select {
	case l.writes <- func() {
		ctx, cancel := context.WithTimeout(l.storing, storeTimeout)
		defer cancel()
		if err := Guard(func() error { return write(ctx) }); err != nil {
			l.x.all.o.Log.WarnContext(ctx, "store what was said", "company", l.x.start.CompanyID, "conversation",
				l.x.start.ConversationID, "error", err)
		}
	}:
	default: // the database has not stored anything for a long time
		l.finish("overloaded")
	}
}

func (l *loop) close() {
	l.cancel()
	if l.person != nil {
		l.person.close()
	}
	if l.mate != nil {
		l.mate.ears.close()
	}
}

// run runs the loop.
func (l *loop) run(topic *realtime.Subscription) error {
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		for write := range l.writes {
			write()
		}
	}()
	defer func() { // the turns are stored even if the person has left
		l.cancel() // pending writes must not call back, since nobody handles the calls
		l.keepAll()
		close(l.writes)
		late := time.AfterFunc(lastTimeout, l.giveUp)
		<-stored
		late.Stop()
		l.giveUp()
	}()
	go l.follow(topic)
	if l.x.start.Line != nil {
		go l.read()
	}
	l.greet()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var digits <-chan rune
	if l.x.start.Line != nil {
		digits = l.x.start.Line.Digits()
	}
	frames := l.frames
	if l.x.start.Line == nil {
		frames = nil
	}
	for {
		wait := l.advance(time.Now())
		if l.over {
			l.called() // the person may have hung up; their typed words are kept
			return nil
		}
		timer.Reset(wait)
		pieces := l.maker.pieces
		if l.mouth.waiting() >= maxAhead {
			pieces = nil
		}
		select {
		case <-l.ctx.Done():
			return l.ctx.Err()
		case pcm, open := <-frames:
			if !open {
				l.called()
				if l.ending == "" {
					return nil // the person left; when they return, the conversation continues
				}
				frames = nil // hung up before
				continue
			}
			l.hear(pcm)
		case p := <-pieces:
			l.made(p)
		case f := <-l.x.calls:
			f(l)
		case d := <-digits:
			l.digit(d)
		case <-timer.C:
		}
	}
}

// called runs the functions queued by Session.call.
func (l *loop) called() {
	for {
		select {
		case f := <-l.x.calls:
			f(l)
		default:
			return
		}
	}
}

// read passes on the sound and the keys from the line.
func (l *loop) read() {
	defer close(l.frames)
	for {
		pcm, err := l.x.start.Line.Read(l.ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) && l.ctx.Err() == nil {
				l.x.all.o.Log.DebugContext(l.ctx, "read from a line", "conversation", l.x.start.ConversationID, "error", err)
			}
			return
		}
		select {
		case l.frames <- pcm:
		case <-l.ctx.Done():
			return
		}
	}
}

// follow passes on the turns that others add to the conversation.
func (l *loop) follow(topic *realtime.Subscription) {
	for {
		select {
		case <-l.ctx.Done():
			return
		case _, open := <-topic.Ready():
			if !open {
				l.x.call(func(l *loop) { l.finish("lagging") })
				return
			}
		}
		found, _, err := topic.Next(l.ctx)
		if err != nil {
			if l.ctx.Err() != nil {
				return
			}
			l.x.all.o.Log.WarnContext(l.ctx, "follow a conversation", "conversation", l.x.start.ConversationID, "error", err)
			continue
		}
		for i := range found {
			var v chats.TurnView
			if found[i].Kind == "turn" && json.Unmarshal(found[i].Payload, &v) == nil {
				l.x.call(func(l *loop) { l.turned(&v) })
			}
		}
	}
}

// turned handles a turn that was stored here or elsewhere.
func (l *loop) turned(v *chats.TurnView) {
	switch {
	case l.own[v.ClientID] && v.ClientID != "", v.Note:
		return
	case v.Kind == chats.KindEvent:
		l.lookUp()
		return
	case strings.HasPrefix(v.ClientID, "reply:") && l.answer != nil:
		l.answer.stored = v // by this session, or by another worker: in that case no response arrives here
		return
	}
	l.takeTurn(v)
}

// takeTurn shows and speaks a turn that was stored elsewhere: a teammate's, or words of a flow.
func (l *loop) takeTurn(v *chats.TurnView) {
	if v.Author == chats.Agent && l.mate == nil {
		r := l.newResponse()
		l.say(r, v.Text)
		l.complete(r, Event{Seq: v.Seq, Sources: v.Sources, Choices: v.Choices})
		return
	}
	l.show(Event{Kind: Said, Author: v.Author, Name: v.Name, Text: v.Text, Seq: v.Seq})
	if v.Author == chats.Teammate && v.Voice == nil {
		l.choices = v.Choices
		l.speakTurn(v)
	}
}

// lookUp looks up the state of the conversation.
func (l *loop) lookUp() {
	l.stateAt = time.Now()
	go func() {
		c, position, err := l.dialogue().State(l.ctx, l.x.start.CompanyID, l.x.start.ConversationID)
		if err != nil {
			if l.ctx.Err() == nil {
				l.x.all.o.Log.WarnContext(l.ctx, "look up a conversation", "conversation", l.x.start.ConversationID, "error", err)
			}
			return
		}
		l.x.call(func(l *loop) { l.moved(c, position) })
	}()
}

// moved handles a new state of the conversation.
func (l *loop) moved(c *chats.Conversation, position int) {
	before := l.conversation.State
	if l.mate != nil && c.Assignee != "" && c.Assignee != l.mate.AccountID { // another teammate has taken it
		l.dropMate()
	}
	if c.State == before && position == l.position {
		l.conversation = c
		// Said while the conversation was being returned to the agent.
		if c.State == chats.Automated && c.ReplySeq > 0 && l.answer == nil {
			l.respond()
		}
		return
	}
	// the response comes before the change of state that it caused
	if a := l.answer; a != nil && a.stored != nil && c.State != chats.Active && c.State != before {
		a.moved = func() { l.moved(c, position) }
		return
	}
	l.conversation, l.position = c, position
	e := Event{Kind: Moved, State: c.State, Position: position}
	l.show(e)
	if l.mate != nil {
		l.mate.Show(e)
	}
	if c.State == before {
		return
	}
	l.unanswered = false
	w := &l.x.words
	switch c.State {
	case chats.Queued:
		l.queuedAt = time.Now()
		l.dropMate()
		l.dropAnswer()
		l.sayNow(w.Queued)
	case chats.Missed:
		l.dropAnswer()
		l.sayNow(l.missed())
	case chats.Active:
		l.dropAnswer()
		l.stopTalking()
	case chats.Automated:
		l.dropMate()
		if c.ReplySeq > 0 {
			l.respond()
		} else if before != chats.Resolved {
			l.sayNow(w.Returned)
		}
	case chats.Resolved, chats.WrapUp, chats.Abandoned:
		l.dropAnswer()
		l.finish(string(c.State))
	default:
	}
}

// finish ends the session after its last words.
func (l *loop) finish(why string) {
	if l.ending == "" {
		l.ending, l.endBy = why, time.Now().Add(goodbyeTimeout)
	}
}

// advance does all due work and returns the time until more is due.
func (l *loop) advance(now time.Time) time.Duration {
	if line := l.x.start.Line; line != nil {
		l.mouth.lead = line.Lead()
	}
	l.sound(now)
	due := due{now, never}
	if l.mouth.busy(now) {
		wait := l.mouth.wait(now)
		if l.mouth.lead <= closeLead {
			wait += l.mouth.length(l.mouth.piece()) // before that, the line's next sound wakes the loop
		}
		due.in(max(wait, time.Millisecond))
		if len(l.mouth.parts) > 0 && l.mouth.parts[0].taken == len(l.mouth.parts[0].pcm) {
			due.after = max(due.after, 20*time.Millisecond) // its sound is being produced, and wakes the loop
		}
		if len(l.mouth.parts) == 0 {
			due.after = max(l.mouth.left(now), time.Millisecond)
		}
	}
	if l.ending != "" {
		if !l.mouth.busy(now) && l.answer == nil || now.After(l.endBy) {
			l.show(Event{Kind: Ended, Code: l.ending})
			l.over = true
		}
		due.at(l.endBy)
		return due.after
	}
	due.in(l.person.marked(now, l.silence(l.person)))
	l.entering(now, &due)
	l.wait(now, &due)
	l.idle(now, &due)
	if l.conversation.State == chats.Queued {
		if now.Sub(l.stateAt) >= stateEvery {
			l.lookUp()
		}
		if now.Sub(l.queuedAt) >= waitingEvery && l.mate == nil {
			l.queuedAt = now
			l.sayNow(l.x.words.Waiting)
		}
		due.at(l.stateAt.Add(stateEvery))
	}
	return due.after
}

// greet speaks the first words, unless the person returns to a conversation that was interrupted a moment ago.
func (l *loop) greet() {
	l.show(Event{Kind: Moved, State: l.conversation.State})
	l.idleSince = time.Now()
	if text := l.x.start.Resume; text != "" {
		l.announce(text, nil, false)
		return
	}
	c := l.conversation
	if p := l.x.talk.Pending; p != nil && p.Question != "" && c.State == chats.Automated && c.ReplySeq == 0 {
		// Otherwise the question was played a moment ago.
		if l.choices = p.Choices; l.x.start.Anew && l.x.start.Asks == "" {
			l.announce(l.x.start.Opening, nil, false)
			l.ask(p)
			return
		} else if !l.x.start.Anew && (c.VisitorSeq == 0 || time.Since(c.LastAt) >= brokenOff) {
			l.ask(p)
			return
		}
	}
	// Earlier words mean that this is not the beginning of the conversation.
	said := c.VisitorSeq > 0 || c.CompanySeq > 0
	if !l.x.start.Anew && c.LastSeq > 0 && (c.State != chats.Automated || c.ReplySeq > 0 || said && time.Since(c.LastAt) < brokenOff) {
		switch {
		case c.State != chats.Automated || c.ReplySeq == 0:
			l.lookUp()
		case l.x.start.Opening == "":
			l.lookUp()
			l.respond()
		default: // a flow begins with the call: its first words follow the fixed words of every call
			l.announce(l.x.start.Opening, nil, false)
			l.store(func(context.Context) error {
				l.later(func(l *loop) { l.respond() })
				return nil
			})
		}
		return
	}
	if l.x.start.NoGreeting {
		return
	}
	text, asks, a := l.x.start.Greeting, l.x.start.Asks, l.x.talk.Agent
	if text == "" && a != nil {
		text = a.Greeting
	}
	if asks == "" && a != nil {
		asks = a.Asking(text)
	}
	if text = fillGreeting(text, l.x); text == "" {
		text = l.x.words.Greets
	}
	in := Saying{Text: strings.TrimSpace(l.x.start.Opening + " " + text)}
	if a != nil {
		if q := a.Question(asks); q != nil {
			in.Asks, in.Choices = q.Name, q.Offers(l.x.language())
		}
	}
	l.announceAs(in, false)
}

// fillGreeting fills values into a greeting.
func fillGreeting(text string, x *Session) string {
	values := map[string]string{"name": x.talk.ContactName, "first_name": x.talk.ContactName}
	for name, value := range x.start.Variables {
		if value != "" {
			values[name] = value
		}
	}
	return Fill(text, values)
}

// maxSpoken is the maximum length of a spoken value, such as a person's name, in characters.
const maxSpoken = 200

// Fill fills values into placeholders such as {{name}}; a placeholder without a value is removed. Long values are
// truncated: they would exceed the speaker's limit, and nothing would be spoken.
func Fill(text string, values map[string]string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(text)
			return strings.TrimSpace(b.String())
		}
		value := beginning(values[strings.TrimSpace(name)], maxSpoken)
		if value == "" {
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		b.WriteString(value)
		text = after
	}
}

// beginning returns the first `most` characters of a text.
func beginning(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
