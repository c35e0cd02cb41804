package sip

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/call/rtp"
)

// Incoming is an unanswered call to us. It must be answered or refused.
type Incoming struct {
	From, To string // numbers or users
	Name     string
	Source   string // source address
	CallID   string
	Confined bool // its trunk has Trunk.Public; must be set before Answer

	e       *Engine
	request *sip.Request
	tx      sip.ServerTransaction
	far     *description  // nil: the caller wants our offer
	encrypt bool          // our offer is encrypted
	trunk   *Trunk        // of the line; nil if unknown
	untimed bool          // the far side has no session timers
	gone    chan struct{} // closed when the caller gives up
	cancel  sync.Once
	final   sync.Once
	tag     string

	challenge []sip.Header // challenge for a missing password
}

const (
	ackTimeout = 32 * time.Second
	okAgain    = 500 * time.Millisecond
	maxOKPause = 4 * time.Second
)

// invited handles an INVITE: a new call, or a change of one.
func (e *Engine) invited(r *sip.Request, tx sip.ServerTransaction) {
	if r.To() == nil || r.From() == nil || r.CallID() == nil || r.CSeq() == nil || r.Contact() == nil {
		respond(tx, r, sip.StatusBadRequest, "Bad Request")
		return
	}
	if tagOf(r.To().Params) != "" {
		e.change(r, tx)
		return
	}
	if unsupported(r, tx) || tooShort(r, tx) {
		return
	}
	if e.o.OnCall == nil {
		respond(tx, r, sip.StatusNotFound, "Not Found")
		return
	}
	in := &Incoming{
		From: r.From().Address.User, To: r.Recipient.User, Name: short(r.From().DisplayName), Source: r.Source(),
		CallID: r.CallID().Value(), e: e,
		request: r, tx: tx, gone: make(chan struct{}), tag: rand.Text(),
	}
	if len(r.Body()) > 0 {
		far, err := parse(string(r.Body()))
		if err != nil {
			respond(tx, r, sip.StatusNotAcceptableHere, "Not Acceptable Here")
			return
		}
		in.far = far
	}
	tx.OnCancel(func(*sip.Request) { in.cancel.Do(func() { close(in.gone) }) })
	e.o.OnCall(in)
	select { // sipgo ends the transaction when this returns
	case <-tx.Done():
	case <-in.gone:
	}
}

// Gone returns a channel that is closed when the caller gives up.
func (in *Incoming) Gone() <-chan struct{} { return in.gone }

// Header returns a header of the INVITE, or "" if absent.
func (in *Incoming) Header(name string) string {
	return headerOf(in.request, name)
}

// headerOf returns a header of a message, or "" if absent.
func headerOf(m interface{ GetHeader(name string) sip.Header }, name string) string {
	if h := m.GetHeader(name); h != nil {
		return h.Value()
	}
	return ""
}

// response returns a response to the INVITE with our tag.
func (in *Incoming) response(code int, reason string, body []byte) *sip.Response {
	res := sip.NewResponseFromRequest(in.request, code, reason, body)
	if to := res.To(); to != nil {
		to.Params.Remove("tag")
		to.Params.Add("tag", in.tag)
	}
	return res
}

// Progress sends a provisional response: 180 for ringing, 183 with sound.
func (in *Incoming) Progress(code int, reason string) error {
	return in.tx.Respond(in.response(code, reason, nil))
}

// Refuse ends the call.
func (in *Incoming) Refuse(code int, reason string) {
	res := in.response(code, reason, nil)
	if code == sip.StatusUnauthorized {
		for _, h := range in.challenge {
			res.AppendHeader(h)
		}
	}
	in.final.Do(func() { _ = in.tx.Respond(res) })
}

// Forbid refuses a call to a number that is no line of the calling trunk. The response is the same whether or not it
// is a line of another trunk.
func (in *Incoming) Forbid() {
	in.e.edge.refused.add(byLine, addressOf(in.Source), time.Now())
	in.Refuse(sip.StatusForbidden, "Forbidden")
}

var errGone = errors.New("the caller gave up")

