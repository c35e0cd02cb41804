package metatest

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
)

// ringing is a call to the business.
type ringing struct {
	peer    *Peer
	conn    net.Conn
	r       *bufio.Reader
	who     Person
	id, tag string
	port    string // address of the business
	sound   *sound
}

// Refused is a final status with which the business refused a call.
type Refused struct{ Code int }

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("refused with %d", r.Code) }

func (x *ringing) routes() []string {
	return []string{
		`<sip:proxy.example.invalid:8191;transport=tls;lr;tag=aB_1>`, `<sip:wa.meta.vc;transport=tls;lr>`,
	}
}

func (x *ringing) uri() string { return "sip:" + x.peer.o.Number + "@" + x.port + ";transport=tls" }

func (x *ringing) invite(number int, more ...string) *message {
	from := cmp.Or(x.who.Number, x.who.UserID)
	m := &message{first: "INVITE " + x.uri() + " SIP/2.0", body: x.sound.description}
	for _, route := range x.routes() {
		m.headers = append(m.headers, "Record-Route: "+route)
	}
	m.headers = append(m.headers,
		fmt.Sprintf("Via: SIP/2.0/TLS %s;branch=z9hG4bK%s%d", x.peer.Address(), x.id, number),
		fmt.Sprintf("From: <sip:%s@%s>;tag=%s", from, Realm, x.tag),
		fmt.Sprintf("To: <sip:%s@%s>", x.peer.o.Number, x.peer.o.Hostname),
		"Call-ID: "+x.id, fmt.Sprintf("CSeq: %d INVITE", number), "Max-Forwards: 70",
		fmt.Sprintf("Contact: <sip:%s@%s;transport=tls>", Realm, x.peer.Address()),
		"x-wa-meta-wacid: wacid."+x.id)
	if x.who.UserID != "" {
		m.headers = append(m.headers, "x-wa-meta-user-id: "+x.who.UserID)
	}
	m.headers = append(m.headers, more...)
	return m
}

// ack acknowledges a final response to an INVITE. The ACK of a 200 is a new transaction (RFC 3261, 17.1.1.3).
func (x *ringing) ack(m, res *message) {
	a := &message{first: strings.Replace(m.first, "INVITE", "ACK", 1)}
	via := m.get("Via")
	if res.code() == 200 {
		via = fmt.Sprintf("SIP/2.0/TLS %s;branch=z9hG4bK%s", x.peer.Address(), rand.Text())
	}
	number, _, _ := strings.Cut(m.get("CSeq"), " ")
	a.headers = []string{
		"Via: " + via, "From: " + m.get("From"), "To: " + res.get("To"), "Call-ID: " + x.id, "CSeq: " + number + " ACK",
		"Max-Forwards: 70",
	}
	_ = a.write(x.conn)
}

func (x *ringing) final() (*message, error) {
	for {
		m, err := read(x.r)
		if err != nil || m.code() >= 200 {
			return m, err
		}
	}
}

func (x *ringing) run(password string) (*Call, error) {
	var err error
	if x.sound, err = offer(x.peer.o.Opus); err != nil {
		return nil, err
	}
	m := x.invite(1)
	if err := m.write(x.conn); err != nil {
		return nil, err
	}
	res, err := x.final()
	if err != nil {
		return nil, err
	}
	x.ack(m, res)
	if res.code() != 401 && res.code() != 407 {
		return nil, &Refused{res.code()}
	}
	challenge, header := res.get("WWW-Authenticate"), "Authorization: "
	if res.code() == 407 {
		challenge, header = res.get("Proxy-Authenticate"), "Proxy-Authorization: "
	}
	f := fields(challenge)
	if f["qop"] != "auth" || f["algorithm"] != "" && f["algorithm"] != "MD5" || f["realm"] == "" {
		x.peer.fault("a challenge of another form: %s", challenge)
	}
	f["uri"], f["nc"], f["cnonce"] = x.uri(), "00000001", x.tag
	m = x.invite(2, header+fmt.Sprintf(
		`Digest username="%s", realm="%s", nonce="%s", uri="%s", response="%s", algorithm=MD5, cnonce="%s", qop=auth, nc=%s`,
		x.peer.o.Number, f["realm"], f["nonce"], f["uri"],
		response(f, "INVITE", x.peer.o.Number, password, f["realm"]), f["cnonce"], f["nc"]))
	if err := m.write(x.conn); err != nil {
		return nil, err
	}
	if res, err = x.final(); err != nil {
		return nil, err
	}
	if res.code() != 200 {
		x.ack(m, res)
		return nil, &Refused{res.code()}
	}
	if got, want := strings.Join(res.all("Record-Route"), ", "), strings.Join(x.routes(), ", "); got != want {
		x.peer.fault("Record-Route is %s", got)
	}
	if why := x.sound.take(res.body); why != "" {
		x.peer.fault("%s", why)
	}
	c := newCall(x.sound, x.conn, x.who.Number, "wacid."+x.id)
	c.local, c.remote, c.id = "From: "+m.get("From"), "To: "+res.get("To"), x.id
	c.target = strings.Trim(strings.SplitN(res.get("Contact"), ">", 2)[0], "< ")
	c.seq = 2
	x.ack(m, res)
	go x.follow(c, m)
	return c, nil
}

// follow answers the requests within a call to the business, and its repeated 200 to the invite.
func (x *ringing) follow(c *Call, invite *message) {
	for {
		m, err := read(x.r)
		if err != nil {
			c.end("connection closed")
			return
		}
		switch {
		case m.code() == 200 && strings.HasSuffix(m.get("CSeq"), "INVITE"):
			x.ack(invite, m)
		case m.code() > 0:
		case m.method() == "BYE":
			_ = m.response("200 OK", "").write(x.conn)
			c.end("BYE")
		default:
			x.peer.fault("a request %s within a call", m.method())
			_ = m.response("488 Not Acceptable Here", "").write(x.conn)
		}
	}
}
