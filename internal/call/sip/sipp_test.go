package sip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip/siptest"
)

// peer is another telephone implementation that plays a scenario and fails if it meets something else: sipp, or an
// actor in an in-memory network.
type peer interface {
	trunk() Trunk
	// done waits until the scenario has ended.
	done()
	// exchanged returns the messages that the peer sent and received.
	exchanged() string
}

// withPeers runs a test with an actor in fake time, and with sipp, whose network is nil.
func withPeers(t *testing.T, test func(t *testing.T, n Network)) {
	t.Helper()
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		inFakeTime(t, func(t *testing.T, n *rtptest.Network) { test(t, n) })
	})
	t.Run("sipp", func(t *testing.T) {
		need.Sound(t)
		t.Parallel()
		test(t, nil)
	})
}

// callee starts a peer that is called. Each call to it follows the steps.
func callee(t *testing.T, n Network, args []string, steps ...string) peer {
	t.Helper()
	if n != nil {
		return act(t, n, slices.Contains(args, "-rtp_echo"), netip.AddrPort{}, steps)
	}
	s := runSipp(t, args, steps)
	if slices.Contains(args, "t1") {
		siptest.Listens(t, "tcp", s.Port)
	} else {
		siptest.Listens(t, "udp", s.Port)
	}
	return s
}

// caller starts a peer that calls an engine.
func caller(t *testing.T, n Network, e *Engine, steps ...string) peer {
	t.Helper()
	if n != nil {
		return act(t, n, false, e.Address(), steps)
	}
	return runSipp(t, []string{"-s", "15555550100", e.Address().String()}, steps)
}

// sipp is a run of sipp.
type sipp struct{ *siptest.Sipp }

// scenarioOf joins the steps of a scenario.
func scenarioOf(steps []string) string {
	return `<?xml version="1.0" encoding="ISO-8859-1" ?><!DOCTYPE scenario SYSTEM "sipp.dtd"><scenario name="carillon">` +
		strings.Join(steps, "\n") + `</scenario>`
}

func runSipp(t *testing.T, args, steps []string) sipp {
	t.Helper()
	return sipp{siptest.NewSipp(t, scenarioOf(steps), args...)}
}

func (s sipp) trunk() Trunk      { return Trunk{Host: s.Address(), Transport: "udp"} }
func (s sipp) done()             { s.Done() }
func (s sipp) exchanged() string { return s.Exchanged() }

// Steps of scenarios.

func recv(what string, attributes ...string) string {
	kind := "request"
	if what[0] >= '0' && what[0] <= '9' {
		kind = "response"
	}
	return fmt.Sprintf(`<recv %s="%s" %s/>`, kind, what, strings.Join(attributes, " "))
}

// invited handles an INVITE, and stores the values that requests within the call need.
const invited = `<recv request="INVITE" rrs="true"><action>` +
	`<ereg regexp=".*" search_in="hdr" header="From:" assign_to="them"/>` +
	`<ereg regexp="[^;]*" search_in="hdr" header="To:" assign_to="us"/>` +
	`<ereg regexp=".*" search_in="hdr" header="Via:" assign_to="via"/>` +
	`</action></recv><Reference variables="them,us,via"/>`

func pause(d time.Duration) string {
	return fmt.Sprintf(`<pause milliseconds="%d"/>`, d.Milliseconds())
}

const sippSound = "v=0\r\no=- 1 1 IN IP4 [local_ip]\r\ns=-\r\nc=IN IP4 [media_ip]\r\nt=0 0\r\nm=audio [media_port] RTP/AVP 0 101\r\n" +
	"a=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\n"

// reply sends a response, with a description of the sound if sound is set.
func reply(status string, sound bool, headers ...string) string {
	return replyAs("", status, sound, headers...)
}

// replyAs is like reply, from a telephone with another tag.
func replyAs(tag, status string, sound bool, headers ...string) string {
	b := "SIP/2.0 " + status + "\r\n[last_Via:]\r\n[last_From:]\r\n[last_To:];tag=[pid]x[call_number]" + tag +
		"\r\n[last_Call-ID:]\r\n[last_CSeq:]\r\n" +
		"Contact: <sip:peer@[local_ip]:[local_port];transport=[transport]>\r\n"
	for _, h := range headers {
		b += h + "\r\n"
	}
	return send(b, sound)
}

// answerAgain sends another 200 to an acknowledged INVITE.
func answerAgain(tag string) string {
	s := ofInvite(replyAs(tag, "200 OK", true))
	s = strings.Replace(s, "[last_Via:]", "Via:[$via]", 1)
	return strings.Replace(s, "[last_To:]", "To:[$us]", 1)
}

// within responds to a request within the call, whose To header already has our tag.
func within(status string, sound bool, headers ...string) string {
	return strings.Replace(reply(status, sound, headers...), ";tag=[pid]x[call_number]", "", 1)
}

// ask sends a request within the call.
func ask(method string, number int, sound bool, headers ...string) string {
	b := method + " [next_url] SIP/2.0\r\nVia: SIP/2.0/[transport] " +
		"[local_ip]:[local_port];branch=[branch]\r\nFrom:[$us];tag=[pid]x[call_number]\r\nTo:[$them]\r\n" +
		"[last_Call-ID:]\r\nCSeq: " + fmt.Sprint(number) + " " + method +
		"\r\nMax-Forwards: 70\r\nContact: <sip:peer@[local_ip]:[local_port];transport=[transport]>\r\n"
	for _, h := range headers {
		b += h + "\r\n"
	}
	return strings.Replace(send(b, sound), "<send>", `<send retrans="500">`, 1)
}

func send(head string, sound bool) string {
	if sound {
		head += "Content-Type: application/sdp\r\n"
	}
	head += "Content-Length: [len]\r\n\r\n"
	if sound {
		head += sippSound
	}
	return "<send><![CDATA[\r\n" + head + "\r\n]]></send>"
}

// acknowledge sends the ACK of a 200 to an INVITE within the call.
func acknowledge(number int) string {
	return strings.Replace(ask("ACK", number, false), `<send retrans="500">`, "<send>", 1)
}
