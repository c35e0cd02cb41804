package telephone_test

import (
	"net"
	"os"
	"slices"
	"testing"

	"carillon"
	"carillon/internal/base/need"
	"carillon/internal/call/sip"
	"carillon/internal/call/sip/siptest"
)

// Calls over the system's sockets, in real time. Their behavior is tested in fake time.

// mostly is the share of a sound that must arrive on a busy machine, which may lose some.
const mostly = 0.5

// shareOf returns the share of a sound, in pieces of 0.2 s, that a longer one contains, possibly mixed with other
// sound. If some of it is lost, later pieces are found nevertheless.
func shareOf(long, sound []int16) float64 {
	const piece = 1600
	found, all := 0.0, 0.0
	for ; len(sound) >= piece; sound = sound[piece:] {
		if all++; within(long, sound[:piece]) >= 0.5 {
			found++
		}
	}
	return found / all
}

func TestACallIsHeardOverSockets(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	r := newRigIn(t, &net.ListenConfig{}, robin())
	e, d := r.place("0018")
	confirmed := carillon.Detail{Key: "confirmed", Value: true}
	if e.State != carillon.StateCompleted || e.EndedBy != "callee" || len(e.Result) != 1 || e.Result[0] != confirmed {
		t.Errorf("%+v", e)
	}
	if turns := r.turns(d); len(turns) < 2 || turns[1] != "visitor 1 Yes" {
		t.Errorf("the key is understood as %q", turns)
	}
	greeting := noise("Hello Ana, this is Robin.")
	heard := r.phone.Heard("34600110018")[0].Sound()
	if heard, recorded := shareOf(heard, greeting), shareOf(r.recording(d), greeting); heard < mostly || recorded < mostly {
		t.Errorf("%.2f of the greeting is heard, %.2f recorded", heard, recorded)
	}
}

// connected waits until somebody has taken the call.
func (r *rig) connected() {
	r.t.Helper()
	r.until("the connection", func() bool {
		var taken int
		err := r.store.DB.Row(r.t.Context(), []any{&taken}, "SELECT COUNT(*) FROM call_transfer WHERE taken_at > 0")
		return err == nil && taken == 1
	})
}

func TestATransferIsHeardOverSockets(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	r := transfersIn(t, &net.ListenConfig{})
	there := r.answering(nil)
	c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
	if err != nil {
		t.Fatal(err)
	}
	r.until("the question", func() bool { return len(heard()) >= 8000 })
	c.SendDigits("1")
	far := there.answered(t)
	far.SendDigits("1")
	r.connected()
	mine, theirs := noise("This is what the caller has to say."), noise("And this is what the desk responds.")
	before := len(there.sound())
	_, _ = c.Write(mine), far.Write(theirs)
	r.until("the end of both", func() bool { return len(there.sound()) >= before+len(mine)+8000 })
	c.SendDigits("5")
	if d := await(t, far.Digits()); d != '5' {
		t.Errorf("the key %c", d)
	}
	far.HangUp(t.Context())
	r.says(returned)
	c.HangUp(t.Context())
	rec := r.ended()
	left, right := r.sides(&diary{recorded: rec.Recording})
	for side, share := range map[string]float64{
		"the desk hears": shareOf(there.sound(), mine), "the caller hears": shareOf(heard(), theirs),
		"the left channel has": shareOf(left, mine), "the right channel has": shareOf(right, theirs),
	} {
		if share < mostly {
			t.Errorf("%s %.2f of it", side, share)
		}
	}
	if of, on := shareOf(right, mine), shareOf(left, theirs); of > 0 || on > 0 {
		t.Errorf("the other channels have %.2f of the caller, %.2f of the desk", of, on)
	}
}

func TestATransferIsTakenOnAnotherTelephone(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	scenario, err := os.ReadFile("testdata/desk.xml")
	if err != nil {
		t.Fatal(err)
	}
	sipp := siptest.NewSipp(t, string(scenario), "-rtp_echo")
	r := transfersIn(t, &net.ListenConfig{})
	r.trunk = &sip.Trunk{Host: sipp.Address(), Transport: "udp"}
	c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
	if err != nil {
		t.Fatal(err)
	}
	r.until("the question", func() bool { return len(heard()) >= 8000 })
	c.SendDigits("1")
	r.connected()
	mine, before := noise("This is what the caller has to say."), len(heard())
	_ = c.Write(mine)
	r.until("its echo", func() bool { return len(heard()) >= before+len(mine)+8000 })
	c.HangUp(t.Context())
	sipp.Done()
	if share := shareOf(heard()[before:], mine); share < mostly {
		t.Errorf("%.2f of the echo arrives", share)
	}
	if got := r.outcomes(r.ended()); !slices.Equal(got, []string{desk + " taken"}) {
		t.Errorf("%q", got)
	}
}
