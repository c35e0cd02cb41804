package convai

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/voice"
)

// Protocol is the WebSocket subprotocol.
const Protocol = "convai"

const (
	pingEvery         = 10 * time.Second
	pongTimeout       = 30 * time.Second // limit since the last pong
	writeTimeout      = 10 * time.Second // timeout for writing one message
	initiationTimeout = 10 * time.Second // timeout of the initiation
	drainTimeout      = 2 * time.Second  // time to flush the outbox before the connection is closed
	// endGrace is the grace period for run after the person hung up or left.
	endGrace = 10 * time.Second
	// maxSession is the default maximum duration of a connection.
	maxSession = time.Hour
	// playbackDelay is the delay of sound from here to the person's ear.
	playbackDelay = 200 * time.Millisecond
	// maxTurns is the number of recent responses that can be scored.
	maxTurns = 200
)

// Options configure a connection.
type Options struct {
	Log *slog.Logger
	// Allowed lists the settings that the client may override in its initiation.
	Allowed []string
	// Longest is the maximum duration of the connection; default an hour.
	Longest time.Duration
}

// Conn is the socket of one person: a visitor or a teammate. Line and Show may be used from its start until the end of
// Serve. Anything sent after the client has left is discarded.
type Conn struct {
	o    Options
	ws   *websocket.Conn
	out  *outbox
	line *line

	response   atomic.Int64 // the response whose sound is being written
	closedByUs atomic.Bool  // this side closes the connection
	binary     atomic.Bool  // sound is sent in binary frames
	done       chan struct{}
	finish     func() // closes done, which ends reading and writing
	closeAll   sync.Once
	closing    <-chan struct{} // the server is stopping
	written    chan struct{}   // closed when the writer has finished
	opened     time.Time
	pings      pings
	pace       pace

	// Used only by the reader:
	heard    pace          // of the recognizer in the browser
	received time.Duration // total sound received from the client
	soundAt  time.Time     // the last sound was received

	mu     sync.Mutex
	writer writer
	turns  []shown // the most recent responses
	ended  string  // reason for the end of the conversation; empty while it lasts
}

// shown is a response sent to the client, and its turn.
type shown struct{ response, turn int64 }

// keyLength is the number of bytes in the key of a handshake (RFC 6455, section 4.1).
const keyLength = 16

// Check reports whether a request is a valid WebSocket handshake, so that Accept will not refuse it. Errors:
// validation_failed.
func Check(r *http.Request) error {
	if !carriesToken(r.Header, "Connection", "upgrade") || !carriesToken(r.Header, "Upgrade", "websocket") {
		return carillon.Invalid("Upgrade", "This route takes WebSocket connections only")
	}
	if r.Header.Get("Sec-Websocket-Version") != "13" {
		return carillon.Invalid("Sec-WebSocket-Version", "Must be 13")
	}
	keys := r.Header.Values("Sec-Websocket-Key")
	if len(keys) != 1 {
		return carillon.Missing("Sec-WebSocket-Key")
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != keyLength {
		return carillon.Invalid("Sec-WebSocket-Key", "Must be 16 bytes in base64")
	}
	return nil
}

// Accept upgrades a request to a WebSocket. The caller has checked the credential and the origin. Errors before the
// upgrade can be sent as usual responses. The caller must call Close.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (*Conn, error) {
	if err := Check(r); err != nil {
		return nil, err
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{Protocol}, InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("accept a socket: %w", err)
	}
	ws.SetReadLimit(maxSound)
	if o.Longest == 0 {
		o.Longest = maxSession
	}
	c := &Conn{
		o: o, ws: ws, out: newOutbox(), done: make(chan struct{}), closing: httpio.Closing(r.Context()),
		written: make(chan struct{}), opened: time.Now(),
		pings: newPings(), pace: newPace(burst, perSecond), heard: newPace(heardBurst, heardPerSecond),
	}
	c.line = newLine(c)
	c.finish = sync.OnceFunc(func() { close(c.done) })
	go c.write() //nolint:gosec // it outlives the request's context, which ends with the handler
	go c.watch()
	return c, nil
}

// Line returns the person's audio line.
func (c *Conn) Line() voice.Line { return c.line }

