package sip

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"carillon/internal/call/rtp"
)

// Trunk is a telephone company, or another server that places calls.
type Trunk struct {
	Host      string // host, or host:port
	Transport string // udp, tcp or tls
	Domain    string // domain of both sides' addresses; default: the host
	Username  string // empty if calls need no password
	Password  string
	Realm     string // realm of the password; default: the first one that the trunk names
	CallerID  string // number shown to the far side; default: the line's number
	Encrypt   bool   // encrypt the sound with SRTP
	Agent     string // agent that answers calls to the line; empty for none
	Public    bool   // only allowed at a public address, because a member of the company chose it
	// Authenticate means that calls to the line must provide its user name and password, as placed calls do.
	Authenticate bool
	// Register means that we register the line at the trunk, which sends its calls to where a line is registered.
	Register bool
	// Refer means that calls are transferred by REFER, not by a second leg.
	Refer bool
	// Claimed means that a member of the company, not the operator, entered the line's number or trunk.
	Claimed bool
	// WhatsApp is the messaging sender of a line for calls over WhatsApp; empty for telephone lines. Its peer has no session
	// timers and refuses a re-INVITE; Domain is our own host name in From, and the realm of our challenges.
	WhatsApp string
}

// Dial is a call to place.
type Dial struct {
	Trunk  Trunk
	To     string            // number or user
	From   string            // number shown to the far side
	Name   string            // name shown to the far side
	CallID string            // default: generated
	Header map[string]string // additional headers of the INVITE
	Ring   time.Duration
	// Callbacks on the goroutine of Dial. Each may be nil.
	OnRinging func(code int, reason string)
	OnEarly   func(s *rtp.Session) // receives sound before the answer, such as an announcement
	OnFrame   func(in, out []int16)
	OnLadder  func(step string) // receives each message in one line, for a test call
	// OnHeader receives the headers of each response from 101 on, until a call is answered or refused.
	OnHeader func(header func(name string) string)
}

// Errors of Dial in addition to Refused.
var (
	// ErrUnreachable means that the far side sent nothing: it may not exist, or is unreachable.
	ErrUnreachable = errors.New("the telephone company does not respond")
	// ErrUnanswered means that nobody answered in time.
	ErrUnanswered = errors.New("nobody answered")
	// ErrSound means that the two sides have no audio format in common.
	ErrSound = errors.New("both sides have no kind of sound in common")

	errUnreadable = errors.New("a header of the telephone company's response has control characters")
)

const (
	// unreachableAfter is the timeout for the first response.
	unreachableAfter = 8 * time.Second
	defaultRing      = 45 * time.Second
	cancelTimeout    = 6 * time.Second
	maxRingTimeout   = 5 * time.Minute
)

// Dial places a call and returns once it is answered. It is canceled when ctx ends, or after Ring without an answer.
// Each INVITE results in exactly one dialog: one that is answered while being canceled is ended.
func (e *Engine) Dial(ctx context.Context, d Dial) (*Call, error) {
	way, err := admit(ctx, d.Trunk, e.o.AllowPrivate)
	if err != nil {
		return nil, err
	}
	if err := e.health.ready(ctx, d.Trunk); err != nil {
		return nil, err
	}
	x, err := e.newDialing(ctx, d)
	if err != nil {
		return nil, err
	}
	x.dialog.destination, x.dialog.trunkAt = way.destination, way.addresses
	defer e.edge.talk(way.addresses...)()
	if crowded(e.ua.TransportLayer(), x.dialog) {
		x.close()
		return nil, errors.Join(ErrUnreachable, errCrowded)
	}
	e.expect(x.d.CallID, true)
	defer e.expect(x.d.CallID, false)
	c, err := x.run(ctx)
	e.health.called(d.Trunk, err)
	if c == nil {
		x.close()
	}
	return c, err
}

// expect registers or unregisters a call being placed.
func (e *Engine) expect(callID string, yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.dialing, callID); yes {
		e.dialing[callID] = true
	}
}

// dialing is a call being placed.
type dialing struct {
	e       *Engine
	d       Dial
	dialog  *dialog
	own     *description
	session *rtp.Session // nil until sound may arrive
	far     *description // of the session
	conn    net.PacketConn
	timer   sessionTimer

	tx        sip.ClientTransaction
	invite    *sip.Request
	responded bool // a response has arrived
	longer    bool

	mu       sync.Mutex
	answered *dialog         // the telephone that answered first
	others   []*sip.Response // 200s that arrived before answered was set
}

