package voice_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/share"
	"carillon/internal/event/realtime"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/voice"
)

// Each utterance in these tests is a constant sample value: the detector takes nonzero samples for speech, the
// transcriber maps values to texts, and the speaker speaks a tenth of a second per word.
const (
	rate    = 16000
	company = "c"
	talkID  = "t"
)

type line struct {
	in      chan []int16
	mu      sync.Mutex
	out     []int16
	cleared int
	at      []time.Time
	lead    time.Duration // 0: 300 ms
	keys    chan rune     // nil: no keys
}

func (l *line) Rate() int { return rate }
func (l *line) Read(ctx context.Context) ([]int16, error) {
	select {
	case pcm, open := <-l.in:
		if !open {
			return nil, io.EOF
		}
		return pcm, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *line) Write(pcm []int16) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out, pcm...)
	l.at = append(l.at, time.Now())
	return nil
}
func (l *line) Clear() error        { l.cleared++; return nil }
func (l *line) Lead() time.Duration { return cmp.Or(l.lead, 300*time.Millisecond) }
func (l *line) Digits() <-chan rune { return l.keys }

// written returns the length of the sound sent to the person.
func (l *line) written() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(len(l.out)) * time.Second / rate
}

type detector struct{}

func (detector) Chunk() int { return 512 }
func (detector) Reset()     {}
func (detector) Score(chunk []int16) float32 {
	if chunk[len(chunk)/2] != 0 {
		return 1
	}
	return 0
}

type speaker struct {
	stalls bool
	err    error
}

func (s *speaker) Speak(ctx context.Context, u voice.Utterance, emit func([]int16) error) error {
	switch {
	case s.stalls:
		<-ctx.Done()
		return ctx.Err()
	case s.err != nil:
		return s.err
	}
	for range strings.FieldsSeq(u.Text) {
		if err := emit(make([]int16, rate/10)); err != nil {
			return err
		}
	}
	return nil
}

type transcriber struct {
	texts  map[int16]string
	err    error
	stalls bool
	unsure bool // except for yes
	takes  time.Duration
	open   atomic.Int64                                                     // open recognizers
	early  func(ctx context.Context, text string) (voice.Transcript, error) // nil: no early transcripts
}

type recognizer struct {
	*transcriber
	value int16
}

func (t *transcriber) Listen(context.Context, voice.Hearing) (voice.Recognizer, error) {
	t.open.Add(1)
	if t.early != nil {
		return &earlyRecognizer{recognizer{transcriber: t}}, nil
	}
	return &recognizer{transcriber: t}, nil
}

func (r *recognizer) Write(pcm []int16) error {
	for _, s := range pcm {
		if s != 0 {
			r.value = s
		}
	}
	return nil
}

func (r *recognizer) Result(ctx context.Context) (voice.Transcript, error) {
	if r.stalls {
		<-ctx.Done()
		return voice.Transcript{}, ctx.Err()
	}
	time.Sleep(r.takes)
	return voice.Transcript{Text: r.texts[r.value], Confirm: r.unsure && r.value != 2}, r.err
}
func (r *recognizer) Close() { r.open.Add(-1) }

// dialogue keeps one conversation in memory.
type dialogue struct {
	mu      sync.Mutex
	c       chats.Conversation
	turns   []string
	spoken  map[int64]chats.Voice
	think   func(ctx context.Context, said string, use voice.ToolUser, emit func(agent.Action) error) error
	ahead   func(ctx context.Context, text string)
	left    bool
	last    string
	pending *voice.Pending
	early   []string // words said before the response to earlier ones was played, except for keys
	voices  []*chats.Voice
	stall   chan struct{} // no turns are stored until it is closed; nil means they are stored at once
}

func (d *dialogue) add(who, text string) *chats.Turn {
	d.c.LastSeq++
	d.turns = append(d.turns, who+": "+text)
	return &chats.Turn{Seq: d.c.LastSeq, Text: text, ClientID: fmt.Sprint(who, d.c.LastSeq)}
}

