package sip

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/audio"
)

// soundOf is a description with other lines in place of the ordinary ones.
func soundOf(step string, media ...string) string {
	head, _, _ := strings.Cut(sippSound, "m=audio")
	return strings.Replace(step, sippSound, head+strings.Join(media, "\r\n")+"\r\n", 1)
}

var (
	lawA   = []string{"m=audio [media_port] RTP/AVP 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000"}
	events = []string{"m=audio [media_port] RTP/AVP 0 96", "a=rtpmap:96 telephone-event/8000"}
)

// refusedACK acknowledges a refusal of the INVITE.
var refusedACK = send("ACK sip:[service]@[remote_ip]:[remote_port] SIP/2.0\r\n[last_Via:]\r\n[last_From:]\r\n[last_To:]\r\n"+
	"[last_Call-ID:]\r\nCSeq: 1 ACK\r\nMax-Forwards: 70\r\n", false)

// silentInvite is an INVITE without an offer, whose 200 is acknowledged by the given step.
func silentInvite(ack string) []string {
	steps := invite()
	steps[0] = strings.Replace(strings.Replace(steps[0], sippSound, "", 1), "Content-Type: application/sdp\r\n", "", 1)
	steps[len(steps)-1] = ack
	return steps
}

// answerOf is an ACK with a description.
func answerOf(number int, media ...string) string {
	return soundOf(strings.Replace(ask("ACK", number, true), `<send retrans="500">`, "<send>", 1), media...)
}

func TestPeersOfferInEveryWay(t *testing.T) {
	t.Parallel()
	const second = time.Millisecond
	bye := []string{pause(300 * second), ask("BYE", 9, false), recv("200")}
	change := func(media ...string) []string {
		return []string{pause(100 * second), soundOf(ask("INVITE", 2, true), media...), recv("200"), acknowledge(2)}
	}
	for _, c := range []struct {
		name    string
		steps   [][]string
		law     audio.Law
		events  uint8
		refused bool
	}{
		{"no offer in the INVITE", [][]string{silentInvite(answerOf(1, lawA...)), bye}, audio.A, 101, false},
		{"no offer in the INVITE, and no answer in the ACK", [][]string{
			silentInvite(acknowledge(1)), {recv("BYE"), within("200 OK", false)},
		}, audio.Mu, 101, true},
		{"another law", [][]string{invite(), change(lawA...), bye}, audio.A, 101, false},
		{"another number of events", [][]string{invite(), change(events...), bye}, audio.Mu, 96, false},
		{"no offer in a re-INVITE", [][]string{
			invite(), {pause(100 * second), ask("INVITE", 2, false), recv("200"), answerOf(2, lawA...)}, bye,
		}, audio.A, 101, false},
		{"no offer in a re-INVITE, and no answer in the ACK", [][]string{
			invite(), {pause(100 * second), ask("INVITE", 2, false), recv("200"), acknowledge(2)}, bye,
		}, audio.Mu, 101, false},
		{"video first", [][]string{
			invite(), change(slices.Concat([]string{"m=video 9 RTP/AVP 96", "a=rtpmap:96 H264/90000"}, lawA)...), bye,
		}, audio.A, 101, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				type result struct {
					call *Call
					err  error
				}
				answered := make(chan result, 1)
				e := engine(t, Options{Network: n, Second: second, OnCall: func(in *Incoming) {
					go func() {
						call, err := in.Answer(context.Background(), nil)
						answered <- result{call, err}
					}()
				}})
				s := caller(t, n, e, slices.Concat(c.steps...)...)
				r := await(t, answered)
				if (r.err != nil) != c.refused {
					t.Fatal(r.err)
				}
				if r.call != nil {
					ended(t, r.call)
					r.call.mu.Lock()
					if x := r.call.far; x.law() != c.law || x.digits != c.events || r.call.held {
						t.Errorf("law %v, events %d, held %v", x.law(), x.digits, r.call.held)
					}
					r.call.mu.Unlock()
				}
				s.done()
			})
		})
	}
}

func TestPeersAnswerInThe183Alone(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		s := callee(t, n, nil, invited, reply("183 Session Progress", true), pause(50*time.Millisecond), reply("200 OK", false),
			recv("ACK"), pause(50*time.Millisecond), ask("BYE", 2, false), recv("200"))
		e := engine(t, Options{Network: n})
		c, err := dial(t, e, Dial{Trunk: s.trunk()})
		if err != nil {
			t.Fatal(err)
		}
		if cause := ended(t, c); cause.By != Them {
			t.Errorf("%+v", cause)
		}
		s.done()
	})
}

// The 200 has another law than the 183, and the sound follows it.
func TestPeersAnswerOtherwiseThanInThe183(t *testing.T) {
	withPeers(t, func(t *testing.T, n Network) {
		s := callee(t, n, nil, invited, reply("183 Session Progress", true), pause(50*time.Millisecond),
			soundOf(reply("200 OK", true), lawA...), recv("ACK"), pause(200*time.Millisecond), ask("BYE", 2, false), recv("200"))
		e := engine(t, Options{Network: n})
		c, err := dial(t, e, Dial{Trunk: s.trunk()})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, c)
		if c.far.law() != audio.A {
			t.Error("the law of the 183 stays")
		}
		if a, ok := s.(*actor); ok && a.payload.Load() != payloadA {
			t.Errorf("the last sound has the payload type %d", a.payload.Load())
		}
		s.done()
	})
}