// Initiation waits for the client's initiation. If it returns an error, the connection has ended.
func (c *Conn) Initiation(ctx context.Context) (*Initiation, error) {
	late := time.AfterFunc(initiationTimeout, func() {
		c.closeWith(websocket.StatusPolicyViolation, "The initiation did not come in time")
	})
	defer late.Stop()
	for {
		_, text, err := c.ws.Read(ctx)
		if err != nil {
			c.abort()
			return nil, fmt.Errorf("wait for the initiation: %w", err)
		}
		m, err := c.parse(text)
		if err == nil && m.Type != initiationType {
			continue // sound, for example
		}
		var x *Initiation
		if err == nil {
			x, err = parseInitiation(text, c.o.Allowed)
		}
		if err != nil {
			c.Refuse(err)
			return nil, err
		}
		c.binary.Store(x.Binary)
		return x, nil
	}
}

// Begin sends the first message. Nothing else may be sent before it. by names the recognizer of the person's speech
// (HearingBrowser …), for a client whose initiation offers its browser; empty for others.
func (c *Conn) Begin(conversationID, by string) {
	c.send(metadata(conversationID, by, c.binary.Load()))
}

// Show sends an event. It never blocks.
func (c *Conn) Show(e voice.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case voice.Sounding:
		c.response.Store(e.ID)
	case voice.Responded:
		if c.turns = append(c.turns, shown{e.ID, e.Seq}); len(c.turns) > maxTurns {
			c.turns = c.turns[1:]
		}
	case voice.Interrupted:
		c.out.clear()
		// Clients drop the sound of responses up to the interrupted one. A teammate's sound belongs to no response, so give
		// it the next id.
		c.response.Store(max(c.response.Load(), e.ID+1))
	case voice.Ended:
		c.ended = e.Code
	default:
	}
	for _, m := range c.writer.messages(&e) {
		c.send(m)
	}
}

// turnOf returns the turn of a response that was shown.
func (c *Conn) turnOf(response int64) (turn int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.turns {
		if s.response == response {
			return s.turn, true
		}
	}
	return 0, false
}

// Refuse sends an error and ends the connection. Errors that are neither a *carillon.Error nor from this package are
// shown as internal errors.
func (c *Conn) Refuse(err error) {
	code, kind, text, reason := codeInternal, typeUnknown, "Something went wrong", carillon.InternalError.String()
	if r := asRefusal(err); r != nil {
		code, kind, text, reason = codePolicy, r.kind, r.text, ""
	} else if e, ok := errors.AsType[*carillon.Error](err); ok {
		text, reason = e.Message, e.Code.String()
		if why, ok := e.Details.Find("reason").(string); ok && (e.Code == carillon.Forbidden || e.Code == carillon.Conflict) {
			text = why // the message is the same for all errors of these codes
		}
		if e.Code.Status() < http.StatusInternalServerError {
			code = codePolicy
		}
	}
	c.send(failure(code, kind, text, reason))
	c.closeWith(websocket.StatusCode(code), text)
}

// Serve passes on the client's messages and runs a conversation on the connection until either ends. If the client
// hangs up, by message or by closing the connection normally, Serve calls client.End and run is expected to return. A
// lost client or a server shutdown cancels the context of run. Serve returns the error of run.
func (c *Conn) Serve(ctx context.Context, run func(ctx context.Context) error, client Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran, read := make(chan error, 1), make(chan bool, 1)
	go func() { ran <- voice.Guard(func() error { return run(ctx) }) }()
	go c.ping()
	go func() {
		hungUp := false
		err := voice.Guard(func() error { hungUp = c.read(ctx, &client); return nil })
		if err != nil {
			c.log(ctx, "read a socket", err)
			c.abort()
		}
		read <- hungUp
	}()
	longest := time.NewTimer(c.o.Longest - time.Since(c.opened))
	defer longest.Stop()
	end := time.NewTimer(c.o.Longest + endGrace)
	defer end.Stop()
	for {
		select {
		case err := <-ran:
			c.close(ctx, err)
			return err
		case hungUp := <-read:
			c.line.end()
			if read = nil; !hungUp {
				cancel()
				continue
			}
			end.Reset(endGrace)
		case <-longest.C:
			c.send(failure(codePolicy, typeTooLong, "The conversation has reached its maximum duration", ""))
			call(client.End)
			end.Reset(endGrace)
		case <-end.C:
			cancel()
		}
	}
}

// close ends the connection after run has returned.
func (c *Conn) close(ctx context.Context, err error) {
	switch {
	case c.gone():
	case err == nil:
		c.playOut(ctx)
		c.mu.Lock()
		reason := c.ended
		c.mu.Unlock()
		c.closeWith(websocket.StatusNormalClosure, reason)
	case ctx.Err() != nil:
		c.closeWith(websocket.StatusGoingAway, "")
	default:
		c.Refuse(err)
	}
}

