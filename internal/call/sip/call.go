package sip

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"carillon/internal/call/rtp"
)

// By is the side that ended a call.
type By string

// Sides that end calls.
const (
	Us     By = "us"
	Them   By = "them"
	System By = "system" // the program, or the network
)

// Cause is why a call ended.
type Cause struct {
	By   By
	Text string
}

const contentSDP = "application/sdp"

// Call is a call that was answered. Its sound is a voice.Line.
type Call struct {
	*rtp.Session
	e      *Engine
	dialog *dialog
	own    *description
	far    *description

	mu       sync.Mutex
	cause    *Cause
	held     bool
	offered  bool      // our offer waits for the answer in an ACK
	since    time.Time // time since which sound should arrive
	done     chan struct{}
	changing sync.Mutex // one re-INVITE at a time
	timer    sessionTimer
	acked    chan struct{} // of a call to us: closed by its ACK
	ack      sync.Once
	talks    []func() // each ends the permission of an address to send

	referring bool // a REFER is under way
}

func (e *Engine) newCall(d *dialog, s *rtp.Session, own, far *description) *Call {
	c := &Call{Session: s, e: e, dialog: d, own: own, far: far, since: time.Now(), done: make(chan struct{}), acked: make(chan struct{})}
	c.hear(d.peers())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls[d.id()] = c
	return c
}

// hear admits requests from the far side's hosts for the duration of the call. Host names are looked up in the
// background.
func (c *Call) hear(hosts []string) {
	var names []string
	for _, h := range hosts {
		if a := addressOf(h); a.IsValid() {
			c.hearAt(a)
		} else if h != "" {
			names = append(names, h)
		}
	}
	if len(names) == 0 || c.e.life == nil {
		return
	}
	c.e.background.Go(func() {
		ctx, cancel := context.WithTimeout(c.e.life, maxLookUp)
		defer cancel()
		for _, name := range names {
			all, _ := addresses(ctx, name, 0)
			for _, a := range all[:min(len(all), maxAddresses)] {
				c.hearAt(a.Addr().Unmap())
			}
		}
	})
}

func (c *Call) hearAt(a netip.Addr) {
	end := c.e.edge.talk(a)
	c.mu.Lock()
	keep := c.cause == nil && len(c.talks) < maxPeers
	if keep {
		c.talks = append(c.talks, end)
	}
	c.mu.Unlock()
	if !keep {
		end()
	}
}

const maxPeers = 64 // for one call

// Done returns a channel that is closed when the call has ended.
func (c *Call) Done() <-chan struct{} { return c.done }

// Cause returns the reason of the end. It is valid once the call has ended.
func (c *Call) Cause() Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		return Cause{}
	}
	return *c.cause
}

// Held reports whether the far side holds the call.
func (c *Call) Held() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// silentFor returns the time since the last expected packet, or 0 if the far side need not send.
func (c *Call) silentFor(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held || c.referring || c.far.direction == receiveOnly {
		return 0
	}
	last := c.Received()
	if c.since.After(last) {
		last = c.since
	}
	return now.Sub(last)
}

// Encrypted reports whether the sound is encrypted.
func (c *Call) Encrypted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.far.secure
}

// HangUp ends the call. It returns when the far side has confirmed, or when it does not respond.
func (c *Call) HangUp(ctx context.Context) {
	select { // a callee must not end a call that the caller does not know yet
	case <-c.acked:
	case <-c.done:
	case <-time.After(byeTimeout):
	}
	if c.over(Cause{By: Us, Text: "BYE"}) {
		if err := c.dialog.bye(ctx, ""); err != nil {
			c.e.o.Log.DebugContext(ctx, "hang up", "error", err)
		}
	}
}

// over ends the call on our side. It returns false if the call had already ended.
func (c *Call) over(why Cause) bool {
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return false
	}
	c.cause = &why
	talks := c.talks
	c.talks = nil
	c.mu.Unlock()
	for _, end := range talks {
		end()
	}
	c.timer.stop()
	c.e.mu.Lock()
	delete(c.e.calls, c.dialog.id())
	c.e.mu.Unlock()
	_ = c.Close()
	close(c.done)
	return true
}

// find returns the call that a request of the far side belongs to, or nil. Requests within a call over TLS must arrive
// over TLS.
func (e *Engine) find(r *sip.Request) *Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.calls[idOf(r)]
	if c != nil && c.dialog.transport == overTLS && r.Transport() != overTLS {
		return nil
	}
	return c
}

// await is like find, for a BYE that may overtake the answer of its call.
func (e *Engine) await(r *sip.Request) *Call {
	const most, pause = 50, 10 * time.Millisecond
	for range most {
		c := e.find(r)
		if c != nil || r.CallID() == nil {
			return c
		}
		e.mu.Lock()
		coming := e.dialing[r.CallID().Value()]
		e.mu.Unlock()
		if !coming {
			return e.find(r)
		}
		time.Sleep(pause) //nolint:forbidigo // bounded number of times
	}
	return nil
}

