package sip

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"carillon/internal/base/share"
)

const (
	registerFor   = 10 * time.Minute // requested lifetime of a registration
	minRegistered = 10 * time.Second // a trunk cannot make us register more often
	maxRegistered = time.Hour
	registerWait  = 10 * time.Second // timeout of a request with its password
	withdrawWait  = 2 * time.Second
	retryFirst    = 5 * time.Second // after a failure that may pass; doubled at each further one
	maxRetry      = 5 * time.Minute
	refusedFirst  = time.Minute // after a refusal, which usually needs a change of the line
	maxRefused    = time.Hour
)

// Registration is the state of a line's registration at its trunk.
type Registration struct {
	At     time.Time // time of the last response or of its timeout; zero if there was none
	Until  time.Time // end of the registration; zero if the line is not registered
	Code   int       // status of the response; 0 if there was none
	Reason string
	Err    error // reason of a missing response
}

// registrar registers lines with Trunk.Register at their trunks (RFC 3261, section 10), so that the trunks' calls come
// to this node. Of several nodes, the one that owns the line's shard registers it.
type registrar struct {
	e      *Engine
	places *share.Share

	mu   sync.Mutex
	all  map[string]*registration // by company and line
	work sync.WaitGroup
}

// registration is a line that is registered until it is stopped.
type registration struct {
	e      *Engine
	places *share.Share
	line   Line
	stop   context.CancelFunc
	callID string // the same in all its requests; their numbers (seq) rise
	seq    uint32
	asked  time.Duration // requested lifetime
	done   chan struct{}
	gone   bool // it was stopped

	mu    sync.Mutex
	state Registration
}

func (l *Line) key() string { return l.Company + " " + l.ID }

// follow registers the lines that this node owns and withdraws the others. A changed line is registered again.
func (x *registrar) follow(ctx context.Context, lines []Line) {
	x.mu.Lock()
	defer x.mu.Unlock()
	wanted := map[string]Line{}
	for i := range lines {
		if l := lines[i]; l.Trunk.Register && (x.e.o.Owns == nil || x.e.o.Owns(l.Shard)) {
			wanted[l.key()] = l
		}
	}
	for key, r := range x.all {
		if r.line != wanted[key] && !r.gone {
			r.gone = true
			r.stop()
		}
		if closed(r.done) { // a line that comes back in the meantime must not lose its new registration
			delete(x.all, key)
		}
	}
	for key, l := range wanted {
		if x.all[key] != nil {
			continue
		}
		r := &registration{
			e: x.e, places: x.places, line: l, callID: rand.Text(), asked: registerFor, done: make(chan struct{}),
		}
		var life context.Context
		life, r.stop = context.WithCancel(ctx)
		x.all[key] = r
		x.work.Go(func() {
			defer close(r.done)
			r.keep(life)
		})
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Registration returns the state of a line's registration by this node. It is the zero value if the line is not
// registered, or another node registers it.
func (e *Engine) Registration(company, line string) Registration {
	e.registrar.mu.Lock()
	r := e.registrar.all[company+" "+line]
	e.registrar.mu.Unlock()
	if r == nil {
		return Registration{}
	}
	return r.current()
}

// Registrations returns the numbers of lines that this node has registered and of those that it could not register.
func (e *Engine) Registrations() (registered, failed int) {
	e.registrar.mu.Lock()
	defer e.registrar.mu.Unlock()
	now := time.Now()
	for _, r := range e.registrar.all {
		switch s := r.current(); {
		case now.Before(s.Until):
			registered++
		case !s.At.IsZero():
			failed++
		}
	}
	return registered, failed
}

// scaled returns a time in the seconds of Options.Second.
func (e *Engine) scaled(d time.Duration) time.Duration {
	return time.Duration(d.Seconds() * float64(e.o.Second))
}

func (r *registration) current() Registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// keep registers the line again before each registration ends, and after failures. When ctx ends, it withdraws the
// registration.
func (r *registration) keep(ctx context.Context) {
	defer r.withdraw(ctx)
	for failed := 0; ctx.Err() == nil; {
		place, err := r.places.Wait(ctx, share.Holder{Company: r.line.Company})
		if err != nil {
			return
		}
		lifetime, after, err := r.send(ctx, r.asked)
		place.Release()
		if ctx.Err() != nil {
			return
		}
		r.note(ctx, lifetime, err, failed > 0)
		wait := lifetime * 4 / 5
		if failed++; err == nil {
			failed = 0
		} else {
			wait = max(after, retry(err, failed))
		}
		select {
		case <-ctx.Done():
		case <-time.After(r.e.scaled(wait)):
		}
	}
}

// retry returns the pause after a number of failures, varied so that the lines of a restarted trunk do not register at
// the same time.
func retry(err error, failed int) time.Duration {
	first, most := retryFirst, maxRetry
	if refused, ok := errors.AsType[*Refused](err); ok && refused.Code < 500 {
		first, most = refusedFirst, maxRefused
	}
	wait := min(first<<min(failed-1, 16), most)
	return wait*3/4 + mathrand.N(wait/2) //nolint:gosec // no secret
}

// note stores the result of a request, and logs a failure and its end.
func (r *registration) note(ctx context.Context, lifetime time.Duration, err error, before bool) {
	r.mu.Lock()
	s := &r.state
	s.At = time.Now()
	s.Code, s.Reason, s.Err = sip.StatusOK, "OK", nil
	if refused, ok := errors.AsType[*Refused](err); ok {
		s.Code, s.Reason = refused.Code, refused.Reason
	} else if err != nil {
		s.Code, s.Reason, s.Err = 0, "", err
	}
	if err == nil {
		s.Until = s.At.Add(r.e.scaled(lifetime))
	} else if s.Code != 0 { // the trunk has removed it
		s.Until = time.Time{}
	}
	r.mu.Unlock()
	log := r.e.o.Log.With("company", r.line.Company, "line", r.line.ID)
	switch {
	case err != nil && !before:
		log.WarnContext(ctx, "register a line at its trunk; it is tried again", "error", err)
	case err == nil && before:
		log.InfoContext(ctx, "a line is registered at its trunk")
	}
}

// withdraw removes the registration from the trunk.
func (r *registration) withdraw(ctx context.Context) {
	if r.current().Until.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawWait)
	defer cancel()
	_, _, _ = r.send(ctx, 0)
	r.mu.Lock()
	r.state.Until = time.Time{}
	r.mu.Unlock()
}

// send registers the line for a time, and returns the lifetime that the trunk grants. After a refusal, after is the time
// that the trunk asks to wait. The error is a *Refused if the trunk responds.
func (r *registration) send(ctx context.Context, lifetime time.Duration) (granted, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, registerWait)
	defer cancel()
	t := &r.line.Trunk
	d, err := r.e.outside(ctx, t, t.Username, r.line.Number)
	if err != nil {
		return 0, 0, err
	}
	d.trunk, d.callID, d.seq = t, r.callID, r.seq
	d.remote.Address = *d.local.Address.Clone() // the address to register, in both headers
	if d.destination != "" {
		d.target = sip.Uri{Scheme: "sip", Host: d.local.Address.Host, UriParams: d.target.UriParams}
	}
	defer r.e.edge.talk(d.trunkAt...)()
	defer func() { r.seq = d.seq }()
	r.e.health.use(*t, time.Now()) // its checks keep the way to us open
	for again := false; ; again = true {
		register := d.request(sip.REGISTER, nil, "")
		register.AppendHeader(sip.NewHeader("Expires", strconv.Itoa(int(lifetime/time.Second))))
		res, err := d.ask(ctx, register)
		if err != nil {
			return 0, 0, errors.Join(ErrUnreachable, err)
		}
		switch {
		case res.IsSuccess():
			return grantedBy(res, &d.contact, lifetime), 0, nil
		case res.StatusCode == sip.StatusIntervalToBrief && !again: // the trunk names its shortest lifetime
			if least := seconds(res, "Min-Expires"); least > lifetime {
				lifetime = min(least, maxRegistered)
				r.asked = lifetime
				continue
			}
		}
		return 0, min(seconds(res, "Retry-After"), maxRefused), &Refused{res.StatusCode, short(res.Reason)}
	}
}

