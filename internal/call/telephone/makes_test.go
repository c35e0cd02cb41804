package telephone_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"carillon/internal/base/need"
	"carillon/internal/call/sip"
	"carillon/internal/call/sip/siptest"
	"carillon/internal/voice/spoken"
)

// deskPhone is a telephone of another make at the desk: it answers, speaks from the answer, and records the received sound.
type deskPhone interface {
	Address() string
	Heard() []int16
	Press(digit rune)
	HangUp()
}

const beginning = 8000 // samples: the first second of a sound

// ends reports whether the last second that was heard is of a sound. A busy machine may lose seconds before it.
func ends(heard, sound []int16) bool {
	return len(heard) > beginning && shareOf(sound, heard[len(heard)-beginning:]) >= mostly
}

func TestATransferIsTakenOnTelephonesOfOtherMakes(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	theirs := noise(strings.Repeat("The desk speaks from the moment at which it answers. ", 40))
	for name, start := range map[string]func(t *testing.T) deskPhone{
		"linphone":                 func(t *testing.T) deskPhone { return siptest.NewDesk(t, theirs, siptest.LinphoneOptions{}) },
		"linphone, digits by INFO": func(t *testing.T) deskPhone { return siptest.NewDesk(t, theirs, siptest.LinphoneOptions{Info: true}) },
		"baresip":                  func(t *testing.T) deskPhone { return siptest.NewBaresip(t, desk, theirs, "") },
		"baresip, digits by INFO":  func(t *testing.T) deskPhone { return siptest.NewBaresip(t, desk, theirs, ";dtmfmode=info") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			phone := start(t)
			r := transfersIn(t, &net.ListenConfig{})
			r.trunk = &sip.Trunk{Host: phone.Address(), Transport: "udp"}
			c, heard, err := r.ring(r.caller(), lineNumber, "34600110077")
			if err != nil {
				t.Fatal(err)
			}
			r.until("the question", func() bool { return len(heard()) >= 8000 })
			c.SendDigits("1")
			whisper := noise(spoken.Text(whispered, "en"))
			r.until("the whisper", func() bool { return shareOf(phone.Heard(), whisper[:beginning]) >= mostly })
			before := len(heard())
			phone.Press('1')
			r.connected()
			if early := shareOf(theirs, heard()[:before]); early > 0 {
				t.Errorf("level %.2f at the caller before the desk takes the call, want silence", early)
			}
			mine := noise("The caller says this again and again, until the desk has heard it.")
			r.until("the caller's words at the desk", func() bool {
				_ = c.Write(mine) // while it fits
				return ends(phone.Heard(), mine)
			})
			r.until("the desk's words at the caller", func() bool { return ends(heard()[before:], theirs) })
			phone.HangUp()
			r.says(returned)
			c.HangUp(t.Context())
			rec := r.ended()
			if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " taken"}) || rec.EndedBy != "caller" {
				t.Errorf("%q, %+v", got, rec)
			}
			left, right := r.sides(&diary{recorded: rec.Recording})
			if of, on := shareOf(left, mine[:beginning]), shareOf(right, mine[:beginning]); of < mostly || on > 0 {
				t.Errorf("the recording has %.2f of the caller on the left, %.2f on the right", of, on)
			}
		})
	}
}

func TestBaresipFollowsAREFER(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	theirs := noise(strings.Repeat("The caller speaks from the beginning of the call. ", 40))
	phone := siptest.NewBaresip(t, "34600110077", theirs, "")
	r := transfersIn(t, &net.ListenConfig{})
	there := r.answering(nil)
	r.trunk.Refer = true
	phone.Call("sip:" + lineNumber + "@" + r.engine.Address().String())
	r.until("the question", func() bool { return len(phone.Heard()) >= 8000 })
	phone.Press('1')
	far := there.answered(t)
	r.until("the caller's words at the desk", func() bool { return ends(there.sound(), theirs) })
	rec := r.ended()
	got, modes := r.outcomes(rec), r.modes(rec)
	if !slices.Equal(got, []string{desk + " taken"}) || !slices.Equal(modes, []string{"refer"}) {
		t.Errorf("%q, %q", got, modes)
	}
	if rec.EndedBy != "agent" {
		t.Errorf("%+v", rec)
	}
	far.HangUp(t.Context())
}
