package sip

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
)

// dialog is the state shared by both sides (RFC 3261, section 12).
type dialog struct {
	e           *Engine
	callID      string
	local       *sip.FromHeader // with our tag
	remote      *sip.ToHeader   // with the far side's tag
	target      sip.Uri         // target of requests
	routes      []string        // values of Route headers, in order
	contact     sip.ContactHeader
	transport   string
	destination string // source of the far side's packets; "" means the target decides
	confined    bool   // a trunk with Trunk.Public: requests go only to its destination, regardless of its messages

	invited uint32 // sequence number of the INVITE
	trunk   *Trunk // trunk whose password requests may need; nil for none
	trunkAt []netip.Addr

	mu       sync.Mutex // guards the fields below, and target once the call is answered
	seq      uint32
	password []sip.Header // of the last request that needed it
	asked    []string     // answered challenges
}

// id returns the key of a dialog, which the requests of both sides determine.
func id(callID, localTag, remoteTag string) string {
	return callID + "\x00" + localTag + "\x00" + remoteTag
}

func (d *dialog) id() string {
	return id(d.callID, tagOf(d.local.Params), tagOf(d.remote.Params))
}

func tagOf(p sip.HeaderParams) string {
	tag, _ := p.Get("tag")
	return tag
}

// idOf returns the key of the dialog that a request of the far side belongs to.
func idOf(r *sip.Request) string {
	from, to, call := r.From(), r.To(), r.CallID()
	if from == nil || to == nil || call == nil {
		return ""
	}
	return id(call.Value(), tagOf(to.Params), tagOf(from.Params))
}

// request returns a request within the dialog.
func (d *dialog) request(method sip.RequestMethod, body []byte, contentType string) *sip.Request {
	d.mu.Lock()
	if method != sip.ACK {
		d.seq++
	}
	seq := d.seq
	d.mu.Unlock()
	return d.numbered(method, seq, body, contentType)
}

// retarget sends later requests to another address, and reports whether its host is different.
func (d *dialog) retarget(to *sip.Uri) (moved bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	moved = d.target.Host != to.Host
	d.target = *to.Clone()
	return moved
}

// peers returns the hosts from which requests of the far side may come: the source of its messages, its contact
// address, and the proxy next to us.
func (d *dialog) peers() []string {
	all := []string{d.destination, d.target.Host}
	if len(d.routes) > 0 {
		route := sip.RouteHeader{}
		if _, err := sip.ParseAddressValue(d.routes[0], &route.Address, nil); err == nil {
			all = append(all, route.Address.Host)
		}
	}
	return all
}

// numbered returns a request with a sequence number.
func (d *dialog) numbered(method sip.RequestMethod, seq uint32, body []byte, contentType string) *sip.Request {
	d.mu.Lock()
	target := d.target.Clone()
	d.mu.Unlock()
	r := sip.NewRequest(method, *target)
	maxForwards := sip.MaxForwardsHeader(70)
	callID := sip.CallIDHeader(d.callID)
	r.AppendHeader(d.via())
	r.AppendHeader(sip.HeaderClone(d.local))
	r.AppendHeader(sip.HeaderClone(d.remote))
	r.AppendHeader(&callID)
	r.AppendHeader(&sip.CSeqHeader{SeqNo: seq, MethodName: method})
	r.AppendHeader(&maxForwards)
	r.AppendHeader(d.contact.Clone())
	r.AppendHeader(sip.NewHeader("User-Agent", agentName))
	for _, route := range d.routes {
		r.AppendHeader(sip.NewHeader("Route", route))
	}
	if method == sip.ACK { // an ACK repeats the INVITE's credentials (RFC 3261, 22.1)
		for _, h := range d.passwords() {
			r.AppendHeader(sip.HeaderClone(h))
		}
	}
	if len(body) > 0 {
		r.AppendHeader(sip.NewHeader("Content-Type", contentType))
	}
	r.SetBody(body)
	r.SetTransport(d.transport)
	// Use the port that we name: a trunk may identify us by it, and a NAT admits responses there.
	if d.transport == "UDP" {
		d.e.udp.Copy(&r.Laddr)
	}
	if d.destination != "" && (d.confined || len(d.routes) == 0) {
		r.SetDestination(d.destination)
	}
	return r
}

// via returns the Via header, the destination of responses.
func (d *dialog) via() *sip.ViaHeader {
	v := &sip.ViaHeader{
		ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: d.transport, Host: d.contact.Address.Host,
		Port: d.contact.Address.Port, Params: sip.NewParams(),
	}
	v.Params.Add("branch", sip.GenerateBranchN(16))
	v.Params.Add("rport", "")
	return v
}

var errNoResponse = errors.New("the far side does not respond")

// ask sends a request within the dialog and returns its final response. It provides the password if required.
func (d *dialog) ask(ctx context.Context, r *sip.Request) (*sip.Response, error) {
	for {
		res, err := d.askOnce(ctx, r)
		if err != nil || res.StatusCode != sip.StatusUnauthorized && res.StatusCode != sip.StatusProxyAuthRequired {
			return res, err
		}
		if again, _ := d.authorize(r, res); !again {
			return res, nil
		}
		r = d.withPassword(r)
	}
}

func (d *dialog) askOnce(ctx context.Context, r *sip.Request) (*sip.Response, error) {
	tx, err := d.e.client.TransactionRequest(ctx, r, sipgo.ClientRequestBuild)
	if err != nil {
		return nil, err
	}
	defer tx.Terminate()
	for {
		select {
		case res := <-tx.Responses():
			if !res.IsProvisional() {
				return res, nil
			}
		case <-tx.Done():
			return nil, errors.Join(errNoResponse, tx.Err())
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// withPassword returns the same request with a password.
func (d *dialog) withPassword(r *sip.Request) *sip.Request {
	contentType := ""
	if h := r.ContentType(); h != nil {
		contentType = h.Value()
	}
	more := d.request(r.Method, r.Body(), contentType)
	for _, name := range []string{"Reason", "Supported", "Expires", headerExpires, headerMinSE, headerReferTo, headerReferredBy} {
		sip.CopyHeaders(name, r, more)
	}
	for _, h := range d.passwords() {
		more.AppendHeader(sip.HeaderClone(h))
	}
	return more
}

// acknowledge sends the ACK of a 200 to an INVITE.
func (d *dialog) acknowledge(seq uint32) error {
	return d.e.client.WriteRequest(d.numbered(sip.ACK, seq, nil, ""), sipgo.ClientRequestBuild)
}

const byeTimeout = 5 * time.Second

// bye ends the dialog.
func (d *dialog) bye(ctx context.Context, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), byeTimeout)
	defer cancel()
	r := d.request(sip.BYE, nil, "")
	if reason != "" {
		r.AppendHeader(sip.NewHeader("Reason", reason))
	}
	_, err := d.ask(ctx, r)
	return err
}

// routesOf returns the Route headers required by Record-Route headers: in order for the callee, reversed for the
// caller.
func routesOf(m interface {
	GetHeaders(name string) []sip.Header
}, reversed bool,
) (all []string) {
	for _, h := range m.GetHeaders("Record-Route") {
		for _, one := range listed(h.Value()) {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	if reversed {
		for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
			all[i], all[j] = all[j], all[i]
		}
	}
	return all
}

// listed splits a list of addresses. A comma may be part of an address or its name.
func listed(text string) (all []string) {
	begin, quoted, within := 0, false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '<', c == '>':
			within = c == '<'
		case c == ',' && !within:
			all = append(all, text[begin:i])
			begin = i + 1
		}
	}
	return append(all, text[begin:])
}