// grantedBy returns the lifetime of our contact according to a response, within our bounds.
func grantedBy(res *sip.Response, own *sip.ContactHeader, asked time.Duration) time.Duration {
	granted := asked
	if res.GetHeader("Expires") != nil {
		granted = seconds(res, "Expires")
	}
	for _, h := range res.GetHeaders("Contact") {
		for _, one := range listed(h.Value()) {
			address, params, _ := strings.Cut(one, ">")
			if !strings.Contains(address, own.Address.HostPort()) {
				continue // another telephone of the account
			}
			for param := range strings.SplitSeq(params, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
				if n, err := strconv.Atoi(value); err == nil && strings.EqualFold(name, "expires") {
					granted = time.Duration(n) * time.Second
				}
			}
		}
	}
	return min(max(granted, minRegistered), maxRegistered)
}

// seconds returns the number of seconds in a header; 0 if it has none.
func seconds(res *sip.Response, name string) time.Duration {
	h := res.GetHeader(name)
	if h == nil {
		return 0
	}
	text := strings.TrimSpace(h.Value())
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 { // a comment or parameters follow
		text = text[:i]
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// outside returns a dialog for requests to a trunk that belong to no call. They come from a user of its domain; own is
// the user of our address.
func (e *Engine) outside(ctx context.Context, t *Trunk, user, own string) (*dialog, error) {
	target, domain, err := t.target("")
	if err != nil {
		return nil, err
	}
	way, err := admit(ctx, *t, e.o.AllowPrivate)
	if err != nil {
		return nil, err
	}
	from := &sip.FromHeader{Address: sip.Uri{Scheme: "sip", User: user, Host: domain}, Params: sip.NewParams()}
	from.Params.Add("tag", rand.Text())
	d := &dialog{
		e: e, callID: rand.Text(), local: from, remote: &sip.ToHeader{Address: *target.Clone(), Params: sip.NewParams()}, target: target,
		contact: e.contact(t, e.hostFor(t.Host), own), transport: strings.ToUpper(t.Transport), destination: way.destination,
		trunkAt: way.addresses, confined: t.Public,
	}
	if crowded(e.ua.TransportLayer(), d) {
		return nil, errors.Join(ErrUnreachable, errCrowded)
	}
	return d, nil
}

// contact returns our address as a trunk reaches it, on a host.
func (e *Engine) contact(t *Trunk, host netip.Addr, user string) sip.ContactHeader {
	port := e.address.Port()
	if strings.EqualFold(t.Transport, overTLS) {
		port = e.tls.Port()
	}
	c := sip.ContactHeader{
		Address: sip.Uri{Scheme: "sip", User: user, Host: host.String(), Port: int(port), UriParams: sip.NewParams()},
	}
	if !strings.EqualFold(t.Transport, "udp") {
		c.Address.UriParams.Add("transport", strings.ToLower(t.Transport))
	}
	return c
}