func respond(tx sip.ServerTransaction, r *sip.Request, code int, reason string) {
	// If the response is lost, the far side repeats its request.
	_ = tx.Respond(sip.NewResponseFromRequest(r, code, reason, nil))
}

const (
	gone     = "Call/Transaction Does Not Exist"
	okReason = "OK"
)

// ended handles a BYE.
func (e *Engine) ended(r *sip.Request, tx sip.ServerTransaction) {
	c := e.await(r)
	if c == nil {
		respond(tx, r, sip.StatusCallTransactionDoesNotExists, gone)
		return
	}
	respond(tx, r, sip.StatusOK, okReason)
	text := "BYE"
	if h := r.GetHeader("Reason"); h != nil {
		text = "BYE, " + short(h.Value())
	}
	c.over(Cause{By: Them, Text: text})
}

const shortest = 120

// short limits the length of a text from the far side that is stored in records.
func short(s string) string {
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s), "")
	if len(s) > shortest {
		s = strings.ToValidUTF8(s[:shortest], "")
	}
	return s
}

// unsupported refuses a request that requires an extension (RFC 3261, section 8.2.2.3).
func unsupported(r *sip.Request, tx sip.ServerTransaction) bool {
	var unknown []string
	for _, h := range r.GetHeaders("Require") {
		for tag := range strings.SplitSeq(h.Value(), ",") {
			if tag = strings.TrimSpace(tag); tag != "" && !strings.EqualFold(tag, "timer") {
				unknown = append(unknown, short(tag))
			}
		}
	}
	if len(unknown) == 0 {
		return false
	}
	res := sip.NewResponseFromRequest(r, sip.StatusBadExtension, "Bad Extension", nil)
	res.AppendHeader(sip.NewHeader("Unsupported", strings.Join(unknown, ", ")))
	_ = tx.Respond(res)
	return true
}

// late responds to a CANCEL for a call that has ended or never existed. sipgo handles others itself.
func late(r *sip.Request, tx sip.ServerTransaction) {
	respond(tx, r, sip.StatusCallTransactionDoesNotExists, gone)
}

// asked responds to an OPTIONS.
func asked(r *sip.Request, tx sip.ServerTransaction) {
	res := sip.NewResponseFromRequest(r, sip.StatusOK, okReason, nil)
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	res.AppendHeader(sip.NewHeader("Accept", contentSDP))
	_ = tx.Respond(res)
}

const allowed = "INVITE, ACK, CANCEL, BYE, UPDATE, INFO, OPTIONS, NOTIFY"

// informed handles an INFO: digits of telephones without RFC 4733.
func (e *Engine) informed(r *sip.Request, tx sip.ServerTransaction) {
	c := e.find(r)
	if c == nil {
		respond(tx, r, sip.StatusCallTransactionDoesNotExists, gone)
		return
	}
	respond(tx, r, sip.StatusOK, okReason)
	if h := r.ContentType(); h != nil {
		c.Pressed(digitsIn(h.Value(), string(r.Body())))
	}
}

// digitsIn returns the digits in the body of an INFO: a line "Signal=5", the digits alone, or the number of an event (RFC 4733).
func digitsIn(contentType, body string) string {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	for line := range strings.Lines(body) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.EqualFold(strings.TrimSpace(name), "signal") {
			return strings.TrimSpace(value)
		}
	}
	body = strings.TrimSpace(body)
	switch strings.TrimSpace(kind) {
	case "application/dtmf":
		return body
	case "audio/telephone-event":
		if n, err := strconv.Atoi(body); err == nil {
			return rtp.DigitOf(n)
		}
	}
	return ""
}