func (d *dialogue) Begin(context.Context, string, string) (*voice.Talk, error) {
	c := d.c
	return &voice.Talk{
		Conversation: &c, Pending: d.pending,
		Agent: &agent.Agent{Name: "Ada", Language: "en", Greeting: "Hello {{name}}, this is Ada.", Voice: &agent.Voice{
			Speaker: "main", Transcriber: "test", Speed: 1, SilenceMS: 600,
		}}, CompanyName: "Acme", ContactName: "Eva",
	}, nil
}

func (d *dialogue) State(context.Context, string, string) (*chats.Conversation, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.c
	return &c, 1, nil
}

func (d *dialogue) Say(ctx context.Context, _, _ string, in voice.Saying) (*chats.Turn, error) {
	if d.stall != nil {
		select {
		case <-d.stall:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.Quiet {
		return d.add("kept", in.Text), nil
	}
	d.voices = append(d.voices, in.Voice)
	if d.last = in.Text; in.Early {
		d.early = append(d.early, in.Text)
	}
	who := "visitor"
	if in.Voice != nil && in.Voice.Continues {
		who = "visitor goes on"
	}
	turn := d.add(who, in.Text)
	if d.c.State == chats.Automated {
		d.c.ReplySeq = turn.Seq
	}
	return turn, nil
}

func (d *dialogue) Respond(ctx context.Context, _, _ string, use voice.ToolUser, emit func(agent.Action) error) (*chats.Turn, error) {
	d.mu.Lock()
	said := d.last
	d.mu.Unlock()
	var text strings.Builder
	if err := d.think(ctx, said, use, func(a agent.Action) error { text.WriteString(a.Say); return emit(a) }); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.c.ReplySeq = 0
	if text.Len() == 0 {
		return nil, nil
	}
	return d.add("agent", text.String()), nil
}

func (d *dialogue) Think(ctx context.Context, _, _, text string, _ voice.ToolUser) {
	if d.ahead != nil {
		d.ahead(ctx, text)
	}
}

func (d *dialogue) Announce(_ context.Context, _, _ string, in voice.Saying, _ bool) (*chats.Turn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.add("agent", in.Text), nil
}

func (d *dialogue) Answer(_ context.Context, t voice.Teammate, in voice.Saying) (*chats.Turn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.add(t.Name, in.Text), nil
}

func (d *dialogue) Pending(context.Context, string, string) (*voice.Pending, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pending, nil
}

func (d *dialogue) Spoke(_ context.Context, _, _ string, seq int64, v chats.Voice) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spoken[seq] = v
	return nil
}

func (d *dialogue) Leave(context.Context, string, string) error { d.left = true; return nil }

type noEvents struct{}

func (noEvents) Follow(context.Context, string, string) error { return nil }
func (noEvents) EventsAfter(context.Context, string, string, int64, int) ([]events.Event, error) {
	return nil, nil
}
func (noEvents) LastEvent(context.Context, string, string) (int64, error) { return 0, nil }

// rig is a voice session in a bubble with fake time.
type rig struct {
	t           *testing.T
	line        *line
	dialogue    *dialogue
	speaker     *speaker
	transcriber *transcriber
	sessions    *voice.Sessions
	session     *voice.Session
	mu          sync.Mutex
	events      []voice.Event
	ended       chan error
	hub         *realtime.Hub
	nodes       voice.Nodes
	relay       realtime.Relay
	deaf        bool // there is no transcriber
	stop        func(ctx context.Context) error
	refuse      func(ctx context.Context)
	passed      int64 // events of the conversation
	onShow      func()
	silent      bool // nothing is said until the person says something
	browser     *voice.Browser
	at          time.Duration // sound of the person so far
}

func talk(t *testing.T, change func(r *rig), test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			t: t, line: &line{in: make(chan []int16)}, speaker: &speaker{}, transcriber: &transcriber{texts: map[int16]string{
				1: "when are you open", 2: "yes", 3: "",
			}}, ended: make(chan error, 1),
			dialogue: &dialogue{c: chats.Conversation{ID: talkID, State: chats.Automated, Language: "en"}, spoken: map[int64]chats.Voice{}},
		}
		r.dialogue.think = func(_ context.Context, said string, _ voice.ToolUser, emit func(agent.Action) error) error {
			return errors.Join(emit(agent.Action{Say: "You said " + said + " and I answer with many words. "}),
				emit(agent.Action{Say: "We are open from nine to five every day of the week."}),
				emit(agent.Action{Sources: []agent.Source{{Title: "Hours"}}}))
		}
		r.hub = realtime.NewHub(noEvents{}, slog.New(slog.DiscardHandler), nil)
		if change != nil {
			change(r)
		}
		transcribers := map[string]voice.Transcriber{"test": r.transcriber}
		if r.deaf {
			transcribers = nil
		}
		r.sessions = voice.NewSessions(voice.Options{
			Dialogue: r.dialogue, Topics: r.hub, Speakers: map[string]voice.Speaker{"main": r.speaker, "spare": &speaker{}},
			Fallback:     "spare",
			Transcribers: transcribers, Detector: func(int) voice.Detector { return detector{} },
			Log: slog.New(slog.DiscardHandler), Nodes: r.nodes, Relay: r.relay,
		})
		var err error
		r.session, err = r.sessions.Open(t.Context(), voice.Start{
			CompanyID: company, ConversationID: talkID, Line: r.line, ClientTools: true, NoGreeting: r.silent, Stop: r.stop,
			Refuse:  r.refuse,
			Browser: r.browser,
			Show: func(e voice.Event) {
				if r.onShow != nil {
					r.onShow()
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				r.events = append(r.events, e)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { r.ended <- r.session.Run(ctx) }()
		synctest.Wait()
		test(r)
		cancel()
		<-r.ended
		synctest.Wait()
	})
}

// speaks makes the person say something, frame by frame, and then be silent.
func (r *rig) speaks(value int16, d, silence time.Duration) {
	r.frames(value, d)
	r.frames(0, silence)
}

func (r *rig) frames(value int16, d time.Duration) {
	const frame = 32 * time.Millisecond
	for ; d > 0; d -= frame {
		pcm := make([]int16, 512)
		for i := range pcm {
			pcm[i] = value
		}
		select {
		case r.line.in <- pcm:
			r.at += frame
			time.Sleep(frame)
		case <-time.After(frame): // the session has ended
		}
	}
	synctest.Wait()
}

// wait lets time pass while the person is silent.
func (r *rig) wait(d time.Duration) { r.frames(0, d) }

func (r *rig) shown(kind voice.EventKind) (all []voice.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// texts returns the texts of events of a kind.
func (r *rig) texts(kind voice.EventKind) (all []string) {
	for _, e := range r.shown(kind) {
		all = append(all, e.Text)
	}
	return all
}

func TestATalkGreetsListensAndResponds(t *testing.T) {
	talk(t, nil, func(r *rig) {
		if got := r.texts(voice.Responded); !slices.Equal(got, []string{"Hello Eva, this is Ada."}) {
			t.Fatalf("greeting %q", got)
		}
		if r.line.written() == 0 {
			t.Error("no sound within the first moment")
		}
		r.wait(2 * time.Second)
		r.speaks(1, time.Second, 700*time.Millisecond)
		if got := r.texts(voice.Transcribed); !slices.Equal(got, []string{"when are you open"}) {
			t.Fatalf("transcribed %q", got)
		}
		r.wait(4 * time.Second)
		last := r.shown(voice.Responded)[1]
		if !strings.HasSuffix(last.Text, "of the week.") || len(last.Sources) != 1 || last.Seq != 3 {
			t.Errorf("responded %+v", last)
		}
		want := []string{"agent: Hello Eva, this is Ada.", "visitor: when are you open", "agent: " + last.Text}
		r.dialogue.mu.Lock()
		defer r.dialogue.mu.Unlock()
		if !slices.EqualFunc(r.dialogue.turns, want, func(a, b string) bool { return strings.TrimSpace(a) == b }) {
			t.Errorf("turns %q", r.dialogue.turns)
		}
		if v := r.dialogue.spoken[3]; v.LengthMS < 1500 || v.FirstAudioMS == 0 || v.ThinkMS == 0 || v.Cut {
			t.Errorf("spoken %+v", v)
		}
	})
}

func TestATalkWithoutAGreetingWaitsForThePerson(t *testing.T) {
	talk(t, func(r *rig) { r.silent = true }, func(r *rig) {
		r.wait(2 * time.Second)
		if got := r.texts(voice.Responded); len(got) > 0 || r.line.written() > 0 {
			t.Fatalf("said %q, %v of sound", got, r.line.written())
		}
		r.speaks(1, time.Second, 700*time.Millisecond)
		r.wait(4 * time.Second)
		if got := r.texts(voice.Responded); len(got) != 1 || !strings.Contains(got[0], "You said when are you open") {
			t.Errorf("responded %q", got)
		}
	})
}

func TestSoundIsSentInRealTimeButForTheLead(t *testing.T) {
	talk(t, func(r *rig) {
		r.dialogue.think = func(_ context.Context, _ string, _ voice.ToolUser, emit func(agent.Action) error) error {
			return emit(agent.Action{Say: strings.Repeat("word ", 60)})
		}
	}, func(r *rig) {
		r.wait(2 * time.Second)
		before := r.line.written()
		r.session.Type("a", "talk")
		synctest.Wait()
		begin := time.Now()
		for range 20 {
			r.wait(100 * time.Millisecond)
			if ahead := r.line.written() - before - time.Since(begin); ahead > 310*time.Millisecond || ahead < 150*time.Millisecond {
				t.Fatalf("%v ahead after %v", ahead, time.Since(begin))
			}
		}
		r.line.lead = time.Second // the person's playback broke off
		r.wait(time.Second)
		if ahead := r.line.written() - before - time.Since(begin); ahead > 1010*time.Millisecond || ahead < 850*time.Millisecond {
			t.Fatalf("%v ahead with the longer lead", ahead)
		}
	})
}

func TestSpeakingIntoTheAgentCutsItWithinAQuarterSecond(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.wait(time.Second)
		r.session.Type("a", "when are you open")
		r.wait(700 * time.Millisecond)
		r.frames(1, 290*time.Millisecond)
		if n := len(r.shown(voice.Interrupted)); n != 1 || r.line.cleared != 1 {
			t.Fatalf("%d interruptions, cleared %d", n, r.line.cleared)
		}
		r.speaks(1, time.Second, 700*time.Millisecond)
		corrected := r.shown(voice.Corrected)
		if len(corrected) != 1 || corrected[0].Text == "" || !strings.HasPrefix(corrected[0].Original, corrected[0].Text) ||
			corrected[0].Text == corrected[0].Original {
			t.Fatalf("corrected %+v", corrected)
		}
		r.wait(time.Second)
		r.dialogue.mu.Lock()
		defer r.dialogue.mu.Unlock()
		if v := r.dialogue.spoken[3]; !v.Cut || v.Heard != corrected[0].Text {
			t.Errorf("spoken %+v", v)
		}
	})
}

func TestABackchannelOrNoiseDoesNotStopTheAgent(t *testing.T) {
	for value, what := range map[int16]string{2: "a backchannel", 3: "noise"} {
		talk(t, nil, func(r *rig) {
			r.wait(time.Second)
			r.session.Type("a", "when are you open")
			r.wait(500 * time.Millisecond)
			before := len(r.texts(voice.Transcribed))
			r.speaks(value, 400*time.Millisecond, 700*time.Millisecond)
			r.wait(4 * time.Second)
			if got := r.shown(voice.Corrected); len(got) != 0 || len(r.texts(voice.Transcribed)) != before {
				t.Errorf("%s: corrected %+v", what, got)
			}
			r.dialogue.mu.Lock()
			defer r.dialogue.mu.Unlock()
			if v := r.dialogue.spoken[3]; v.Cut || v.LengthMS == 0 {
				t.Errorf("%s: spoken %+v", what, v)
			}
		})
	}
}

// If anything stalls or fails, the person gets something to hear or to read within 3 seconds, and an alternative
// within 8.
func TestNobodyWaitsInSilence(t *testing.T) {
	stall := func(ctx context.Context, _ string, _ voice.ToolUser, _ func(agent.Action) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for _, c := range []struct {
		name   string
		change func(r *rig)
		spoken bool // otherwise typed
	}{
		{"the thinker stalls", func(r *rig) { r.dialogue.think = stall }, false},
		{"the thinker fails", func(r *rig) {
			r.dialogue.think = func(context.Context, string, voice.ToolUser, func(agent.Action) error) error {
				return errors.New("down")
			}
		}, false},
		{"the thinker closes in the middle", func(r *rig) {
			r.dialogue.think = func(_ context.Context, _ string, _ voice.ToolUser, emit func(agent.Action) error) error {
				return errors.Join(emit(agent.Action{Say: "I begin to"}), errors.New("closed"))
			}
		}, false},
		{"the transcriber stalls", func(r *rig) { r.transcriber.stalls = true }, true},
		{"the transcriber fails", func(r *rig) { r.transcriber.err = errors.New("down") }, true},
		{"the speaker stalls", func(r *rig) { r.speaker.stalls = true }, false},
		{"the speaker fails", func(r *rig) { r.speaker.err = errors.New("down") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk(t, c.change, func(r *rig) {
				r.wait(5 * time.Second)
				before := r.line.written()
				shown := len(r.texts(voice.Responded))
				if c.spoken {
					r.speaks(1, time.Second, 700*time.Millisecond)
				} else {
					r.session.Type("a", "when are you open")
				}
				quiet := time.Now()
				sound, read := before, shown
				for begin := time.Now(); time.Since(begin) < 8500*time.Millisecond; {
					r.wait(100 * time.Millisecond)
					if now, texts := r.line.written(), len(r.texts(voice.Responded)); now > sound || texts > read {
						quiet, sound, read = time.Now(), now, texts
					}
					if all := r.shown(voice.Responded); len(all) > shown &&
						(len(all[len(all)-1].Choices)+len(all[len(all)-1].Sources) > 0 || c.spoken) && r.line.written() > before {
						break // an answer, or an alternative
					}
					if since := time.Since(quiet); since > 3100*time.Millisecond {
						t.Fatalf("silence for %v; shown %q", since, r.texts(voice.Responded))
					}
				}
				if r.line.written() == before {
					t.Errorf("no sound; shown %q", r.texts(voice.Responded))
				}
			})
		})
	}
}

func TestAStalledThinkerEndsInAnApologyAndAWayOut(t *testing.T) {
	talk(t, func(r *rig) {
		r.dialogue.think = func(ctx context.Context, _ string, _ voice.ToolUser, _ func(agent.Action) error) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}, func(r *rig) {
		r.wait(2 * time.Second)
		r.session.Type("a", "when are you open")
		r.wait(8200 * time.Millisecond)
		all := r.shown(voice.Responded)
		last := all[len(all)-1]
		if !strings.Contains(last.Text, "Sorry") || !slices.Equal(last.Choices, []string{"Talk to a person"}) {
			t.Errorf("%+v", all)
		}
	})
}

func TestASilentPersonIsSpokenToAndThenLeft(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.wait(50 * time.Second)
		got := r.texts(voice.Responded)
		if len(got) != 4 || got[1] != "Are you still there?" || !strings.Contains(got[3], "Goodbye") {
			t.Errorf("%q", got)
		}
		if e := r.shown(voice.Ended); len(e) != 1 || e[0].Code != "idle" {
			t.Errorf("ended %+v", e)
		}
	})
}

