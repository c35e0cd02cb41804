package telephone_test

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/destination"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/call"
	"carillon/internal/call/dial"
	"carillon/internal/call/handset"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/event/realtime"
	"carillon/internal/send/sandbox"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/flow"
	"carillon/internal/voice"
)

// rig is a telephone that calls the sandbox's phone. Everything between them is real except for the voice, which is a
// different noise for each text, so that it can be recognized.
type rig struct {
	*telephone.Telephone
	opened     atomic.Pointer[telephone.Telephone] // the telephone that handles calls to it
	t          *testing.T
	phone      *handset.Phone
	store      *store.Store
	company    string
	agent      *agent.Agent
	stalls     bool // the thinker stalls
	mu         sync.Mutex
	suppressed []string
	callers    bool   // the suppressed person was a caller
	owner      string // company that the lines' number was assigned to
	told       *strings.Builder
	asked      string // company whose agent was requested last

	network   sip.Network
	engine    *sip.Engine
	trunk     *sip.Trunk // nil: the sandbox's phone
	lines     []*carillon.Sender
	flows     []*flow.Flow
	suspended bool
	incoming  *call.Incoming
	ears      voice.Transcriber // for the transcriber vosk
	absent    bool              // the agent is missing, or belongs to another company
	finding   time.Duration     // delay of checking whether a company is suspended
	unknown   error             // error of finding the trunk
	placed    int               // calls of the node, whose maximum is three

	permission provider.CallPermission // of everybody
	windows    []string                // people with an open window
}

