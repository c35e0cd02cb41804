package telephone_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/call/handset"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
)

const trialText = "This is a test call from Acme. The phone line works. Goodbye."

func (r *rig) try(ctx context.Context, number string) (e telephone.TrialEnd, steps []string) {
	e = r.Try(ctx, r.line(), telephone.Trial{
		Number: number, Language: "en", Company: "Acme", Speaker: r, Show: func(s telephone.TrialStep) {
			way := "<"
			if s.Ours {
				way = ">"
			}
			steps = append(steps, way+s.Text)
		},
	})
	return e, steps
}

func TestATrialSaysASentenceAndShowsWhatHappened(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		e, steps := r.try(t.Context(), "34600111234")
		if e.Problem != telephone.TrialWell || !e.Answered || e.Packets == 0 || e.Talked < time.Second {
			t.Fatalf("%+v", e)
		}
		if len(steps) != 5 || !strings.HasPrefix(steps[0], ">INVITE ") ||
			!slices.Equal(steps[1:], []string{"<180 Ringing", "<200 OK", ">ACK", ">BYE"}) {
			t.Errorf("%q", steps)
		}
		heard := r.phone.Heard("34600111234")
		if len(heard) != 1 {
			t.Fatal("it was not heard")
		}
		if ncc := within(heard[0].Sound(), noise(trialText)); ncc < clear {
			t.Errorf("the sentence is heard by %.3f", ncc)
		}
	})
}

func TestATrialWithoutAVoiceSoundsTwoTones(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		x := telephone.Trial{Number: "34600111234", Language: "de", Company: "Acme", Show: func(telephone.TrialStep) {}}
		if e := r.Try(t.Context(), r.line(), x); e.Problem != telephone.TrialWell {
			t.Errorf("%+v", e)
		}
		heard := r.phone.Heard("34600111234")
		if len(heard) != 1 {
			t.Fatal("it was not heard")
		}
		pcm := heard[0].Sound()
		for _, hertz := range []float64{880, 660} {
			tone := make([]int16, 3200)
			for i := range tone {
				tone[i] = int16(6000 * math.Sin(2*math.Pi*hertz*float64(i)/8000))
			}
			if ncc := within(pcm, tone); ncc < clear {
				t.Errorf("a tone of %v Hz is heard by %.3f", hertz, ncc)
			}
		}
	})
}

func TestATrialSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]string{
		"0001": telephone.TrialNumber, "0002": telephone.TrialFault, "0011": telephone.TrialBusy, "0012": telephone.TrialUnanswered,
		"0013": telephone.TrialDeclined, "0015": telephone.TrialSound, "0017": telephone.TrialCut,
	} {
		t.Run(suffix, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				if e, steps := r.try(t.Context(), "3460011"+suffix); e.Problem != want || len(steps) < 2 {
					t.Errorf("%+v, %q", e, steps)
				}
			})
		})
	}
}

// peered directs calls to a telephone company that handles them with take.
func (r *rig) peered(take func(in *sip.Incoming)) {
	r.t.Helper()
	r.trunk = &sip.Trunk{Host: r.engineThat(take).Address().String(), Transport: "udp"}
}

func TestATrialOfATrunkThatIsSetUpWrong(t *testing.T) {
	t.Parallel()
	refuses := func(code int) func(r *rig) {
		return func(r *rig) { r.peered(func(in *sip.Incoming) { in.Refuse(code, "Because") }) }
	}
	for name, x := range map[string]struct {
		set  func(r *rig)
		want string
	}{
		"password":  {refuses(401), telephone.TrialPassword},
		"proxy":     {refuses(407), telephone.TrialPassword},
		"forbidden": {refuses(403), telephone.TrialForbidden},
		"odd":       {refuses(402), telephone.TrialRefused},
		"unreachable": {func(r *rig) {
			r.trunk = &sip.Trunk{Host: r.socket().LocalAddr().String(), Transport: "udp"}
		}, telephone.TrialUnreachable},
		"closed": {func(r *rig) { r.trunk = &sip.Trunk{Host: "127.0.0.1:1", Transport: "tcp"} }, telephone.TrialUnreachable},
		"denied": {func(r *rig) { r.trunk = &sip.Trunk{Host: "127.0.0.1:1", Transport: "udp", Public: true} }, telephone.TrialDenied},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, robin())
				x.set(r)
				if e, steps := r.try(t.Context(), "34600111234"); e.Problem != x.want {
					t.Errorf("%+v, %q", e, steps)
				}
			})
		})
	}
}