func TestPeersRequireWhatIsNotKnown(t *testing.T) {
	for _, require := range []string{"100rel", "timer, foo"} {
		t.Run(require, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				e := engine(t, Options{Network: n, OnCall: func(*Incoming) { t.Error("it rings") }})
				steps := invite("Require: " + require)
				s := caller(t, n, e, steps[0], `<recv response="100" optional="true"/>`, recv("420"),
					refusedACK)
				s.done()
				unknown := require[strings.LastIndexByte(require, ' ')+1:]
				if !strings.Contains(s.exchanged(), "Unsupported: "+unknown+"\r\n") {
					t.Errorf("no Unsupported: %s", unknown)
				}
			})
		})
	}
}

func TestEveryStreamOfAnOfferIsAnswered(t *testing.T) {
	t.Parallel()
	own := propose(addressOf("192.0.2.1"), 4000, false)
	for _, c := range []struct {
		offer []string
		want  []string // beginnings of the media lines of the answer, if there is sound
	}{
		{[]string{"m=audio 9000 RTP/AVP 0"}, []string{"m=audio 4000 RTP/AVP 0"}},
		{[]string{"m=audio 9000 RTP/AVP 8 0", "m=video 9002 RTP/AVP 31"}, []string{"m=audio 4000 RTP/AVP 8", "m=video 0 RTP/AVP 31"}},
		{[]string{"m=video 9002 RTP/AVP 31 34", "m=audio 9000 RTP/AVP 0"}, []string{"m=video 0 RTP/AVP 31 34", "m=audio 4000 RTP/AVP 0"}},
		{[]string{"m=audio 9000 RTP/AVP 0", "m=image 9004 udptl t38"}, []string{"m=audio 4000 RTP/AVP 0", "m=image 0 udptl t38"}},
		{ // encryption that is not known here, then none
			[]string{"m=audio 9000 RTP/SAVP 0", "a=crypto:1 AEAD_AES_256_GCM inline:x", "m=audio 9002 RTP/AVP 8"},
			[]string{"m=audio 0 RTP/SAVP 0", "m=audio 4000 RTP/AVP 8"},
		},
		{[]string{"m=audio 0 RTP/AVP 0", "m=audio 9002 RTP/AVP 8"}, []string{"m=audio 0 RTP/AVP 0", "m=audio 4000 RTP/AVP 8"}},
		{[]string{"m=audio 9000 RTP/AVP 18", "m=audio 9002 RTP/AVP 0"}, []string{"m=audio 0 RTP/AVP 18", "m=audio 4000 RTP/AVP 0"}},
		{[]string{"m=video 9002 RTP/AVP 31"}, nil},
		{slices.Repeat([]string{"m=video 9002 RTP/AVP 31"}, maxMedia+1), nil},
		{[]string{"m=video 9002 RTP/AVP 31\x01", "m=audio 9000 RTP/AVP 0"}, nil},
	} {
		const head = "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\n"
		far, err := parse(head + strings.Join(c.offer, "\r\n") + "\r\n")
		if (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v", c.offer, err)
			continue
		}
		if err != nil {
			continue
		}
		var got []string
		for line := range strings.Lines(far.answer(own).String()) {
			if strings.HasPrefix(line, "m=") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		matches := func(a, b string) bool { return strings.HasPrefix(a, b) }
		if !slices.EqualFunc(got, c.want, matches) {
			t.Errorf("%q is answered by %q", c.offer, got)
		}
	}
}

func TestNumbersInEveryForm(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{
		"15555550100": "15555550100", "+15555550100": "15555550100", "%2B15555550100": "15555550100",
		"+15555550100;npdi=yes": "15555550100", "15555550100;rn=+14165550199;npdi": "15555550100", "+1-555-555-0100": "15555550100",
		"(1)555.555.0100": "15555550100", "+1%20555%205550100": "15555550100", "15555550100%3Bcpc=ordinary": "15555550100",
		"": "", "anonymous": "", "+": "", "1555a": "", "%zz": "", "123456789012345678901": "", ";npdi": "",
	} {
		if got := Number(user); got != want {
			t.Errorf("%q: %q, not %q", user, got, want)
		}
	}
	for value, want := range map[string]string{
		`"Ana" <sip:+34600111222@example.com;user=phone>;tag=1`: "+34600111222",
		`<sip:+34600111222;cpc=ordinary@example.com>`:           "+34600111222;cpc=ordinary",
		`sip:34600111222@example.com;tag=1`:                     "34600111222",
		`<tel:+34-600-111-222;phone-context=x>`:                 "+34-600-111-222;phone-context=x",
		`<sip:example.com>`:                                     "",
		`"Ana`:                                                  "",
	} {
		if got := userOf(value); got != want {
			t.Errorf("%q: %q, not %q", value, got, want)
		}
	}
}

// The network names the caller, who may want to stay unknown.
func TestPeersNameTheCaller(t *testing.T) {
	const asserted = `P-Asserted-Identity: "Ana" <sip:+34600111222@trunk.example>, <tel:+34600111333>`
	for _, c := range []struct {
		name    string
		headers []string
		want    []string
	}{
		{"asserted", []string{asserted}, []string{"+34600111222", "+34600111333", "peer"}},
		{"private", []string{asserted, "Privacy: id;critical"}, []string{"peer"}},
		{"not asserted", []string{"Privacy: none"}, []string{"peer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				callers := make(chan []string, 1)
				e := engine(t, Options{Network: n, OnCall: func(in *Incoming) {
					callers <- in.Callers()
					in.Refuse(486, "Busy Here")
				}})
				steps := invite(c.headers...)
				s := caller(t, n, e, steps[0], steps[1], recv("486"), refusedACK)
				if got := await(t, callers); !slices.Equal(got, c.want) {
					t.Errorf("%q, not %q", got, c.want)
				}
				s.done()
			})
		})
	}
}
