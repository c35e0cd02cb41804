// Package metatest is a strict stand-in for WhatsApp's SIP peer, for tests: it calls and is called over TLS, and refuses what the
// channel refuses. It reads and writes plain text and does not use package sip, so that neither repeats the other's mistakes.
//
//	to us:   INVITE ─▶ 401 ─▶ INVITE with digest ─▶ 180, 200 with the same Record-Route ─▶ ACK
//	from us: INVITE sip:+number ─▶ 407 ─▶ 403 another From host, 488 no SRTP, or 180, 200 ─▶ ACK
package metatest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the channel's digest
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Realm is the realm of the peer's challenges.
const Realm = "wa.meta.vc"

// Options describe a number of a business at the peer.
type Options struct {
	Number   string // digits
	Hostname string // configured host of the business
	Password string
	TLS      *tls.Config // the peer's certificate, and the authorities that it trusts
	Refuse   int         // a status with which all calls from the business are refused; 0 for none
	Silent   bool        // it does not answer calls from the business, and waits for CANCEL
	Opus     bool        // G.711 is not enabled
}

// Peer is a running stand-in. Close ends it.
type Peer struct {
	o        Options
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	faults []string
	conns  []net.Conn
	calls  chan *Call
}

// New starts a peer at a free port of 127.0.0.1.
func New(o Options) (*Peer, error) {
	l, err := tls.Listen("tcp", "127.0.0.1:0", o.TLS)
	if err != nil {
		return nil, err
	}
	p := &Peer{o: o, listener: l, calls: make(chan *Call, 16)}
	p.work.Go(p.accept)
	return p, nil
}

// Address returns the peer's host and port.
func (p *Peer) Address() string { return p.listener.Addr().String() }

// Calls returns the calls from the business that were answered.
func (p *Peer) Calls() <-chan *Call { return p.calls }

// Faults returns the violations of the channel's rules, for which it has no status.
func (p *Peer) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

func (p *Peer) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// Close ends the peer and its connections.
func (p *Peer) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	return err
}

func (p *Peer) own(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
}

func (p *Peer) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.own(c)
		p.work.Go(func() { p.serve(c) })
	}
}

// message is a request or a response.
type message struct {
	first   string
	headers []string // as they were written
	body    string
}