func TestThePageRunsTools(t *testing.T) {
	talk(t, func(r *rig) {
		r.dialogue.think = func(ctx context.Context, _ string, use voice.ToolUser, emit func(agent.Action) error) error {
			result, err := use(ctx, "show_map", `{"x":1}`)
			return errors.Join(emit(agent.Action{Say: fmt.Sprint("tool: ", result, " ", err)}))
		}
	}, func(r *rig) {
		r.session.Type("a", "map")
		synctest.Wait()
		calls := r.shown(voice.ToolCall)
		if len(calls) != 1 || calls[0].Tool.Name != "show_map" || calls[0].Tool.Parameters != `{"x":1}` {
			t.Fatalf("%+v", calls)
		}
		r.session.ToolResult(calls[0].Tool.ID, "shown", false)
		r.session.ToolResult(calls[0].Tool.ID, "again", false)
		synctest.Wait()
		if got := r.texts(voice.Responded); got[len(got)-1] != "tool: shown <nil>" {
			t.Errorf("%q", got)
		}
		r.session.Type("b", "map")
		r.wait(11 * time.Second)
		// Waiting for the agent ends before waiting for the tool.
		if got := r.texts(voice.Responded); !strings.Contains(strings.Join(got, "|"), "Sorry") {
			t.Errorf("%q", got)
		}
	})
}