// change responds to a re-INVITE or an UPDATE: a refresh of the session timer, or a change of the sound.
func (e *Engine) change(r *sip.Request, tx sip.ServerTransaction) {
	c := e.find(r)
	if c == nil {
		respond(tx, r, sip.StatusCallTransactionDoesNotExists, gone)
		return
	}
	if unsupported(r, tx) || tooShort(r, tx) {
		return
	}
	if !c.changing.TryLock() {
		respond(tx, r, sip.StatusRequestPending, "Request Pending")
		return
	}
	defer c.changing.Unlock()
	var body []byte
	if len(r.Body()) > 0 {
		far, err := parse(string(r.Body()))
		if err != nil {
			respond(tx, r, sip.StatusNotAcceptableHere, "Not Acceptable Here")
			return
		}
		if far.secure != c.far.secure {
			respond(tx, r, sip.StatusNotAcceptableHere, "Not Acceptable Here")
			return
		}
		answer := far.answer(c.own)
		c.own = answer
		c.follow(far)
		body = []byte(answer.String())
	} else if r.Method == sip.INVITE { // the far side wants an offer, which it answers in its ACK
		body = []byte(c.own.String())
		c.mu.Lock()
		c.offered = true
		c.mu.Unlock()
	}
	if contact := r.Contact(); contact != nil && c.dialog.retarget(&contact.Address) {
		c.hear([]string{contact.Address.Host})
	}
	res := sip.NewResponseFromRequest(r, sip.StatusOK, okReason, body)
	if len(body) > 0 {
		res.AppendHeader(sip.NewHeader("Content-Type", contentSDP))
	}
	res.AppendHeader(c.dialog.contact.Clone())
	res.AppendHeader(sip.NewHeader("Allow", allowed))
	c.timer.respondTo(r, res)
	_ = tx.Respond(res)
}

// follow applies a new description of the far side's sound.
func (c *Call) follow(far *description) {
	c.mu.Lock()
	if c.far.direction != far.direction || c.held {
		c.since = time.Now()
	}
	rekeyed := far.secure && len(c.far.keys) > 0 && !bytes.Equal(far.keys[0].key, c.far.keys[0].key)
	c.far, c.held = far, far.held()
	c.mu.Unlock()
	if rekeyed {
		_ = c.Rekey(far.keys[0].key) // its length was checked
	}
	c.Recode(coding(c.own, far))
	// Old telephones hold a call with the unspecified address; its sound resumes at the previous one.
	if !far.address.IsUnspecified() {
		c.Follow(c.dialog.farOf(far, c.dialog.destination))
	}
}

// coding returns the form of a call's sound by both descriptions.
func coding(own, far *description) rtp.Coding {
	c := rtp.Coding{
		Law: far.law(), OwnOpus: uint8(own.opus), Digits: far.digits, OwnDigits: own.digits, FastClock: far.fast, Held: far.held(),
	}
	if far.sendsOpus() {
		c.Opus = uint8(far.opus)
	}
	return c
}

// takeAnswer applies the answer in an ACK to an offer in our response. It returns false if a call cannot begin without it.
func (c *Call) takeAnswer(body []byte) bool {
	c.mu.Lock()
	offered, beginning := c.offered, c.far.session == noSession
	c.offered = false
	c.mu.Unlock()
	if !offered {
		return true
	}
	far, err := parse(string(body))
	if err != nil || far.secure != c.own.secure {
		return !beginning // the sound stays as it was
	}
	c.follow(far)
	return true
}

// refresh keeps the session alive: the far side ends sessions that are not refreshed.
func (c *Call) refresh(ctx context.Context) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	r := c.dialog.request(sip.INVITE, []byte(c.own.String()), contentSDP)
	c.timer.request(r)
	res, err := c.reinvite(ctx, r)
	if err != nil {
		return err
	}
	if far, err := parse(string(res.Body())); err == nil && far.secure == c.own.secure {
		c.follow(far)
	}
	c.timer.agree(res)
	return nil
}

// reinvite sends an INVITE within the call and acknowledges its 200.
func (c *Call) reinvite(ctx context.Context, r *sip.Request) (*sip.Response, error) {
	for {
		res, err := c.reinviteOnce(ctx, r)
		if err != nil || res.IsSuccess() {
			return res, err
		}
		if res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired {
			if again, _ := c.dialog.authorize(r, res); again {
				r = c.dialog.withPassword(r)
				continue
			}
		}
		return nil, &Refused{Code: res.StatusCode, Reason: short(res.Reason)}
	}
}

func (c *Call) reinviteOnce(ctx context.Context, r *sip.Request) (*sip.Response, error) {
	tx, err := c.e.client.TransactionRequest(ctx, r, sipgo.ClientRequestBuild)
	if err != nil {
		return nil, err
	}
	seq := r.CSeq().SeqNo
	tx.OnRetransmission(func(res *sip.Response) {
		if res.IsSuccess() {
			_ = c.dialog.acknowledge(seq)
		}
	})
	for {
		select {
		case res := <-tx.Responses():
			switch {
			case res.IsProvisional():
				continue
			case !res.IsSuccess():
				return res, nil
			}
			return res, c.dialog.acknowledge(seq)
		case <-tx.Done():
			return nil, errors.Join(errNoResponse, tx.Err())
		case <-ctx.Done():
			tx.Terminate()
			return nil, ctx.Err()
		}
	}
}

// Refused is a final response other than 2xx.
type Refused struct {
	Code   int
	Reason string
}

// Error implements error.
func (r *Refused) Error() string { return strconv.Itoa(r.Code) + " " + r.Reason }
