package telephone_test

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/call/rtp/rtptest"
	"carillon/internal/call/sip"
	"carillon/internal/store/calls"
)

// referee is a caller behind a telephone company that follows REFER: a peer made by hand, which fails a test if it gets
// what RFC 3261, RFC 3515 and RFC 5589 do not allow.
type referee struct {
	t     *testing.T
	conn  net.PacketConn
	to    net.Addr
	came  chan string // requests
	reply chan string // final responses

	head string // of requests within the call
	seq  int
}

var (
	referTo    = regexp.MustCompile(`(?m)^Refer-To: <sip:([0-9]+)@[^>]+>\r$`)
	referredBy = regexp.MustCompile(`(?m)^Referred-By: <sip:` + lineNumber + `@[^>]+>\r$`)
	soundPort  = regexp.MustCompile(`m=audio ([0-9]+) `)
)

// calls calls a line of the rig.
func (r *rig) referee(n *rtptest.Network) *referee {
	r.t.Helper()
	open := func() net.PacketConn {
		c, err := n.ListenPacket(r.t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = c.Close() })
		return c
	}
	x := &referee{t: r.t, conn: open(), came: make(chan string, 8), reply: make(chan string, 8), seq: 1}
	x.to = net.UDPAddrFromAddrPort(r.engine.Address())
	sound := open()
	r.opened.Store(r.Telephone)
	go x.hear()
	const tag = "peer"
	own := x.conn.LocalAddr().String()
	to := fmt.Sprintf("<sip:%s@%s>", lineNumber, x.to)
	x.head = fmt.Sprintf("Via: SIP/2.0/UDP %s;branch=z9hG4bK-%%s\r\nFrom: <sip:34600110077@%s>;tag=%s\r\nTo: %s\r\nCall-ID: referred\r\n"+
		"Max-Forwards: 70\r\nContact: <sip:peer@%s>\r\n", own, own, tag, to, own)
	body := fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n"+
		"a=rtpmap:0 PCMU/8000\r\n", sound.LocalAddr().(*net.UDPAddr).Port)
	x.send("INVITE", "Content-Type: application/sdp\r\n", body)
	ok := await(r.t, x.reply)
	if !strings.HasPrefix(ok, "SIP/2.0 200 ") {
		r.t.Fatal(ok)
	}
	x.head = strings.Replace(x.head, "To: "+to, "To: "+header(ok, "To"), 1)
	x.seq--
	x.send("ACK", "", "")
	port, err := strconv.Atoi(soundPort.FindStringSubmatch(ok)[1])
	if err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	r.t.Cleanup(func() { <-ended })
	go func() { // silence
		defer close(ended)
		packet := append([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, slices.Repeat([]byte{0xff}, 160)...)
		for i := 0; r.t.Context().Err() == nil; i++ {
			packet[2], packet[3] = byte(i>>8), byte(i)
			packet[5], packet[6], packet[7] = byte(i*160>>16), byte(i*160>>8), byte(i*160)
			if _, err := sound.WriteTo(packet, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return x
}

// header returns the value of a header.
func header(message, name string) string {
	_, value, _ := strings.Cut(message, "\r\n"+name+": ")
	value, _, _ = strings.Cut(value, "\r\n")
	return value
}

// hear passes on requests, once each, and final responses.
func (x *referee) hear() {
	seen := map[string]bool{}
	for b := make([]byte, 65536); ; {
		n, _, err := x.conn.ReadFrom(b)
		if err != nil {
			return
		}
		text := string(b[:n])
		first, _, _ := strings.Cut(text, " ")
		switch {
		case seen[header(text, "CSeq")+header(text, "Via")+text[:12]], strings.HasPrefix(text, "SIP/2.0 1"):
		case first == "SIP/2.0":
			x.reply <- text
		default:
			x.came <- text
		}
		seen[header(text, "CSeq")+header(text, "Via")+text[:12]] = true
	}
}

func (x *referee) send(method, headers, body string) {
	x.seq++
	text := fmt.Sprintf("%s sip:%s@%s SIP/2.0\r\n", method, lineNumber, x.to) + fmt.Sprintf(x.head, strconv.Itoa(x.seq)+method) +
		fmt.Sprintf("CSeq: %d %s\r\n%sContent-Length: %d\r\n\r\n%s", x.seq, method, headers, len(body), body)
	if _, err := x.conn.WriteTo([]byte(text), x.to); err != nil {
		x.t.Error(err)
	}
}

// asks sends a request within the call, to which 200 must be the response.
func (x *referee) asks(method, headers, body string) {
	x.t.Helper()
	x.send(method, headers, body)
	if got := await(x.t, x.reply); !strings.HasPrefix(got, "SIP/2.0 200 ") {
		x.t.Errorf("%s: %s", method, got)
	}
}

// presses presses a key.
func (x *referee) presses(key string) {
	x.t.Helper()
	x.asks("INFO", "Content-Type: application/dtmf-relay\r\n", "Signal="+key+"\r\nDuration=160\r\n")
}

// gets waits for a request, and responds.
func (x *referee) gets(method, status string) string {
	x.t.Helper()
	r := await(x.t, x.came)
	if !strings.HasPrefix(r, method+" ") {
		x.t.Errorf("not a %s: %s", method, r)
	}
	head := "SIP/2.0 " + status + "\r\n"
	for _, name := range []string{"Via", "From", "To", "Call-ID", "CSeq"} {
		head += name + ": " + header(r, name) + "\r\n"
	}
	head += "Contact: <sip:peer@" + x.conn.LocalAddr().String() + ">\r\nContent-Length: 0\r\n\r\n"
	if _, err := x.conn.WriteTo([]byte(head), x.to); err != nil {
		x.t.Error(err)
	}
	return r
}

// referred accepts a REFER to a number, and reports.
func (x *referee) referred(number string, reports ...string) {
	x.t.Helper()
	r := x.gets("REFER", "202 Accepted")
	if to := referTo.FindStringSubmatch(r); len(to) != 2 || to[1] != number || !referredBy.MatchString(r) {
		x.t.Errorf("not referred to %s: %s", number, r)
	}
	for _, status := range reports {
		state := "active;expires=60"
		if status >= "2" {
			state = "terminated;reason=noresource"
		}
		x.asks("NOTIFY", "Event: refer;id="+strings.TrimSuffix(header(r, "CSeq"), " REFER")+"\r\nSubscription-State: "+state+
			"\r\nContent-Type: message/sipfrag;version=2.0\r\n", "SIP/2.0 "+status+"\r\n")
	}
}

// refers returns a rig whose line refers calls, and its caller, who asks for a transfer. The desk answers calls from here.
func refers(t *testing.T, numbers ...string) (r *rig, x *referee, there *colleague) {
	t.Helper()
	n := &rtptest.Network{}
	r = transfersIn(t, n)
	r.agent.Transfer.Number, r.agent.Transfer.Numbers = "", numbers
	there = r.answering(nil)
	r.trunk.Refer = true
	x = r.referee(n)
	time.Sleep(time.Second)
	x.presses("1")
	return r, x, there
}

// modes returns the modes and causes of a call's transfers.
func (r *rig) modes(rec *calls.IncomingCall) (all []string) {
	r.t.Helper()
	for _, l := range r.legs(rec.ConversationID) {
		all = append(all, strings.TrimSpace(string(l.Mode)+" "+l.Cause))
	}
	return all
}

func TestTheTelephoneCompanyTransfersACall(t *testing.T) {
	t.Parallel()
	const ringing, taken, busy, gone = "180 Ringing", "200 OK", "486 Busy Here", "503 Service Unavailable"
	bye := func(x *referee) { x.gets("BYE", "200 OK") }
	for name, c := range map[string]struct {
		act             func(x *referee)
		outcomes, modes []string
	}{
		"taken": {func(x *referee) {
			x.referred(desk, "100 Trying", ringing, taken)
			bye(x)
		}, []string{desk + " taken"}, []string{"refer"}},
		"by the second number": {func(x *referee) {
			x.referred(desk, ringing, busy)
			x.referred(otherDesk, taken)
			bye(x)
		}, []string{desk + " busy", otherDesk + " taken"}, []string{"refer " + busy, "refer"}},
		"taken over before the answer": {func(x *referee) {
			x.referred(desk, ringing)
			x.asks("BYE", "", "")
		}, []string{desk + " taken"}, []string{"refer"}},
		"the caller hangs up": {func(x *referee) {
			x.referred(desk)
			x.asks("BYE", "", "")
		}, []string{desk + " caller_left"}, []string{"refer"}},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r, x, there := refers(t, desk, otherDesk)
				c.act(x)
				rec := r.ended()
				if got, modes := r.outcomes(rec), r.modes(rec); !slices.Equal(got, c.outcomes) || !slices.Equal(modes, c.modes) {
					t.Errorf("%q, %q", got, modes)
				}
				by := "agent"
				if name == "the caller hangs up" {
					by = "caller"
				}
				if rec.EndedBy != by || rec.State != carillon.StateCompleted || len(there.calls) > 0 {
					t.Errorf("%+v, %d calls of the desk", rec, len(there.calls))
				}
			})
		})
	}
}