func TestATeammateTalksWithThePerson(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.wait(2 * time.Second)
		mate := &line{in: make(chan []int16)}
		var seen []voice.Event
		left := make(chan error, 1)
		join := func(account string) voice.Teammate {
			return voice.Teammate{
				CompanyID: company, AccountID: account, Name: "Ben", ConversationID: talkID, Line: mate,
				Show: func(e voice.Event) { seen = append(seen, e) },
			}
		}
		r.dialogue.mu.Lock()
		r.dialogue.c.State = chats.Active
		r.dialogue.mu.Unlock()
		go func() { left <- r.sessions.Join(r.t.Context(), join("ben")) }()
		synctest.Wait()
		if err := r.sessions.Join(r.t.Context(), join("ana")); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("a second teammate: %v", err)
		}
		other := join("ben")
		other.CompanyID = "other"
		if err := r.sessions.Join(r.t.Context(), other); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("another company: %v", err)
		}
		before := r.line.written()
		for range 40 {
			pcm := make([]int16, 512)
			pcm[256] = 2
			mate.in <- pcm
			time.Sleep(32 * time.Millisecond)
		}
		synctest.Wait()
		if got := r.line.written() - before; got != 40*32*time.Millisecond {
			t.Errorf("the person got %v", got)
		}
		r.speaks(1, time.Second, 800*time.Millisecond)
		if mate.written() < 1700*time.Millisecond {
			t.Errorf("the teammate got %v", mate.written())
		}
		for range 40 {
			mate.in <- make([]int16, 512)
			time.Sleep(32 * time.Millisecond)
		}
		r.dialogue.mu.Lock()
		turns := strings.Join(r.dialogue.turns, "|")
		r.dialogue.mu.Unlock()
		if !strings.Contains(turns, "visitor: when are you open") || !strings.Contains(turns, "Ben: yes") ||
			strings.Contains(turns, "agent: You said") {
			t.Errorf("turns %s", turns)
		}
		close(mate.in)
		if err := <-left; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(r.shown(voice.Connected)) != 1 || len(r.shown(voice.Gone)) != 1 {
			t.Errorf("connected %d, gone %d", len(r.shown(voice.Connected)), len(r.shown(voice.Gone)))
		}
	})
}