// playOut waits until the client has played everything sent.
func (c *Conn) playOut(ctx context.Context) {
	rest := c.line.rest()
	if rest == 0 {
		return
	}
	select {
	case <-time.After(min(rest+playbackDelay, endGrace)):
	case <-c.done:
	case <-ctx.Done():
	}
}

// Close closes the connection.
func (c *Conn) Close() { c.closeWith(websocket.StatusGoingAway, "") }

// read passes on the client's messages until the connection ends, and reports whether the client hung up. It calls
// client.End before it marks the connection as lost, so that run sees the hang-up first.
func (c *Conn) read(ctx context.Context, client *Client) (hungUp bool) {
	defer c.abort()
	for {
		// Canceling the context of a read would close the connection, so the read must not inherit ctx.
		kind, data, err := c.ws.Read(context.WithoutCancel(ctx))
		if err != nil {
			status := websocket.CloseStatus(err)
			normal := status == websocket.StatusNormalClosure || status == websocket.StatusNoStatusRcvd
			if hungUp = normal && !c.closedByUs.Load(); hungUp {
				call(client.End)
			}
			return hungUp
		}
		if kind == websocket.MessageBinary && c.binary.Load() {
			err = c.hear(fromBytes(data))
		} else {
			err = c.receive(data, client)
		}
		if err != nil {
			if r := asRefusal(err); r != nil && !r.fatal {
				c.send(failure(codePolicy, r.kind, r.text, ""))
				continue
			}
			c.Refuse(err)
			return false
		}
	}
}

// parse reads a message. A message without sound that exceeds maxMessage ends the connection, just like a message
// above the general limit.
func (c *Conn) parse(text []byte) (*incoming, error) {
	m, err := parse(text)
	if len(text) > maxMessage && (err != nil || m.Sound == nil) {
		const reason = "Only sound may have more than 64 kB"
		c.closeWith(websocket.StatusMessageTooBig, reason)
		return nil, invalid(reason)
	}
	return m, err
}

// receive handles one message.
func (c *Conn) receive(text []byte, client *Client) error {
	m, err := c.parse(text)
	if err != nil {
		return err
	}
	if m.Sound == nil {
		return c.dispatch(m, client)
	}
	pcm, ok := samples(*m.Sound)
	if !ok {
		return invalid("user_audio_chunk is no base64")
	}
	return c.hear(pcm)
}

// hear handles sound.
func (c *Conn) hear(pcm []int16) error {
	c.received += time.Duration(len(pcm)) * time.Second / Rate
	if c.received > soundBurst+soundFactor*time.Since(c.opened) {
		return invalid("Too much sound")
	}
	c.soundAt = time.Now()
	c.line.receive(pcm)
	return nil
}

// write writes the outbox to the client, one message at a time, until the outbox is closed.
func (c *Conn) write() {
	defer close(c.written)
	for {
		m, ok := c.out.next(c.done)
		if !ok {
			return
		}
		kind := websocket.MessageText
		if m.binary {
			kind = websocket.MessageBinary
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		err := c.ws.Write(ctx, kind, m.data)
		cancel()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) { // otherwise the client closed it, and the reader handles that
				go c.abort() // shut may be waiting for the writer
			}
			return
		}
	}
}

// watch ends the connection when the server stops.
func (c *Conn) watch() {
	select {
	case <-c.closing:
		c.closeWith(websocket.StatusServiceRestart, "The server restarts")
	case <-c.done:
	}
}

// send queues a message. A client that reads too slowly is disconnected.
func (c *Conn) send(m message) {
	if c.out.add(m) {
		go c.abort()
	}
}

// gone reports whether the client can no longer be reached.
func (c *Conn) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// maxReason is the number of bytes for a reason in a close frame.
const maxReason = 123

// closeWith flushes the outbox, for at most drainTimeout, and closes the connection.
func (c *Conn) closeWith(code websocket.StatusCode, reason string) {
	c.closeAll.Do(func() {
		c.closedByUs.Store(true)
		c.out.close()
		select {
		case <-c.written:
		case <-c.done:
		case <-time.After(drainTimeout):
		}
		c.finish()
		_ = c.ws.Close(code, strings.ToValidUTF8(reason[:min(len(reason), maxReason)], ""))
	})
}

// abort closes a connection without flushing, because the client does not read.
func (c *Conn) abort() {
	c.closeAll.Do(func() {
		c.out.close()
		c.finish()
		_ = c.ws.CloseNow()
	})
}

func (c *Conn) log(ctx context.Context, what string, err error) {
	if c.o.Log != nil {
		c.o.Log.ErrorContext(ctx, what, "error", err)
	}
}