// Answer answers the call. onFrame receives its sound; it may be nil.
func (in *Incoming) Answer(ctx context.Context, onFrame func(in, out []int16)) (*Call, error) {
	e := in.e
	host := e.hostFor(in.Source)
	conn, err := e.ports.open(ctx, e.soundHost(host))
	if err != nil {
		in.Refuse(sip.StatusServiceUnavailable, "Service Unavailable")
		return nil, err
	}
	d := in.dialog(host.String())
	own, far := propose(host, conn.LocalAddr().(*net.UDPAddr).AddrPort().Port(), in.encrypt), in.far
	o := rtp.Options{Conn: conn, OnFrame: onFrame, Refused: e.o.Unheard}
	if far == nil {
		far = unknownTo(own)
	} else {
		own = far.answer(propose(host, own.port, far.secure))
		o.Far = d.farOf(far, in.Source)
	}
	if o.Coding = coding(own, far); far.secure {
		o.Keys = &rtp.Keys{Local: own.keys[0].key, Remote: far.keys[0].key}
	}
	s, err := rtp.New(o)
	if err != nil {
		_ = conn.Close()
		in.Refuse(sip.StatusNotAcceptableHere, "Not Acceptable Here")
		return nil, err
	}
	res := in.response(sip.StatusOK, okReason, []byte(own.String()))
	res.AppendHeader(sip.NewHeader("Content-Type", contentSDP))
	res.AppendHeader(d.contact.Clone())
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	c := e.newCall(d, s, own, far)
	c.timer.call = c
	if !in.untimed {
		c.timer.respondTo(in.request, res)
	}
	if in.far == nil {
		c.mu.Lock()
		c.offered, c.held = true, true
		c.mu.Unlock()
	} else {
		c.follow(far)
	}
	answered := false
	in.final.Do(func() { answered = in.tx.Respond(res) == nil })
	if !answered {
		c.over(Cause{By: Them, Text: "CANCEL"})
		return nil, errGone
	}
	go in.repeat(c, res) //nolint:gosec // ends with the call
	if in.far == nil {
		select { // nothing can be said before
		case <-c.acked:
		case <-c.done:
			return nil, errors.Join(ErrSound, errors.New(c.Cause().Text))
		}
	}
	return c, nil
}

// noSession is the session of a description that is not known yet.
const noSession = ^uint64(0)

// unknownTo returns a description of the far side until it answers our offer: it gets no sound, and none of its is accepted.
func unknownTo(own *description) *description {
	far := &description{session: noSession, secure: own.secure, payloads: own.payloads[:1], digits: own.digits, direction: inactive}
	if own.secure {
		far.keys = []crypto{{"", newKey()}}
	}
	return far
}

// repeat repeats the 200 until its ACK arrives. A call without an ACK is ended.
func (in *Incoming) repeat(c *Call, res *sip.Response) {
	late := time.NewTimer(ackTimeout)
	defer late.Stop()
	for pause := okAgain; ; pause = min(2*pause, maxOKPause) {
		select {
		case <-c.acked:
			return
		case <-c.done:
			return
		case <-late.C:
			if c.over(Cause{By: System, Text: "no ACK came"}) {
				_ = c.dialog.bye(context.Background(), "")
			}
			return
		case <-time.After(pause):
			_ = in.e.server.WriteResponse(res.Clone())
		}
	}
}

func (in *Incoming) dialog(host string) *dialog {
	r := in.request
	local := &sip.FromHeader{Address: *r.To().Address.Clone(), Params: sip.NewParams()}
	local.Params.Add("tag", in.tag)
	remote := &sip.ToHeader{Address: *r.From().Address.Clone(), Params: sip.NewParams()}
	remote.Params.Add("tag", tagOf(r.From().Params))
	contact := sip.ContactHeader{Address: sip.Uri{
		Scheme: "sip", User: userPart(in.To), Host: host, Port: int(in.e.address.Port()), UriParams: sip.NewParams(),
	}}
	if r.Transport() == overTLS {
		contact.Address.Port = int(in.e.tls.Port())
	}
	if r.Transport() != "UDP" { // requests of the far side use the same transport
		contact.Address.UriParams.Add("transport", strings.ToLower(r.Transport()))
	}
	return &dialog{
		e: in.e, callID: in.CallID, local: local, remote: remote, target: *r.Contact().Address.Clone(), routes: routesOf(r, false),
		contact: contact, transport: r.Transport(), destination: r.Source(), confined: in.Confined,
		trunk: in.trunk, trunkAt: []netip.Addr{addressOf(in.Source)},
	}
}

// acknowledged handles an ACK.
func (e *Engine) acknowledged(r *sip.Request, _ sip.ServerTransaction) {
	c := e.find(r)
	if c == nil {
		return
	}
	if c.takeAnswer(r.Body()) {
		c.ack.Do(func() { close(c.acked) })
	} else if c.over(Cause{By: System, Text: "the ACK had no usable answer to our offer"}) {
		_ = c.dialog.bye(context.Background(), `SIP;cause=488;text="Not Acceptable Here"`)
	}
}