func TestASecondLegFollowsAFailedREFER(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act   func(x *referee)
		cause string
	}{
		"refused":         {func(x *referee) { x.gets("REFER", "603 Decline") }, "REFER: 603 Decline"},
		"unknown":         {func(x *referee) { x.gets("REFER", "405 Method Not Allowed") }, "REFER: 405 Method Not Allowed"},
		"no such number":  {func(x *referee) { x.referred(desk, "404 Not Found") }, "404 Not Found"},
		"failed":          {func(x *referee) { x.referred(desk, "100 Trying", "503 Service Unavailable") }, "503 Service Unavailable"},
		"no report":       {func(x *referee) { x.referred(desk) }, "REFER: " + sip.ErrUnreported.Error()},
		"no final report": {func(x *referee) { x.referred(desk, "180 Ringing") }, "REFER: " + sip.ErrUnreported.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r, x, there := refers(t, desk)
				c.act(x)
				far := there.takes(t)
				x.presses("5")
				if d := await(t, far.Digits()); d != '5' {
					t.Errorf("the key %c", d)
				}
				x.asks("BYE", "", "")
				r.over(far)
				rec := r.ended()
				if got, modes := r.outcomes(rec), r.modes(rec); !slices.Equal(got, []string{desk + " failed", desk + " taken"}) ||
					!slices.Equal(modes, []string{"refer " + c.cause, "bridge BYE"}) {
					t.Errorf("%q, %q", got, modes)
				}
			})
		})
	}
}

func TestACallerReturnsToTheAgentDuringAREFER(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r, x, _ := refers(t, desk)
		x.referred(desk, "180 Ringing")
		x.presses("#")
		r.says(returned)
		x.asks("BYE", "", "")
		rec := r.ended()
		if got := r.outcomes(rec); !slices.Equal(got, []string{desk + " caller_returned"}) || rec.EndedBy != "caller" {
			t.Errorf("%q, %+v", got, rec)
		}
	})
}