// socket returns a socket that receives everything and sends nothing.
func (r *rig) socket() net.PacketConn {
	r.t.Helper()
	c, err := r.network.ListenPacket(r.t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestATrialIsGivenUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		r.peered(func(in *sip.Incoming) {
			_ = in.Progress(180, "Ringing")
			time.AfterFunc(50*time.Millisecond, cancel)
			<-in.Gone()
			close(gone)
		})
		if e, steps := r.try(ctx, "34600111234"); e.Problem != telephone.TrialCanceled || !slices.Contains(steps, ">CANCEL") {
			t.Errorf("%+v, %q", e, steps)
		}
		await(t, gone)
	})
}

func TestATrialThatHearsNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		mute := r.socket()
		r.trunk = &sip.Trunk{Host: mute.LocalAddr().String(), Transport: "udp"}
		go answerMutely(mute)
		if e, steps := r.try(t.Context(), "34600111234"); e.Problem != telephone.TrialSilent || !e.Answered {
			t.Errorf("%+v, %q", e, steps)
		}
	})
}

// answerMutely simulates a telephone company whose sound does not arrive.
func answerMutely(conn net.PacketConn) {
	b := make([]byte, 65_536)
	for {
		n, from, err := conn.ReadFrom(b)
		if err != nil {
			return
		}
		head, _, _ := strings.Cut(string(b[:n]), "\r\n\r\n")
		method, _, _ := strings.Cut(head, " ")
		if method == "ACK" {
			continue
		}
		var kept []string
		for _, line := range strings.Split(head, "\r\n")[1:] {
			name, _, _ := strings.Cut(line, ":")
			switch strings.ToLower(name) {
			case "via", "from", "call-id", "cseq":
				kept = append(kept, line)
			case "to":
				kept = append(kept, line+";tag=far")
			}
		}
		body := ""
		if method == "INVITE" {
			kept = append(kept, "Contact: <sip:far@"+conn.LocalAddr().String()+">", "Content-Type: application/sdp")
			body = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtpmap:0 " +
				"PCMU/8000\r\n"
		}
		kept = append(kept, fmt.Sprintf("Content-Length: %d", len(body)))
		_, _ = conn.WriteTo([]byte("SIP/2.0 200 OK\r\n"+strings.Join(kept, "\r\n")+"\r\n\r\n"+body), from)
	}
}

// In the sandbox, only its company sees a call that tests a line, and the call has no ID.
func TestCallsToThePhoneAreOfTheirCompanyAlone(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, robin())
		if e, _ := r.place("0011"); e.State != carillon.StateBusy {
			t.Fatalf("%+v", e)
		}
		if e, _ := r.try(t.Context(), "34600110013"); e.Problem != telephone.TrialDeclined {
			t.Fatalf("%+v", e)
		}
		all := r.phone.Calls(r.company)
		if len(all) != 2 || all[1].Call != "call" || all[1].Suffix != "0011" || all[0].Call != "" || all[0].State().Code != 603 ||
			all[1].State().Code != 486 {
			t.Errorf("%d calls: %+v", len(all), all)
		}
		if n := len(r.phone.Calls("another")) + len(r.phone.Calls("")); n != 0 {
			t.Errorf("others see %d calls", n)
		}
	})
}

// trunkOf returns the trunk and the headers of the rig's calls.
func (r *rig) trunkOf(line *carillon.Sender, c *dial.Call) (sip.Trunk, map[string]string, error) {
	if r.unknown != nil {
		return sip.Trunk{}, nil, r.unknown
	}
	if r.trunk != nil {
		return *r.trunk, nil, nil
	}
	return sip.Trunk{Host: r.phone.Address(), Transport: "udp"}, map[string]string{
		handset.AttemptHeader: strconv.Itoa(c.Attempt), handset.CompanyHeader: line.CompanyID, handset.CallHeader: c.ID,
	}, nil
}
