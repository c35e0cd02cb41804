package sip

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

// sessionTimer implements RFC 4028. It ends a call whose far side has disappeared, which would otherwise last forever.
type sessionTimer struct {
	mu       sync.Mutex
	call     *Call
	expires  int // seconds; 0 means no timer
	ours     bool
	least    int
	timer    *time.Timer
	finished bool
}

const (
	sessionExpires = 1800
	minSession     = 90
	headerExpires  = "Session-Expires"
	headerMinSE    = "Min-SE"
	tooSmall       = 422
)

// request adds the request for a timer.
func (t *sessionTimer) request(r *sip.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	expires, refresher := sessionExpires, ""
	if t.expires > 0 {
		expires, refresher = t.expires, ";refresher=uac"
	}
	r.AppendHeader(sip.NewHeader("Supported", "timer"))
	r.AppendHeader(sip.NewHeader(headerExpires, strconv.Itoa(max(expires, t.least))+refresher))
	r.AppendHeader(sip.NewHeader(headerMinSE, strconv.Itoa(max(minSession, t.least))))
}

// expiresOf parses a Session-Expires header; 0 if there is none.
func expiresOf(m interface{ GetHeader(name string) sip.Header }) (seconds int, refresher string) {
	h := m.GetHeader(headerExpires)
	if h == nil {
		if h = m.GetHeader("x"); h == nil {
			return 0, ""
		}
	}
	value, parameters, _ := strings.Cut(h.Value(), ";")
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n <= 0 || n > 1<<20 {
		return 0, ""
	}
	for p := range strings.SplitSeq(parameters, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(p), "="); strings.EqualFold(name, "refresher") {
			refresher = strings.ToLower(value)
		}
	}
	return n, refresher
}

// tooShort refuses a request whose session would be shorter than our minimum (RFC 4028, section 9).
func tooShort(r *sip.Request, tx sip.ServerTransaction) bool {
	n, _ := expiresOf(r)
	if n == 0 || n >= minSession {
		return false
	}
	res := sip.NewResponseFromRequest(r, tooSmall, "Session Interval Too Small", nil)
	res.AppendHeader(sip.NewHeader(headerMinSE, strconv.Itoa(minSession)))
	_ = tx.Respond(res) // if the response is lost, the far side repeats its request
	return true
}

// agree applies the session interval in the far side's 200 to our request.
func (t *sessionTimer) agree(res *sip.Response) {
	n, refresher := expiresOf(res)
	t.start(n, refresher != "uas")
}

// respondTo applies the session interval in a request of the far side, and adds it to the response.
func (t *sessionTimer) respondTo(r *sip.Request, res *sip.Response) {
	n, refresher := expiresOf(r)
	if n == 0 {
		return
	}
	supported := false
	for _, h := range r.GetHeaders("Supported") {
		supported = supported || strings.Contains(strings.ToLower(h.Value()), "timer")
	}
	if refresher == "" || !supported {
		refresher = "uas"
	}
	t.start(n, refresher == "uas")
	res.AppendHeader(sip.NewHeader(headerExpires, fmt.Sprintf("%d;refresher=%s", n, refresher)))
	if supported {
		res.AppendHeader(sip.NewHeader("Require", "timer"))
	}
}

// start starts the timer. The refreshing side refreshes at half the time; the other gives up a little before the end.
func (t *sessionTimer) start(expires int, ours bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.expires, t.ours = expires, ours; expires == 0 || t.finished || t.call == nil {
		return
	}
	second := t.call.e.o.Second
	if ours {
		t.timer = time.AfterFunc(time.Duration(expires)*second/2, t.refresh)
		return
	}
	t.timer = time.AfterFunc(time.Duration(expires-min(32, expires/3))*second, func() { t.giveUp("the session was not refreshed") })
}

func (t *sessionTimer) refresh() {
	t.mu.Lock()
	expires := t.expires
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(expires)*t.call.e.o.Second/3)
	defer cancel()
	err := t.call.refresh(ctx)
	var refused *Refused
	switch {
	case err == nil:
	case errors.As(err, &refused) && refused.Code == sip.StatusRequestPending: // both sides at the same time
		time.AfterFunc(2*t.call.e.o.Second, t.refresh)
	default:
		t.giveUp("the session could not be refreshed: " + short(err.Error()))
	}
}

func (t *sessionTimer) giveUp(why string) {
	if t.call.over(Cause{By: System, Text: why}) {
		_ = t.call.dialog.bye(context.Background(), "")
	}
}

func (t *sessionTimer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