func (e *Engine) newDialing(ctx context.Context, d Dial) (*dialing, error) {
	if d.Ring <= 0 {
		d.Ring = defaultRing
	}
	d.Ring = min(d.Ring, maxRingTimeout)
	host := e.hostFor(d.Trunk.Host)
	conn, err := e.ports.open(ctx, e.soundHost(host))
	if err != nil {
		return nil, err
	}
	x := &dialing{e: e, d: d, conn: conn}
	port := conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	x.own = propose(host, port, d.Trunk.Encrypt)
	x.own.mux = d.Trunk.WhatsApp != ""
	if d.CallID == "" {
		x.d.CallID = rand.Text()
	}
	to, caller, far := d.To, d.From, ""
	if d.Trunk.WhatsApp != "" {
		to, caller, far = plus(to), plus(caller), d.Trunk.Name()
	}
	target, domain, err := d.Trunk.target(to)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	to, caller = userPart(to), userPart(caller)
	from := &sip.FromHeader{
		DisplayName: displayName(d.Name), Address: sip.Uri{Scheme: "sip", User: caller, Host: domain}, Params: sip.NewParams(),
	}
	from.Params.Add("tag", rand.Text())
	x.dialog = &dialog{
		e: e, callID: x.d.CallID, local: from,
		remote: &sip.ToHeader{Address: sip.Uri{Scheme: "sip", User: to, Host: cmp.Or(far, domain)}, Params: sip.NewParams()},
		target: target, contact: e.contact(&d.Trunk, host, caller), transport: strings.ToUpper(d.Trunk.Transport), seq: 1,
		trunk: &x.d.Trunk, confined: d.Trunk.Public,
	}
	return x, nil
}

// plus returns a number in the form of E.164.
func plus(number string) string { return "+" + strings.TrimPrefix(number, "+") }

// target returns the address of a number, and the domain of both sides.
func (t *Trunk) target(to string) (target sip.Uri, domain string, err error) {
	host, port := t.Host, 0
	if h, p, err := net.SplitHostPort(t.Host); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return target, "", fmt.Errorf("the port of the trunk %q: %w", t.Host, err)
		}
		host, port = h, int(n)
	}
	target = sip.Uri{Scheme: "sip", User: userPart(to), Host: host, Port: port, UriParams: sip.NewParams()}
	if tr := strings.ToLower(t.Transport); tr != "udp" {
		target.UriParams.Add("transport", tr)
	}
	if domain = t.Domain; domain == "" {
		domain = host
	}
	return target, domain, nil
}

func (x *dialing) close() {
	if x.session != nil {
		_ = x.session.Close()
		return
	}
	_ = x.conn.Close()
}

func (x *dialing) ladder(format string, args ...any) {
	if x.d.OnLadder != nil {
		x.d.OnLadder(fmt.Sprintf(format, args...))
	}
}

// request returns the INVITE, with the headers known so far.
func (x *dialing) request() *sip.Request {
	r := x.dialog.numbered(sip.INVITE, x.dialog.seq, []byte(x.own.String()), contentSDP)
	r.AppendHeader(sip.NewHeader("Allow", allowed))
	for name, value := range x.d.Header {
		r.AppendHeader(sip.NewHeader(name, oneLine(value)))
	}
	if x.d.Trunk.WhatsApp == "" {
		x.timer.request(r)
	}
	for _, h := range x.dialog.passwords() {
		r.AppendHeader(sip.HeaderClone(h))
	}
	return r
}

// send sends the INVITE.
func (x *dialing) send(ctx context.Context) error {
	if x.tx != nil {
		x.tx.Terminate()
		x.dialog.seq++
	}
	r := x.request()
	x.invite = r
	x.ladder("▶ INVITE %s over %s", r.Recipient.Addr(), x.dialog.transport)
	connecting, stop := context.WithTimeout(ctx, x.e.patience)
	defer stop()
	tx, err := x.e.client.TransactionRequest(connecting, r, sipgo.ClientRequestBuild)
	switch {
	case err == nil:
		x.tx = tx
		tx.OnRetransmission(x.repeated)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errors.Join(ErrUnreachable, err)
}

// run waits for the answer.
func (x *dialing) run(ctx context.Context) (*Call, error) {
	if err := x.send(ctx); err != nil {
		return nil, err
	}
	quiet := time.NewTimer(x.e.patience)
	defer quiet.Stop()
	ring := time.NewTimer(x.d.Ring)
	defer ring.Stop()
	for {
		select {
		case res := <-x.tx.Responses():
			quiet.Stop()
			x.responded = true
			c, again, err := x.take(ctx, res)
			if c != nil || err != nil {
				return c, err
			}
			if again {
				quiet.Reset(x.e.patience)
			}
		case <-x.tx.Done():
			if !x.responded {
				return nil, errors.Join(ErrUnreachable, x.tx.Err())
			}
			return nil, errors.Join(ErrUnanswered, x.tx.Err())
		case <-quiet.C:
			x.d.OnLadder = nil
			go func() { _ = x.cancel(ctx) }() // its telephone may respond late: it stops ringing, or is hung up
			return nil, ErrUnreachable
		case <-ring.C:
			if !x.responded {
				x.tx.Terminate()
				return nil, ErrUnreachable
			}
			return nil, errors.Join(ErrUnanswered, x.cancel(ctx))
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), x.cancel(ctx))
		}
	}
}