// The person says something just when a teammate returns the conversation to the agent, before this node is notified.
func TestWhatIsSaidWhileTheAgentGetsTheConversationBackIsAnswered(t *testing.T) {
	talk(t, func(r *rig) { r.dialogue.c.State = chats.Active }, func(r *rig) {
		r.dialogue.mu.Lock()
		r.dialogue.c.State = chats.Automated
		r.dialogue.mu.Unlock()
		r.session.Type("1", "hello")
		r.wait(2 * time.Second)
		if all := r.texts(voice.Responded); !strings.Contains(strings.Join(all, "|"), "You said hello") {
			t.Errorf("responded %q", all)
		}
	})
}

func TestATeammateLeavesTheLineToWhoTookTheConversation(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.wait(2 * time.Second)
		join := func(account string) error {
			return r.sessions.Join(r.t.Context(), voice.Teammate{
				CompanyID: company, AccountID: account, Name: account, ConversationID: talkID, Line: &line{in: make(chan []int16)},
				Show: func(voice.Event) {},
			})
		}
		r.dialogue.mu.Lock()
		r.dialogue.c.State, r.dialogue.c.Assignee = chats.Active, "ana"
		r.dialogue.mu.Unlock()
		if err := join("ben"); err != nil { // the session looks up the conversation's assignee
			t.Error(err)
		}
		done := make(chan error, 1)
		go func() { done <- join("ana") }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Errorf("who has the conversation left the line: %v", err)
		default:
		}
		if got := r.shown(voice.Connected); len(got) != 2 || got[1].Name != "ana" {
			t.Errorf("connected %+v", got)
		}
	})
}

