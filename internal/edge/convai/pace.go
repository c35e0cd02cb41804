package convai

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	burst     = 60 // messages with a text at once
	perSecond = 4  // and in the long run

	soundBurst  = 10 * time.Second // of sound at once
	soundFactor = 2                // and as fast in the long run: nobody speaks faster than time goes, but clocks differ
)

// pace bounds the messages of a client that cost something: not its sound, which is bounded by its length.
type pace struct {
	left float64
	at   time.Time
}

func newPace() pace { return pace{left: burst, at: time.Now()} }

// allow reports whether one more message is within the bounds. It is called by the reader alone.
func (p *pace) allow() bool {
	now := time.Now()
	p.left = min(burst, p.left+perSecond*now.Sub(p.at).Seconds())
	p.at = now
	if p.left < 1 {
		return false
	}
	p.left--
	return true
}

// pings are what was asked of the client to see whether it is there.
type pings struct {
	mu   sync.Mutex
	last int64     // the id of the newest ping
	sent time.Time // when it was sent
	rtt  time.Duration
	seen time.Time // when the last pong came
}

func newPings() pings { return pings{seen: time.Now()} }

// ping asks the client regularly whether it is there, and ends the connection of one that is not.
func (c *Conn) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		m, alive := c.pings.next(goneAfter)
		if !alive {
			c.shut(websocket.StatusPolicyViolation, "No pong came in time")
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

// next is the next ping; the client is not alive where none was answered for long.
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
	return of("ping", "ping_event", e), true
}

// pong records that the client answered a ping.
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