func (m *message) all(name string) (values []string) {
	for _, h := range m.headers {
		key, value, _ := strings.Cut(h, ":")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

func (m *message) get(name string) string {
	if all := m.all(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (m *message) method() string { return strings.Fields(m.first)[0] }

func (m *message) code() int {
	f := strings.Fields(m.first)
	if len(f) < 2 || f[0] != "SIP/2.0" {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}

const maxBody = 64 << 10

func read(r *bufio.Reader) (*message, error) {
	m := &message{}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" && m.first == "": // keep-alive
			continue
		case m.first == "":
			m.first = line
			continue
		case line != "":
			m.headers = append(m.headers, line)
			continue
		}
		n, err := strconv.Atoi(cmp.Or(m.get("Content-Length"), "0"))
		if err != nil || n < 0 || n > maxBody {
			return nil, fmt.Errorf("content length %q", m.get("Content-Length"))
		}
		body := make([]byte, n)
		_, err = io.ReadFull(r, body)
		m.body = string(body)
		return m, err
	}
}

func (m *message) write(w io.Writer) error {
	kind := ""
	if m.body != "" {
		kind = "Content-Type: application/sdp\r\n"
	}
	_, err := fmt.Fprintf(w, "%s\r\n%s\r\n%sContent-Length: %d\r\n\r\n%s",
		m.first, strings.Join(m.headers, "\r\n"), kind, len(m.body), m.body)
	return err
}

// response returns a response to a request.
func (m *message) response(status, tag string, more ...string) *message {
	r := &message{first: "SIP/2.0 " + status}
	for _, name := range []string{"Via", "Record-Route", "From", "To", "Call-ID", "CSeq"} {
		for _, value := range m.all(name) {
			if name == "To" && !strings.Contains(value, ";tag=") && tag != "" {
				value += ";tag=" + tag
			}
			r.headers = append(r.headers, name+": "+value)
		}
	}
	r.headers = append(r.headers, more...)
	return r
}

// serve answers the requests of a connection from the business.
func (p *Peer) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	x := &called{peer: p, conn: conn, nonce: rand.Text(), tag: rand.Text()}
	for {
		m, err := read(r)
		if err != nil {
			if x.call != nil {
				x.call.end("connection closed")
			}
			return
		}
		if m.code() > 0 {
			continue // of our BYE
		}
		x.take(m)
	}
}

// called is a call from the business.
type called struct {
	peer  *Peer
	conn  net.Conn
	nonce string
	tag   string
	ring  *message // the INVITE that rings
	call  *Call
}

func (x *called) answer(m *message) { _ = m.write(x.conn) }

func (x *called) take(m *message) {
	switch m.method() {
	case "ACK":
		if x.call != nil {
			x.call.acked.Do(func() { x.peer.calls <- x.call })
		}
	case "BYE":
		x.answer(m.response("200 OK", x.tag))
		if x.call != nil {
			x.call.end("BYE")
		}
	case "CANCEL":
		x.answer(m.response("200 OK", x.tag))
		if x.ring != nil {
			x.answer(x.ring.response("487 Request Terminated", x.tag))
		}
	case "INVITE":
		x.invited(m)
	default:
		x.peer.fault("a request %s", m.first)
		x.answer(m.response("405 Method Not Allowed", x.tag))
	}
}

var (
	addressForm = regexp.MustCompile(`<sips?:([^@>]*)@([^;:>]+)`)
	uriForm     = regexp.MustCompile(`^INVITE sip:\+([0-9]{6,15})@([^;: ]+)(:[0-9]+)?;transport=tls SIP/2\.0$`)
)

func (x *called) invited(m *message) {
	p := x.peer
	from := addressForm.FindStringSubmatch(m.get("From"))
	to := uriForm.FindStringSubmatch(m.first)
	switch {
	case strings.Contains(m.get("To"), ";tag="):
		p.fault("a re-INVITE")
		x.answer(m.response("488 Not Acceptable Here", ""))
	case to == nil:
		x.answer(m.response("404 Not Found", x.tag))
	case from == nil || strings.TrimPrefix(from[1], "+") != p.o.Number || from[2] != p.o.Hostname:
		x.answer(m.response("403 Forbidden", x.tag))
	case !x.proved(m):
		x.nonce = rand.Text()
		x.answer(m.response("407 Proxy Authentication Required", x.tag, fmt.Sprintf(
			`Proxy-Authenticate: Digest realm="%s", nonce="%s", algorithm=MD5, qop="auth"`, Realm, x.nonce)))
	case p.o.Refuse > 0:
		x.answer(m.response(strconv.Itoa(p.o.Refuse)+" Refused", x.tag, "x-wa-meta-wacid: "+x.wacid()))
	default:
		x.accept(m, to[1])
	}
}

func (x *called) wacid() string { return "wacid." + x.tag }

func (x *called) accept(m *message, number string) {
	p := x.peer
	s, why := answer(m.body, p.o.Opus)
	if why != "" {
		p.fault("%s", why)
		x.answer(m.response("488 Not Acceptable Here", x.tag))
		return
	}
	x.answer(m.response("100 Trying", ""))
	x.answer(m.response("180 Ringing", x.tag, "x-wa-meta-wacid: "+x.wacid(), "Contact: "+x.contact()))
	if x.ring = m; p.o.Silent {
		s.close()
		return
	}
	x.call = newCall(s, x.conn, number, x.wacid())
	ok := m.response("200 OK", x.tag, "Contact: "+x.contact(), "x-wa-meta-wacid: "+x.wacid())
	x.call.fill(m, ok)
	ok.body = s.description
	x.answer(ok)
}

func (x *called) contact() string {
	return "<sip:meta@" + x.peer.Address() + ";transport=tls>"
}

// proved reports whether an INVITE has the right digest of the last nonce.
func (x *called) proved(m *message) bool {
	given := m.get("Proxy-Authorization")
	if given == "" {
		return false
	}
	f := fields(given)
	if f["realm"] != Realm || f["username"] != x.peer.o.Number || f["nonce"] != x.nonce || f["qop"] != "auth" ||
		f["algorithm"] != "MD5" && f["algorithm"] != "" {
		x.peer.fault("credentials of another form: realm %q, username %q", f["realm"], f["username"])
		return false
	}
	if f["response"] != response(f, "INVITE", x.peer.o.Number, x.peer.o.Password, Realm) {
		x.peer.fault("a wrong password")
		return false
	}
	return true
}

var fieldForm = regexp.MustCompile(`([a-z]+)=(?:"([^"]*)"|([^,\s]+))`)

func fields(header string) map[string]string {
	all := map[string]string{}
	for _, f := range fieldForm.FindAllStringSubmatch(strings.TrimPrefix(header, "Digest "), -1) {
		all[f[1]] = cmp.Or(f[2], f[3])
	}
	return all
}

func response(f map[string]string, method, username, password, realm string) string {
	one := digest(username + ":" + realm + ":" + password)
	other := digest(method + ":" + f["uri"])
	return digest(strings.Join([]string{one, f["nonce"], f["nc"], f["cnonce"], f["qop"], other}, ":"))
}

func digest(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // the channel's digest
	return hex.EncodeToString(sum[:])
}

// Person is a caller.
type Person struct {
	Number string // empty if it is unknown to the business
	UserID string
}

// Ring calls the business at an address, and returns the call once it is answered. password overrides the right one.
func (p *Peer) Ring(ctx context.Context, address string, who Person, password string) (*Call, error) {
	c := p.o.TLS.Clone()
	c.ServerName, c.Certificates = p.o.Hostname, nil // no certificate of a client
	d := tls.Dialer{Config: c}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	p.own(conn)
	go func() {
		<-ctx.Done()
		_ = conn.Close()
	}()
	x := &ringing{peer: p, conn: conn, r: bufio.NewReader(conn), who: who, id: rand.Text(), tag: rand.Text(), port: address}
	call, err := x.run(cmp.Or(password, p.o.Password))
	if err != nil {
		_ = conn.Close()
	}
	return call, err
}
