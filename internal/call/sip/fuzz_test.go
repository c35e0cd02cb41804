package sip

import (
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/call/rtp"
)

func FuzzDescription(f *testing.F) {
	f.Add(propose(netip.MustParseAddr("127.0.0.1"), 4000, true).String())
	f.Add(propose(netip.MustParseAddr("::1"), 4000, false).String())
	f.Add("v=0\r\nc=IN IP4 0.0.0.0\r\nm=audio 9 RTP/AVP 96 8\r\na=rtpmap:96 telephone-event/8000\r\na=inactive\r\nm=video 3 RTP/AVP 99\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse(text)
		if err != nil {
			return
		}
		again, err := parse(d.String())
		if err != nil {
			t.Fatalf("%v of\n%s", err, d)
		}
		if !reflect.DeepEqual(d.payloads[:1], again.payloads[:1]) || d.remote() != again.remote() || d.secure != again.secure ||
			d.direction != again.direction {
			t.Errorf("%+v is read as %+v", d, again)
		}
		if _, err := parse(d.answer(propose(netip.MustParseAddr("127.0.0.1"), 4000, d.secure)).String()); err != nil {
			t.Errorf("our answer: %v", err)
		}
		_ = d.held()
	})
}

// deaf is a transaction whose responses are discarded.
type deaf struct {
	sip.ServerTransaction
	done chan struct{}
}

func (d deaf) Respond(*sip.Response) error        { return nil }
func (d deaf) Done() <-chan struct{}              { return d.done }
func (d deaf) OnCancel(sip.FnTxCancel) bool       { return true }
func (d deaf) Acks() <-chan *sip.Request          { return nil }
func (d deaf) OnTerminate(sip.FnTxTerminate) bool { return true }

// Any request to the engine gets a response, whether it is for an existing call or not.
func FuzzRequest(f *testing.F) {
	head := " sip:1@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1\r\nFrom: " +
		"<sip:2@127.0.0.1>;tag=theirs\r\nTo: <sip:1@127.0.0.1>;tag=ours\r\n" +
		"Call-ID: known\r\nContact: <sip:2@127.0.0.1>\r\nRecord-Route: <sip:127.0.0.1;lr>, <sip:x>\r\nCSeq: 2 "
	sound := propose(netip.MustParseAddr("127.0.0.1"), 4000, false).String()
	for method, rest := range map[string]string{
		"INVITE": "\r\nSession-Expires: 90;refresher=uac\r\nSupported: timer\r\nContent-Type: application/sdp\r\n\r\n" + sound,
		"UPDATE": "\r\nx: 1800\r\n\r\n", "BYE": "\r\nReason: SIP;text=\"x\"\r\n\r\n", "ACK": "\r\n\r\n", "OPTIONS": "\r\n\r\n",
		"CANCEL": "\r\n\r\n",
		"NOTIFY": "\r\nEvent: refer;id=1\r\nSubscription-State: active\r\nContent-Type: message/sipfrag\r\n\r\nSIP/2.0 200 OK\r\n",
		"INFO":   "\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=5\r\nDuration=160\r\n",
	} {
		f.Add([]byte(method + head + method + rest))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := sip.ParseMessage(b)
		if err != nil {
			return
		}
		r, ok := m.(*sip.Request)
		if !ok {
			return
		}
		r.SetSource("127.0.0.1:5060")
		r.SetTransport("UDP")
		e := &Engine{
			o: Options{Log: slog.New(slog.DiscardHandler), Second: 1 << 40}, address: netip.MustParseAddrPort("127.0.0.1:5060"),
			calls: map[string]*Call{}, referrals: map[string]*referral{},
		}
		e.edge = newEdge(&e.o)
		e.o.OnCall = func(in *Incoming) {
			_, _ = in.Header("X"), in.dialog("127.0.0.1")
			in.Refuse(486, "Busy Here")
		}
		conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		far, _ := parse(sound)
		s, err := rtp.New(rtp.Options{Conn: conn, Coding: rtp.Coding{Digits: 101}})
		if err != nil {
			t.Fatal(err)
		}
		local, remote := &sip.FromHeader{Params: sip.NewParams()}, &sip.ToHeader{Params: sip.NewParams()}
		local.Params.Add("tag", "ours")
		remote.Params.Add("tag", "theirs")
		c := e.newCall(&dialog{e: e, callID: "known", local: local, remote: remote}, s,
			propose(netip.MustParseAddr("127.0.0.1"), 4000, false), far)
		c.timer.call = c
		defer c.over(Cause{By: System})
		defer e.refers(&referral{call: c, seq: 1, begun: make(chan struct{}, 1), result: make(chan report, 1)})()
		tx := deaf{done: make(chan struct{})}
		close(tx.done)
		handlers := map[sip.RequestMethod]func(*sip.Request, sip.ServerTransaction){
			sip.INVITE: e.invited, sip.ACK: e.acknowledged, sip.BYE: e.ended, sip.CANCEL: late, sip.UPDATE: e.change, sip.INFO: e.informed,
			sip.OPTIONS: asked, sip.NOTIFY: e.notified,
		}
		if h := handlers[r.Method]; h != nil {
			h(r, tx)
		}
	})
}

