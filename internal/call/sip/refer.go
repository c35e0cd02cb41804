package sip

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

// referTime is the limit of a REFER, in seconds: for its response, and for the result that the far side reports.
const referTime = 30

// Unreached is the final response to the call that the far side of a REFER placed, as it reported it.
type Unreached Refused

// Error implements error.
func (u *Unreached) Error() string { return (*Refused)(u).Error() }

// Errors of Refer in addition to Refused, of the REFER itself, and Unreached.
var (
	// ErrUnreported means that the far side accepted a REFER and reported no result.
	ErrUnreported = errors.New("the far side does not report the result of a REFER")
	// ErrOver means that the call ended before the far side did anything about a REFER.
	ErrOver = errors.New("the call is over")
)

// referral is a REFER whose result the far side reports by NOTIFY (RFC 3515). It outlives the call: a BYE does not end
// the subscription (RFC 5057, section 4.1).
type referral struct {
	call   *Call
	seq    uint32        // of the REFER; one with a password has a higher number
	begun  chan struct{} // the far side reported that it calls the number
	result chan report   // one
}

// report is the last status line that the far side reports, or its end without one.
type report struct {
	code   int
	reason string
}

// Refer asks the far side of a call to call a number of a trunk instead of us (RFC 3515, RFC 5589), and returns nil once it
// has: it reported the answer, or it reported that it calls, and ended the call without another report. The caller hangs up
// then. Otherwise the call continues as before, unless it is over.
func Refer(ctx context.Context, c *Call, t Trunk, to string) error {
	address, domain, err := t.target(to)
	if err != nil {
		return err
	}
	if t.Domain != "" {
		address = sip.Uri{Scheme: "sip", User: address.User, Host: domain}
	}
	ctx, cancel := context.WithTimeout(ctx, referTime*c.e.o.Second)
	defer cancel()
	r := c.dialog.request(sip.REFER, nil, "")
	r.AppendHeader(sip.NewHeader(headerReferTo, "<"+address.String()+">"))
	r.AppendHeader(sip.NewHeader(headerReferredBy, "<"+c.dialog.local.Address.String()+">"))
	x := &referral{call: c, seq: r.CSeq().SeqNo, begun: make(chan struct{}, 1), result: make(chan report, 1)}
	defer c.e.refers(x)()
	res, err := c.dialog.ask(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.Join(ErrUnreported, err)
	case err != nil:
		return err
	case !res.IsSuccess():
		return &Refused{Code: res.StatusCode, Reason: short(res.Reason)}
	}
	return x.wait(ctx)
}

const (
	headerReferTo    = "Refer-To"
	headerReferredBy = "Referred-By"
)

// wait waits for the result of an accepted REFER. After a BYE of the far side it may still come.
func (x *referral) wait(ctx context.Context) error {
	over, begun := x.call.done, false
	for {
		select {
		case <-x.begun:
			begun = true
		case <-over:
			if x.call.Cause().By != Them {
				return ErrOver
			}
			over = nil
		case r := <-x.result:
			switch {
			case r.code >= 200 && r.code < 300:
				return nil
			case r.code > 0:
				return &Unreached{Code: r.code, Reason: r.reason}
			}
			return x.unreported(over == nil, begun)
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			return x.unreported(over == nil, begun)
		}
	}
}

// unreported returns the result without a report: a far side that calls the number and ends the call has taken it over.
func (x *referral) unreported(over, begun bool) error {
	select {
	case <-x.begun:
		begun = true
	default:
	}
	switch {
	case over && begun:
		return nil
	case over:
		return ErrOver
	}
	return ErrUnreported
}

// refers registers a REFER, during which no sound need come: the far side may connect the caller elsewhere.
func (e *Engine) refers(x *referral) (end func()) {
	key := x.call.dialog.id()
	e.mu.Lock()
	e.referrals[key] = x
	e.mu.Unlock()
	x.call.refers(true)
	return func() {
		e.mu.Lock()
		delete(e.referrals, key)
		e.mu.Unlock()
		x.call.refers(false)
	}
}

func (c *Call) refers(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.referring, c.since = yes, time.Now()
}

// notified handles a NOTIFY: a report about our REFER. There are no other subscriptions.
func (e *Engine) notified(r *sip.Request, tx sip.ServerTransaction) {
	e.mu.Lock()
	x := e.referrals[idOf(r)]
	e.mu.Unlock()
	if x == nil || x.call.dialog.transport == overTLS && r.Transport() != overTLS {
		respond(tx, r, sip.StatusCallTransactionDoesNotExists, gone)
		return
	}
	event, parameters, _ := strings.Cut(valueOf(r, "Event", "o"), ";")
	if !strings.EqualFold(strings.TrimSpace(event), "refer") {
		respond(tx, r, badEvent, "Bad Event")
		return
	}
	state, _, _ := strings.Cut(valueOf(r, "Subscription-State", ""), ";")
	ended := strings.EqualFold(strings.TrimSpace(state), "terminated")
	of, err := statusIn(r)
	if err != nil {
		respond(tx, r, sip.StatusBadRequest, "Bad Request")
		return
	}
	respond(tx, r, sip.StatusOK, okReason)
	if id, ok := idIn(parameters); ok && id < x.seq { // of an earlier REFER
		return
	}
	if of.code >= 100 && of.code < 200 {
		select {
		case x.begun <- struct{}{}:
		default:
		}
		if !ended {
			return
		}
		of = report{}
	}
	if of.code == 0 && !ended {
		return
	}
	select {
	case x.result <- of:
	default:
	}
}

const badEvent = 489 // RFC 6665

func valueOf(r *sip.Request, name, compact string) string {
	h := r.GetHeader(name)
	if h == nil && compact != "" {
		h = r.GetHeader(compact)
	}
	if h == nil {
		return ""
	}
	return strings.TrimSpace(h.Value())
}

// idIn returns the sequence number of the REFER in the parameters of an Event header.
func idIn(parameters string) (uint32, bool) {
	for p := range strings.SplitSeq(parameters, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(name, "id") {
			n, err := strconv.ParseUint(value, 10, 32)
			return uint32(n), err == nil
		}
	}
	return 0, false
}

var errFragment = errors.New("no status line")

// statusIn returns the status line in the body of a NOTIFY, a message/sipfrag (RFC 3420); zero if there is no body.
func statusIn(r *sip.Request) (report, error) {
	body := strings.TrimSpace(string(r.Body()))
	if body == "" {
		return report{}, nil
	}
	kind := ""
	if h := r.ContentType(); h != nil {
		kind, _, _ = strings.Cut(strings.ToLower(h.Value()), ";")
	}
	line, _, _ := strings.Cut(body, "\n")
	version, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	code, reason, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(code)
	if strings.TrimSpace(kind) != "message/sipfrag" || version != "SIP/2.0" || err != nil || n < 100 || n > 699 {
		return report{}, errFragment
	}
	return report{n, short(reason)}, nil
}