// take handles a response. again reports that the INVITE was sent again. A redirection counts as a refusal: the far
// side's telephone must not choose which number the company calls and pays for, or who gets its password.
func (x *dialing) take(ctx context.Context, res *sip.Response) (c *Call, again bool, err error) {
	x.ladder("◀ %d %s", res.StatusCode, short(res.Reason))
	if x.d.OnHeader != nil && res.StatusCode > 100 && readable(res.Headers()) {
		x.d.OnHeader(func(name string) string { return headerOf(res, name) })
	}
	switch code := res.StatusCode; {
	case code >= 200 && !readable(res.Headers()): // none of it may be repeated, not even in an ACK
		x.tx.Terminate()
		return nil, false, fmt.Errorf("%w: %w", &Refused{sip.StatusBadRequest, "Bad Response"}, errUnreadable)
	case code == 100, code < 200 && !readable(res.Headers()):
		return nil, false, nil
	case code < 200:
		x.early(res)
		return nil, false, nil
	case code < 300:
		c, err = x.answer(ctx, res)
		return c, false, err
	case code == 401 || code == 407:
		refused := &Refused{code, short(res.Reason)}
		switch again, err := x.dialog.authorize(x.invite, res); {
		case again:
			return nil, true, x.send(ctx)
		case err != nil:
			return nil, false, fmt.Errorf("%w: %w", refused, err)
		}
		return nil, false, refused
	case code == 422 && !x.longer:
		x.longer = true
		if h := res.GetHeader(headerMinSE); h != nil {
			x.timer.least, _ = strconv.Atoi(strings.TrimSpace(h.Value()))
		}
		return nil, true, x.send(ctx)
	default:
		return nil, false, &Refused{code, short(res.Reason)}
	}
}

// early handles a provisional response: the telephone rings, and sound may arrive.
func (x *dialing) early(res *sip.Response) {
	if x.d.OnRinging != nil {
		x.d.OnRinging(res.StatusCode, short(res.Reason))
	}
	if len(res.Body()) == 0 || x.session != nil {
		return
	}
	far, err := parse(string(res.Body()))
	if err != nil {
		return // the final answer may be better
	}
	if x.sound(far, res.Source()) == nil && x.d.OnEarly != nil {
		x.d.OnEarly(x.session)
	}
}

// sound starts the session from the far side's description, which came from an address.
func (x *dialing) sound(far *description, source string) error {
	if far.secure != x.own.secure {
		return ErrSound
	}
	o := rtp.Options{
		Conn: x.conn, Far: x.dialog.farOf(far, source), Coding: coding(x.own, far), OnFrame: x.d.OnFrame, Refused: x.e.o.Unheard,
	}
	if far.secure {
		o.Keys = &rtp.Keys{Local: x.own.keys[0].key, Remote: far.keys[0].key}
	}
	s, err := rtp.New(o)
	if err != nil {
		return err
	}
	x.session, x.far = s, far
	return nil
}

// answer handles a 200. The call is registered before the ACK is sent, because a BYE may follow immediately.
func (x *dialing) answer(ctx context.Context, res *sip.Response) (*Call, error) {
	d := x.established(res)
	seq := x.dialog.seq
	far, err := x.far, error(nil) // the answer in a 183 is valid without another one
	if far == nil || len(res.Body()) > 0 {
		far, err = parse(string(res.Body()))
	}
	switch {
	case err != nil:
	case x.session == nil:
		err = x.sound(far, res.Source())
	case far.secure != x.own.secure: // the early sound met the requirement
		err = ErrSound
	}
	if err != nil {
		_ = d.acknowledge(seq)
		_ = d.bye(ctx, `SIP;cause=488;text="Not Acceptable Here"`)
		return nil, errors.Join(ErrSound, err)
	}
	c := x.e.newCall(d, x.session, x.own, x.far) // as it was until now
	c.timer.call, c.timer.least = c, x.timer.least
	c.follow(far)
	if err := d.acknowledge(seq); err != nil {
		c.over(Cause{By: System, Text: short(err.Error())})
		return nil, errors.Join(ErrUnreachable, err)
	}
	c.ack.Do(func() { close(c.acked) })
	x.ladder("▶ ACK")
	x.keep(d)
	if x.d.Trunk.WhatsApp == "" {
		c.timer.agree(res)
	}
	return c, nil
}