func TestWhoeverComesBackIsGreetedOnlyAfterAWhile(t *testing.T) {
	for _, c := range []struct {
		ago  time.Duration
		said int64
		want int
	}{{10 * time.Second, 3, 0}, {time.Hour, 3, 1}, {10 * time.Second, 0, 1}} { // the last: only an event
		talk(t, func(r *rig) {
			r.dialogue.c.LastSeq, r.dialogue.c.CompanySeq, r.dialogue.c.LastAt = 4, c.said, time.Now().Add(-c.ago)
		}, func(r *rig) {
			if got := r.texts(voice.Responded); len(got) != c.want {
				t.Errorf("after %v: %q", c.ago, got)
			}
		})
	}
}

func TestATalkEndsWhoseTurnsCannotBeStored(t *testing.T) {
	talk(t, func(r *rig) { r.dialogue.stall = make(chan struct{}) }, func(r *rig) {
		for i := range 20 {
			r.session.Type(strconv.Itoa(i), "hello")
		}
		r.wait(11 * time.Second)
		if failures := r.shown(voice.Failure); len(failures) != 1 || failures[0].Code != "not_stored" {
			t.Errorf("shown %+v", failures)
		}
		began := time.Now()
		close(r.line.in)
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 31*time.Second {
			t.Errorf("the talk ended after %v", took)
		}
		r.ended <- nil
	})
}