// Any response to an INVITE is parsed, and the resulting requests can be sent.
func FuzzResponse(f *testing.F) {
	head := "\r\nVia: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1\r\nFrom: <sip:2@127.0.0.1>;tag=ours\r\nTo: " +
		"<sip:1@127.0.0.1>;tag=theirs\r\nCall-ID: known\r\nCSeq: 1 INVITE\r\n"
	sound := "Contact: <sip:peer@127.0.0.1:5070;transport=tcp>\r\nRecord-Route: <sip:127.0.0.1;lr>, <sip:x>\r\nContent-Type: " +
		"application/sdp\r\n\r\n" +
		propose(netip.MustParseAddr("127.0.0.1"), 4000, false).String()
	for status, rest := range map[string]string{
		"180 Ringing": "\r\n", "183 Session Progress": sound,
		"200 OK": "Session-Expires: 1800;refresher=uac\r\nRequire: timer\r\n" + sound, "486 Busy Here": "\r\n",
		"401 Unauthorized": "WWW-Authenticate: Digest realm=\"x\", nonce=\"1\", algorithm=MD5, qop=\"auth\"\r\n\r\n",
		"407 Proxy Authentication Required": "Proxy-Authenticate: Basic realm=\"x\"\r\nProxy-Authenticate: Digest realm=\"x\", " +
			"nonce=\"1\", stale=true\r\n\r\n",
		"302 Moved Temporarily":          "Contact: <sip:elsewhere@127.0.0.1>;q=0.5, *\r\n\r\n",
		"422 Session Interval Too Small": "Min-SE: 3600\r\n\r\n",
	} {
		f.Add([]byte("SIP/2.0 " + status + head + rest))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := sip.ParseMessage(b)
		if err != nil {
			return
		}
		res, ok := m.(*sip.Response)
		if !ok {
			return
		}
		res.SetSource("127.0.0.1:5060")
		e := &Engine{
			o: Options{Log: slog.New(slog.DiscardHandler), Second: 1 << 40}, address: netip.MustParseAddrPort("127.0.0.1:5060"),
			calls: map[string]*Call{}, ports: ports{network: &net.ListenConfig{}},
		}
		e.edge = newEdge(&e.o)
		trunk := Trunk{Host: "127.0.0.1", Transport: "udp", Username: "robin", Password: "secret"}
		x, err := e.newDialing(t.Context(), Dial{To: "1", From: "2", Trunk: trunk})
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		x.dialog.trunkAt = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		x.invite = x.request()
		switch code := res.StatusCode; {
		case code < 200:
			x.early(res)
		case code < 300:
			d := x.established(res)
			if far, err := parse(string(res.Body())); err == nil && x.sound(far, "127.0.0.1:5060") == nil {
				c := e.newCall(d, x.session, x.own, far)
				c.timer.call = c
				c.timer.agree(res)
				c.follow(far)
				c.over(Cause{By: System})
			}
			if bye := d.request(sip.BYE, nil, "").String(); !strings.HasPrefix(bye, "BYE ") ||
				strings.Index(bye, "\r\n\r\n") != len(bye)-4 {
				t.Errorf("our BYE:\n%s", bye)
			}
		case code == 401, code == 407:
			if again, _ := x.dialog.authorize(x.invite, res); again {
				_, _ = sip.ParseMessage([]byte(x.dialog.withPassword(x.invite).String()))
			}
		default:
			_ = (&Refused{code, short(res.Reason)}).Error()
		}
	})
}