// established returns the dialog that a 200 establishes.
func (x *dialing) established(res *sip.Response) *dialog {
	d := &dialog{
		e: x.e, callID: x.dialog.callID, local: x.dialog.local, remote: x.dialog.remote, target: x.dialog.target, contact: x.dialog.contact,
		transport: x.dialog.transport, seq: x.invite.CSeq().SeqNo, invited: x.invite.CSeq().SeqNo, routes: routesOf(res, true),
		destination: res.Source(),
		trunk:       x.dialog.trunk, trunkAt: x.dialog.trunkAt, confined: x.dialog.confined, password: x.dialog.passwords(),
	}
	// The address that responded among those of the name.
	if a, err := netip.ParseAddrPort(res.Source()); err == nil && d.transport == "TLS" {
		d.trunkAt = append(slices.Clone(d.trunkAt), a.Addr().Unmap())
	}
	if to := res.To(); to != nil {
		d.remote = sip.HeaderClone(to).(*sip.ToHeader)
		d.remote.DisplayName = "" // requests within the call do not need it, and its quoting may be wrong
	}
	if contact := res.Contact(); contact != nil {
		d.target = *contact.Address.Clone()
	}
	return d
}

// keep records the telephone that has the call.
func (x *dialing) keep(d *dialog) {
	x.mu.Lock()
	x.answered = d
	others := x.others
	x.others = nil
	x.mu.Unlock()
	for _, res := range others {
		x.repeated(res)
	}
}

const maxOthers = 16

// repeated handles another 200. It is a repetition if the ACK was lost; with another tag it is from another telephone
// that was ringing too, whose dialog is ended.
func (x *dialing) repeated(res *sip.Response) {
	if !res.IsSuccess() {
		return
	}
	x.mu.Lock()
	d := x.answered
	if d == nil && len(x.others) < maxOthers {
		x.others = append(x.others, res)
	}
	x.mu.Unlock()
	switch {
	case d == nil:
	case res.To() == nil || tagOf(res.To().Params) == tagOf(d.remote.Params):
		_ = d.acknowledge(d.invited)
	default:
		other := x.established(res)
		_ = other.acknowledge(other.invited)
		go func() { _ = other.bye(context.Background(), "") }()
	}
}

// cancel cancels the call. A telephone that answers at the same time is hung up.
func (x *dialing) cancel(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	defer x.tx.Terminate()
	sent := false
	for {
		if x.responded && !sent {
			sent = true
			x.ladder("▶ CANCEL")
			go x.sendCancel(ctx)
		}
		select {
		case res := <-x.tx.Responses():
			x.ladder("◀ %d %s", res.StatusCode, short(res.Reason))
			x.responded = true
			switch {
			case res.IsProvisional():
			case res.IsSuccess(): // CANCEL and 200 crossed
				d := x.established(res)
				err := d.acknowledge(d.invited)
				x.keep(d)
				x.ladder("▶ ACK, BYE")
				return errors.Join(err, d.bye(ctx, ""))
			default:
				return nil
			}
		case <-x.tx.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (x *dialing) sendCancel(ctx context.Context) {
	r := sip.NewRequest(sip.CANCEL, *x.invite.Recipient.Clone())
	maxForwards := sip.MaxForwardsHeader(70)
	r.AppendHeader(sip.HeaderClone(x.invite.Via())) // identifies the INVITE
	sip.CopyHeaders("Route", x.invite, r)
	r.AppendHeader(&maxForwards)
	for _, h := range []sip.Header{x.invite.From(), x.invite.To(), x.invite.CallID()} {
		r.AppendHeader(sip.HeaderClone(h))
	}
	r.AppendHeader(&sip.CSeqHeader{SeqNo: x.invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	r.SetBody(nil)
	r.SetTransport(x.invite.Transport())
	r.SetDestination(x.invite.Destination())
	r.Laddr = x.invite.Laddr
	tx, err := x.e.client.TransactionRequest(ctx, r, func(*sipgo.Client, *sip.Request) error { return nil })
	if err != nil {
		return
	}
	defer tx.Terminate()
	select {
	case <-tx.Responses():
	case <-tx.Done():
	case <-ctx.Done():
	}
}

// Check sends an OPTIONS to a trunk and returns its response.
func (e *Engine) Check(ctx context.Context, t Trunk) (code int, reason string, err error) {
	const user = "carillon"
	d, err := e.outside(ctx, &t, user, user)
	if err != nil {
		return 0, "", err
	}
	res, err := d.ask(ctx, d.request(sip.OPTIONS, nil, ""))
	if err != nil {
		return 0, "", errors.Join(ErrUnreachable, err)
	}
	return res.StatusCode, short(res.Reason), nil
}