func TestAPanicEndsOneThingOfATalk(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.dialogue.think = func(context.Context, string, voice.ToolUser, func(agent.Action) error) error { panic("a bug") }
		r.session.Type("1", "hello")
		r.wait(3 * time.Second)
		if all := r.texts(voice.Responded); len(all) != 2 {
			t.Errorf("responded %q", all)
		}
	})
}

func TestHangingUpEndsTheConversation(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.session.End()
		synctest.Wait()
		if e := r.shown(voice.Ended); len(e) != 1 || e[0].Code != "hung_up" || !r.dialogue.left {
			t.Errorf("ended %+v, left %v", e, r.dialogue.left)
		}
	})
}

// The line closes at the same moment as the person hangs up. This must not count as a lost connection.
func TestHangingUpIsNotOvertakenByTheEndOfTheLine(t *testing.T) {
	for range 20 {
		talk(t, nil, func(r *rig) {
			r.onShow = func() { // the session is busy when both arrive
				r.onShow = nil
				r.session.End()
				close(r.line.in)
				time.Sleep(time.Millisecond)
			}
			r.session.Type("1", "goodbye")
			time.Sleep(time.Second)
			synctest.Wait()
			if !r.dialogue.left {
				t.Fatal("the conversation goes on as if the connection had been lost")
			}
		})
	}
}