// locked serializes writes with a mutex.
type locked struct {
	mu *sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

// ID and Holds implement call.Node.
func (*rig) ID() string  { return "node" }
func (*rig) Holds() bool { return true }

// TalkingAgent implements conversation.Agents.
func (r *rig) TalkingAgent(ctx context.Context, companyID, _ string) (*agent.Agent, string, error) {
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	r.mu.Lock()
	r.asked = companyID
	r.mu.Unlock()
	if r.absent {
		return nil, "", carillon.Absent("Agent")
	}
	return r.agent, "Acme", nil
}

// Flows implements conversation.Flows.
func (r *rig) Flows(context.Context, string) (all []flow.Listed, err error) {
	for _, f := range r.flows {
		all = append(all, f.Listed())
	}
	return all, nil
}

// Flow implements conversation.Flows.
func (r *rig) Flow(_ context.Context, _, id string) (*flow.Flow, error) {
	for _, f := range r.flows {
		if f.ID == id {
			return f, nil
		}
	}
	return nil, carillon.Absent("Flow")
}

// Speak implements voice.Speaker.
func (r *rig) Speak(_ context.Context, u voice.Utterance, emit func([]int16) error) error {
	return emit(noise(u.Text))
}

// Reply implements agent.Thinker.
func (r *rig) Reply(ctx context.Context, q *agent.Request, emit func(agent.Action) error) error {
	if r.stalls {
		<-ctx.Done()
		return ctx.Err()
	}
	return agent.Builtin{}.Reply(ctx, q, emit)
}

// Listen implements voice.Transcriber.
func (r *rig) Listen(ctx context.Context, h voice.Hearing) (voice.Recognizer, error) {
	return r.ears.Listen(ctx, h)
}

func (r *rig) detector(rate int) voice.Detector {
	if r.ears != nil {
		return loudness{}
	}
	return voice.NewDetector(rate)
}

// stalled is a speaker that never emits sound.
type stalled struct{}

// Speak implements voice.Speaker.
func (stalled) Speak(ctx context.Context, _ voice.Utterance, _ func([]int16) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// noise returns 40 ms of noise for each character of a text, different for each text.
func noise(text string) []int16 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	pcm := make([]int16, len(text)*320)
	low := 0.0
	for i := range pcm {
		low += (random.NormFloat64()*6000 - low) * 0.4 // only frequencies that a telephone carries
		pcm[i] = int16(low)
	}
	return pcm
}

// inFakeTime runs a test, which takes as long as its calls, with a fake clock.
func inFakeTime(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// newRig returns a rig in an in-memory network.
func newRig(t *testing.T, a *agent.Agent) *rig {
	t.Helper()
	return newRigIn(t, &rtptest.Network{}, a)
}

func newRigIn(t *testing.T, network sip.Network, a *agent.Agent) *rig {
	t.Helper()
	return newRigOf(t, a, store.Options{Dir: storetest.Folder(t)}, sip.Options{Network: network})
}

// newRigOf returns a rig with a store and an engine with these options.
func newRigOf(t *testing.T, a *agent.Agent, kept store.Options, calls sip.Options) *rig {
	t.Helper()
	network := calls.Network
	log := slog.New(slog.DiscardHandler)
	told := &strings.Builder{}
	s, err := store.Open(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	a.Language = "en"
	r := &rig{t: t, network: network, store: s, company: carillon.NewID(time.Now()), agent: a, told: told}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: r.company, Name: "Acme"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Nodes.Join(t.Context(), "node", "node"); err != nil {
		t.Fatal(err)
	}
	hub := realtime.NewHub(s.Topics, log, nil)
	s.Events.OnEvents(hub.Publish)
	conversations := conversation.New(conversation.Options{
		Store: s, Agents: r, Thinker: r, Publisher: hub, Log: log, Flows: r, Runs: s.Runs,
	})
	shares := new(share.Set)
	shares.Of(share.Talks.Of(1)) // does not count calls
	voices := voice.NewSessions(voice.Options{
		Dialogue: conversation.NewAloud(conversations), Topics: hub,
		Speakers: map[string]voice.Speaker{"espeak": r, "openai": stalled{}}, Fallback: "espeak",
		Transcribers: map[string]voice.Transcriber{"vosk": r}, Detector: r.detector, Log: log, Shares: shares,
	})
	delays := sandbox.Delays{Ringing: 20 * time.Millisecond, Answered: 60 * time.Millisecond, Ended: 300 * time.Millisecond}
	if r.phone, err = handset.Open(t.Context(), delays, sip.Options{Log: log, Network: network}); err != nil {
		t.Fatal(err)
	}
	r.incoming = call.NewIncoming(s, r, nil, log)
	calls.Address, calls.Log = "127.0.0.1:0", log
	calls.OnCall = func(in *sip.Incoming) { r.opened.Load().Take(in) }
	engine, err := sip.New(t.Context(), calls)
	if err != nil {
		t.Fatal(err)
	}
	r.engine = engine
	r.Telephone = telephone.New(telephone.Options{
		Engine: engine, Voices: voices, Conversations: conversations, Agents: r, Denied: destination.Denied{"979"},
		Log: slog.New(slog.NewTextHandler(locked{&r.mu, told}, nil)),
		Files: files.New(s.Files, files.Options{
			Keys: s.Config.Derived, Suspended: func(context.Context, string) (bool, error) { return false, nil },
		}),
		Trunks: r.trunkOf,
		Suppress: func(_ context.Context, company, number string, caller bool) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.suppressed = append(r.suppressed, company+"/"+number)
			r.callers = r.callers || caller
			return nil
		},
		Owner: func(context.Context, string) (string, error) { return r.owner, nil },
		Lines: func(_ context.Context, number string) (all []*carillon.Sender, err error) {
			for _, l := range r.lines {
				if l.Number == number {
					all = append(all, l)
				}
			}
			return all, nil
		},
		Suspended: func(ctx context.Context, _ string) (bool, error) {
			select {
			case <-time.After(r.finding):
				return r.suspended, nil
			case <-ctx.Done():
				return false, ctx.Err()
			}
		},
		Incoming: r.incoming,
		Placed:   func() int { return r.placed },
		WhatsApp: r.overWhatsApp(),
		Most:     3,
		Drain:    drain,
	})
	r.opened.Store(r.Telephone)
	t.Cleanup(func() {
		if err := errors.Join(engine.Close(), r.phone.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// drain is the time that accepted calls may continue after a stop.
const drain = 3 * time.Second

// recordedNotice announces a recording to a person who is not understood.
const recordedNotice = "This call is recorded. If you don't agree, press star."

// diary records the progress of a call.
type diary struct {
	ringing, answered      time.Time
	conversation, recorded string
	refused                bool
	wacid                  string
}

func (d *diary) Ringing(at time.Time)             { d.ringing = at }
func (d *diary) Answered(at time.Time, id string) { d.answered, d.conversation = at, id }
func (d *diary) Recorded(id string)               { d.recorded = id }
func (d *diary) RecordingRefused()                { d.refused = true }
func (d *diary) Named(wacid string)               { d.wacid = wacid }
func (r *rig) line() *carillon.Sender {
	return &carillon.Sender{CompanyID: r.company, ID: "line", Number: "15550100101"}
}

func (r *rig) call(suffix string, attempt int) *dial.Call {
	return &dial.Call{
		ID: "call", NotificationID: "call", Number: "3460011" + suffix, Attempt: attempt, AgentID: "a",
		Contact: map[string]string{"first_name": "Ana", "last_name": "Diaz"},
	}
}

func (r *rig) place(suffix string) (dial.Ending, *diary) {
	d := &diary{}
	return r.Place(r.t.Context(), r.line(), r.call(suffix, 1), d), d
}

// heard returns the correlation of a text with the phone's recording.
func (r *rig) heard(suffix, text string) float64 {
	all := r.phone.Heard("3460011" + suffix)
	if len(all) == 0 {
		return 0
	}
	return within(all[0].Sound(), noise(text))
}

// within returns how well a longer sound contains another one.
func within(long, sound []int16) float64 {
	_, shift := audiotest.Correlate(long, sound)
	from := max(0, -shift)
	ncc, _ := audiotest.Correlate(long[from:min(len(long), from+len(sound))], sound)
	return ncc
}

func (r *rig) turns(d *diary) (all []string) {
	turns, err := r.store.Chats.Turns(r.t.Context(), r.company, d.conversation, 0, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, t := range turns {
		if t.Kind != chats.KindEvent {
			all = append(all, string(t.Author)+" "+t.Extra.Digits+" "+t.Text)
		}
	}
	return all
}

// recording returns the recorded sound of a call, both sides mixed.
func (r *rig) recording(d *diary) []int16 {
	theirs, ours := r.sides(d)
	both := make([]int16, len(ours))
	for i := range both {
		both[i] = theirs[i]/2 + ours[i]/2
	}
	return both
}

// sides returns the recorded sound of both sides of a call.
func (r *rig) sides(d *diary) (theirs, ours []int16) {
	f, err := r.store.Files.Find(r.t.Context(), d.recorded)
	if err != nil {
		r.t.Fatal(err)
	}
	var wav []byte
	for part := 0; int64(len(wav)) < f.Size; part++ {
		b, err := r.store.Files.Part(r.t.Context(), f.ID, part)
		if err != nil {
			r.t.Fatal(err)
		}
		wav = append(wav, b...)
	}
	const header = 44
	if length := len(wav) - header; length <= 0 || !bytes.Equal(wav[:header], audio.WAVHeader(length, 2, 8000)) {
		r.t.Fatalf("a WAV header %x of %d bytes", wav[:min(len(wav), header)], len(wav))
	}
	both := audio.Samples(wav[header:])
	for i := 0; i+1 < len(both); i += 2 {
		theirs, ours = append(theirs, both[i]), append(ours, both[i+1])
	}
	return theirs, ours
}

func robin() *agent.Agent {
	return &agent.Agent{
		Name: "Robin", Greeting: "Hello {{first_name}}, this is Robin.", Record: true, Tools: []string{"hang_up"},
		Voicemail: "Call us, {{first_name}}.",
		Result:    []agent.Result{{Name: "confirmed", Type: "boolean", Question: "Do you come?"}},
	}
}

func TestACallIsHeldFromTheGreetingToTheResult(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		e, d := r.place("0018")
		if e.State != carillon.StateCompleted || e.EndedBy != "callee" || e.AnsweredBy != "human" || len(e.Result) != 1 ||
			e.Result[0] != (carillon.Detail{Key: "confirmed", Value: true}) {
			t.Errorf("%+v", e)
		}
		if d.ringing.IsZero() || d.answered.Before(d.ringing) || d.conversation == "" {
			t.Errorf("%+v", d)
		}
		const greeting = "Hello Ana, this is Robin."
		turns := r.turns(d)
		if len(turns) < 3 || turns[0] != "agent  This is an automated call from Acme. "+recordedNotice+" "+greeting+
			" Do you come?" || turns[1] != "visitor 1 Yes" {
			t.Errorf("turns %q", turns)
		}
		f, err := r.store.Files.Find(t.Context(), d.recorded)
		if err != nil || f.ConversationID != d.conversation || f.CompanyID != r.company || f.Type != "audio/wav" || !f.ExpiresAt.IsZero() {
			t.Fatalf("%+v, %v", f, err)
		}
		recorded := audio.Duration(len(r.recording(d)), 8000)
		if length := e.At.Sub(d.answered); (recorded - length).Abs() > 100*time.Millisecond {
			t.Errorf("a recording of %v of a call of %v", recorded, length)
		}
		c, err := r.store.Chats.Find(t.Context(), r.company, d.conversation)
		if err != nil || c.State != chats.Resolved || c.Channel != telephone.Channel {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestACallWalksTheFlowOfItsEvent(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.flows = []*flow.Flow{{
			ID: carillon.NewID(time.Now()), Name: "delivery", Trigger: flow.Trigger{Event: "shipped"},
			Steps: []flow.Step{
				{Say: "Hello {{first_name}}, did your parcel come?"},
				{Ask: "came", Choices: []string{"Yes", "No"}},
				{If: "came == 'Yes'", Then: []flow.Step{{Say: "Enjoy it."}, {End: true}}},
			},
		}}
		x := r.call("0018", 1)
		x.Event = "shipped"
		d := &diary{}
		if e := r.Place(t.Context(), r.line(), x, d); e.State != carillon.StateCompleted {
			t.Errorf("%+v", e)
		}
		want := []string{
			"agent  This is an automated call from Acme. " + recordedNotice, "agent  Hello Ana, did your parcel come?",
			"visitor 1 Yes", "agent  Enjoy it.",
		}
		if turns := r.turns(d); !slices.Equal(turns, want) {
			t.Errorf("turns %q", turns)
		}
		run, err := r.store.Runs.OfConversation(t.Context(), r.company, d.conversation, 10)
		if err != nil || len(run) != 1 || run[0].State != string(flow.Completed) || run[0].Variables["came"] != "Yes" ||
			run[0].NotificationID != "call" {
			t.Errorf("%+v, %v", run, err)
		}
		if ncc := r.heard("0018", "Hello Ana, did your parcel come?"); ncc < clear {
			t.Errorf("the flow is heard by %.3f", ncc)
		}
		x.Event = "unknown"
		if e := r.Place(t.Context(), r.line(), x, d); len(e.Result) != 1 {
			t.Errorf("with an event of no flow %+v", e)
		}
		all, err := r.store.Chats.Turns(t.Context(), r.company, d.conversation, 0, 1)
		if err != nil || len(all) != 1 || all[0].Extra.Event != conversation.NoSuchFlow || all[0].Text != "unknown" {
			t.Errorf("the timeline of a call with an event of no flow begins with %+v, %v", all, err)
		}
	})
}

// clear is the correlation of sound without losses; a telephone codec costs a little.
const clear = 0.99

// apart is the highest correlation of sound that is in the other channel.
const apart = 0.2

func TestTheGreetingIsHeardAndRecorded(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		const greeting = "Hello Ana, this is Robin."
		_, d := r.place("1222")
		if heard, recorded := r.heard("1222", greeting), within(r.recording(d), noise(greeting)); heard < clear || recorded < clear {
			t.Errorf("the greeting is heard by %.3f and recorded by %.3f", heard, recorded)
		}
	})
}

func TestTheKeyNineEndsAllCalls(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		e, _ := r.place("0019")
		if e.State != carillon.StateCompleted || e.EndedBy != "agent" || !slices.Equal(r.suppressed, []string{r.company + "/34600110019"}) {
			t.Errorf("%+v, suppressed %q", e, r.suppressed)
		}
		if ncc := r.heard("0019", "We won't call you again."); ncc < clear {
			t.Errorf("the confirmation is heard by %.3f", ncc)
		}
		if r.callers {
			t.Error("whoever was called counts as a caller")
		}
	})
}

func TestNumbersOfTheListAreNeverCalled(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		for _, number := range []string{"97912341222", "0097912341222"} {
			d := &diary{}
			e := r.Place(t.Context(), r.line(), &dial.Call{ID: "call", Number: number, Attempt: 2, AgentID: "a"}, d)
			if e.State != carillon.StateFailed || e.Reason != carillon.ReasonUndeliverable || !d.ringing.IsZero() {
				t.Errorf("%s: %+v", number, e)
			}
			if e, steps := r.try(t.Context(), number); e.Problem != telephone.TrialForbidden || len(steps) > 0 {
				t.Errorf("a trial of %s: %+v, %q", number, e, steps)
			}
			if heard := r.phone.Heard(number); len(heard) > 0 {
				t.Errorf("the phone of %s rang", number)
			}
		}
	})
}

func TestAMachineGetsTheMessage(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		e, d := r.place("0014")
		if e.State != carillon.StateVoicemail || e.AnsweredBy != "machine" || d.recorded == "" {
			t.Errorf("%+v, %+v", e, d)
		}
		if ncc := r.heard("0014", "Call us, Ana."); ncc < clear {
			t.Errorf("the message is heard by %.3f", ncc)
		}
		// The machine speaks for five seconds and beeps.
		_, shift := audiotest.Correlate(noise("Call us, Ana."), r.phone.Heard("34600110014")[0].Sound())
		if after := audio.Duration(shift, 8000); after < 5500*time.Millisecond || after > 6500*time.Millisecond {
			t.Errorf("the message begins %v after the answer", after)
		}
		r.agent.Voice = &agent.Voice{Speaker: "openai"} // which stalls
		if e, _ := r.place("0014"); e.State != carillon.StateVoicemail || e.EndedBy != "agent" {
			t.Errorf("with a speaker that stalls %+v", e)
		}
		if ncc := r.heard("0014", "Call us, Ana."); ncc < clear {
			t.Errorf("with a speaker that stalls the message is heard by %.3f", ncc)
		}
	})
}

