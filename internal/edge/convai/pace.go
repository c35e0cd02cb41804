package convai

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	burst     = 60 // burst of text messages
	perSecond = 4  // sustained rate

	// The rates of a recognizer in the browser. The burst allows for a stall of five seconds.
	heardBurst     = 25
	heardPerSecond = 5

	soundBurst  = 10 * time.Second // burst of sound
	soundFactor = 2                // sustained rate, as a multiple of real time; above 1 because clocks differ
)

// pace is a token bucket for client messages that cost something, except sound, which is limited by duration.
type pace struct {
	burst, perSecond float64
	tokens           float64
	at               time.Time
}

func newPace(burst, perSecond float64) pace { return pace{burst, perSecond, burst, time.Now()} }

// allow reports whether one more message is within the limits. Only the reader calls it.
func (p *pace) allow() bool {
	now := time.Now()
	p.tokens = min(p.burst, p.tokens+p.perSecond*now.Sub(p.at).Seconds())
	p.at = now
	if p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}

// pings tracks the pings sent to the client and its pongs.
type pings struct {
	mu   sync.Mutex
	last int64     // id of the newest ping
	sent time.Time // time of the newest ping
	rtt  time.Duration
	seen time.Time // time of the latest pong
}

func newPings() pings { return pings{seen: time.Now()} }

// ping pings the client regularly, and closes the connection if it does not respond.
func (c *Conn) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		m, alive := c.pings.next(pongTimeout)
		if !alive {
			c.closeWith(websocket.StatusPolicyViolation, "No pong came in time")
			return
		}
		c.send(m)
		select {
		case <-tick.C:
		case <-c.done:
			return
		}
	}
}

// next returns the next ping. alive is false if there was no pong for longer than within.
func (p *pings) next(within time.Duration) (m message, alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.seen) > within {
		return m, false
	}
	p.last++
	p.sent = now
	e := object{"event_id": p.last}
	if p.rtt > 0 {
		e["ping_ms"] = p.rtt.Milliseconds()
	}
	return newMessage("ping", "ping_event", e), true
}

// pong records a pong from the client.
func (p *pings) pong(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = time.Now()
	if id == p.last {
		p.rtt = max(time.Millisecond, p.seen.Sub(p.sent))
	}
}

// carriesToken reports whether a header lists a token.
func carriesToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}