// A database that stalls at the end of a session, and a client that continues to send, delay neither the end nor other
// sessions.
func TestATalkEndsWhoseClientGoesOnSending(t *testing.T) {
	talk(t, func(r *rig) { r.dialogue.stall = make(chan struct{}) }, func(r *rig) {
		r.session.Type("", "hello")
		r.session.End()
		synctest.Wait()
		go func() {
			for range 200 {
				r.session.Active()
			}
		}()
		synctest.Wait()
		again := make(chan error, 1)
		go func() {
			_, err := r.sessions.Open(r.t.Context(), voice.Start{CompanyID: company, ConversationID: talkID, Show: func(voice.Event) {}})
			again <- err
		}()
		synctest.Wait()
		if len(again) != 1 {
			t.Error("the talk that is ending holds up the next one")
		}
		close(r.dialogue.stall)
		synctest.Wait()
		if len(r.ended) != 1 {
			t.Error("the talk does not end")
		}
	})
}

// A client sends a quarter of a second at a time.
func TestWhoIsNotHeardIsToldOnce(t *testing.T) {
	talk(t, func(r *rig) { r.deaf = true }, func(r *rig) {
		r.wait(5 * time.Second)
		before := len(r.texts(voice.Responded))
		for range 4 {
			pcm := make([]int16, 8*512)
			for i := range pcm {
				pcm[i] = 1
			}
			r.line.in <- pcm
			time.Sleep(256 * time.Millisecond)
		}
		synctest.Wait()
		if got := r.texts(voice.Responded)[before:]; len(got) != 1 {
			t.Errorf("told %q", got)
		}
	})
}

func TestATeammateOnAnotherPageLeavesNoEarsBehind(t *testing.T) {
	talk(t, nil, func(r *rig) {
		r.wait(2 * time.Second)
		r.dialogue.mu.Lock()
		r.dialogue.c.State = chats.Active
		r.dialogue.mu.Unlock()
		join := func(l *line) {
			_ = r.sessions.Join(r.t.Context(), voice.Teammate{
				CompanyID: company, AccountID: "ben", Name: "Ben", ConversationID: talkID, Line: l, Show: func(voice.Event) {},
			})
		}
		first := &line{in: make(chan []int16)}
		go join(first)
		for range 10 {
			pcm := make([]int16, 512)
			pcm[256] = 2
			first.in <- pcm
		}
		synctest.Wait()
		if n := r.transcriber.open.Load(); n != 1 {
			t.Fatalf("%d words are transcribed", n)
		}
		go join(&line{in: make(chan []int16)})
		synctest.Wait()
		if n := r.transcriber.open.Load(); n != 0 {
			t.Errorf("%d words of the page before are still transcribed", n)
		}
	})
}

func TestTalksOfOneClientLeaveRoomForAnotherOne(t *testing.T) {
	talk(t, nil, func(r *rig) {
		open := func(companyID, client string, n int) error {
			_, err := r.sessions.Open(r.t.Context(), voice.Start{
				CompanyID: companyID, ConversationID: fmt.Sprintf("%s-%s-%d", companyID, client, n), Client: client,
				Show: func(voice.Event) {},
			})
			return err
		}
		for n := range int(share.Talks.Client) {
			if err := open("a", "2001:db8::/64", n); err != nil {
				t.Fatalf("talk %d: %v", n, err)
			}
		}
		if err := open("a", "2001:db8::/64", int(share.Talks.Client)); !carillon.IsCode(err, carillon.RateLimitExceeded) {
			t.Errorf("one talk too many of a client: %v", err)
		}
		for n := share.Talks.Client; n < share.Talks.Company; n++ {
			if err := open("a", fmt.Sprintf("client %d", n), 0); err != nil {
				t.Fatalf("talk %d: %v", n, err)
			}
		}
		if err := open("a", "another client", 0); !carillon.IsCode(err, carillon.RateLimitExceeded) {
			t.Errorf("one talk too many of a company: %v", err)
		}
		if err := open("b", "another client", 0); err != nil {
			t.Errorf("another company's talk: %v", err)
		}
	})
}