func TestEndingsOfCallsThatNobodyTalksIn(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]dial.Ending{
		"0001": {State: carillon.StateFailed, Reason: carillon.ReasonUndeliverable, Cause: "404 Not Found", EndedBy: "system"},
		"0002": {State: carillon.StateFailed, Cause: "503 Service Unavailable", EndedBy: "system", Fault: provider.FaultProvider},
		"0011": {State: carillon.StateBusy, Cause: "486 Busy Here", EndedBy: "callee"},
		"0012": {State: carillon.StateNoAnswer, Cause: "480 Temporarily Unavailable", EndedBy: "system"},
		"0013": {State: carillon.StateRejected, Cause: "603 Decline", EndedBy: "callee"},
		"0015": {State: carillon.StateFailed, Reason: carillon.ReasonProviderRefused, Cause: "488 Not Acceptable Here", EndedBy: "system"},
		"0017": {State: carillon.StateCompleted, Cause: "BYE", EndedBy: "callee", AnsweredBy: "human"},
		"0023": {State: carillon.StateNoAnswer, Cause: "487 Request Terminated", EndedBy: "system"},
	} {
		t.Run(suffix, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				e, _ := newRig(t, robin()).place(suffix)
				if e.State != want.State || e.Reason != want.Reason || e.Cause != want.Cause || e.EndedBy != want.EndedBy ||
					e.Fault != want.Fault || e.AnsweredBy != want.AnsweredBy {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestACallIsHungUpWhenItsContextEnds(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		for after, want := range map[time.Duration]carillon.State{
			0: carillon.StateCanceled, 30 * time.Millisecond: carillon.StateCanceled, 1500 * time.Millisecond: carillon.StateCompleted,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			e := r.Place(ctx, r.line(), r.call("0020", 1), &diary{})
			cancel()
			if e.State != want || e.EndedBy != "system" {
				t.Errorf("after %v: %+v", after, e)
			}
		}
	})
}

// longestSilence returns the longest silence in a sound.
func longestSilence(pcm []int16) (longest time.Duration) {
	const step = 160
	silence := time.Duration(0)
	for i := 0; i+step <= len(pcm); i += step {
		if silence += 20 * time.Millisecond; audio.RMS(pcm[i:i+step]) > 200 {
			silence = 0
		}
		longest = max(longest, silence)
	}
	return longest
}

func TestNoServiceThatStallsLeavesTheCalleeInSilence(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		suffix string
		set    func(r *rig)
	}{
		"the speaker": {"1222", func(r *rig) { r.agent.Voice = &agent.Voice{Speaker: "openai"} }},
		"the thinker": {"0018", func(r *rig) { r.stalls = true }},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				x.set(r)
				ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second)
				defer cancel()
				e := r.Place(ctx, r.line(), r.call(x.suffix, 1), &diary{})
				heard := r.phone.Heard("3460011" + x.suffix)
				if len(heard) != 1 {
					t.Fatalf("%d calls were answered", len(heard))
				}
				pcm := heard[0].Sound()
				if longest, length := longestSilence(pcm),
					audio.Duration(len(pcm), 8000); longest > 3*time.Second || length < 3*time.Second {
					t.Errorf("%v of silence in %v; %+v", longest, length, e)
				}
			})
		})
	}
}

func TestALineWhoseTrunkIsUnknownPlacesNoCall(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		r.unknown = errors.New("its settings are broken")
		e, d := r.place("0018")
		if e.State != carillon.StateFailed || e.Reason != carillon.ReasonLineUnavailable || e.Detail != r.unknown.Error() ||
			!d.ringing.IsZero() {
			t.Errorf("%+v", e)
		}
		if e, steps := r.try(t.Context(), "34600111234"); e.Problem != telephone.TrialSettings || len(steps) > 0 {
			t.Errorf("%+v, %q", e, steps)
		}
	})
}
