package httpio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"carillon/internal/base/share"
)

const (
	// maxStream bounds a stream, so that the caller's credential is checked again now and then; clients reconnect.
	maxStream = 30 * time.Minute
	heartbeat = 20 * time.Second
	// writeWithin is how long one write to a stream may take: a client that does not read holds a connection no longer.
	writeWithin = 20 * time.Second
	// yieldRetry is when the client of a stream that gave way to another one of its session is to open it again. Without it the pages of
	// somebody who has one page too many would end each other's streams for ever.
	yieldRetry = 30 * time.Second
)

// Event is one server-sent event. ID is empty where nothing is stored to replay from.
type Event struct {
	ID   string
	Name string
	Data []byte // one line
}

// Stream is a response of server-sent events (HTML standard, section 9.2). It outlives the server's time-outs, and ends
// when the client leaves, when a write takes too long, or when the router closes its streams.
type Stream struct {
	ctx     context.Context //nolint:containedctx // the stream is the request
	w       http.ResponseWriter
	control *http.ResponseController
	closing <-chan struct{}
	place   *share.Place
	buf     bytes.Buffer
}

// OpenStream writes the headers of a stream, which holds a place of Follow until Close. Once the headers are written errors can no
// longer be sent to the client.
func OpenStream(w http.ResponseWriter, r *http.Request, place *share.Place) (*Stream, error) {
	s := &Stream{ctx: r.Context(), w: w, control: http.NewResponseController(w), place: place}
	if st := stateOf(r.Context()); st.router != nil {
		s.closing = st.router.closing
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Follow takes one of the router's streams for a request that waits for events, whose client is found here; before the request
// asks the database, so that refused ones cost nothing. Errors: those of share.Share.Take.
func Follow(r *http.Request, by share.Holder) (*share.Place, error) {
	rt := stateOf(r.Context()).router
	if rt == nil {
		return new(share.Place), nil
	}
	by.Client = ClientNetwork(r, rt.Proxies)
	return rt.Streams.Take(by)
}

// Close gives the stream's place back.
func (s *Stream) Close() { s.place.Release() }

func (s *Stream) open() error {
	w := s.w
	// An expired read deadline would cancel the request's context.
	if err := errors.Join(s.control.SetReadDeadline(time.Time{}), s.control.SetWriteDeadline(time.Time{})); err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // reverse proxies must not collect it
	w.WriteHeader(http.StatusOK)
	s.buf.WriteString(": open\n\n")
	return s.flush()
}

// Serve writes the events of each call of next until the stream ends. next is called at the start, after each signal on
// ready, and with each heartbeat, so that a quiet stream ends too when its caller may not read it any more; a closed ready
// ends the stream, and so does another stream of its session that needs its place. The error is next's; a client that left or
// does not read is none.
func (s *Stream) Serve(ready <-chan struct{}, next func(ctx context.Context) ([]Event, error)) error {
	beat := time.NewTimer(firstBeat())
	defer beat.Stop()
	ctx, cancel := context.WithTimeout(s.ctx, maxStream)
	defer cancel()
	for {
		events, err := next(ctx)
		if err != nil || len(events) > 0 && s.Send(events...) != nil {
			return err
		}
		if !s.wait(ctx, ready, beat) {
			return nil
		}
	}
}

// firstBeat is when the first heartbeat of a stream comes: at random, because the streams that were opened together, after a
// start say, would look at the database together too, again and again.
func firstBeat() time.Duration {
	return heartbeat/2 + rand.N(heartbeat/2) //nolint:gosec // no secret
}

// wait blocks until there may be events or a heartbeat was written; it reports whether the stream goes on.
func (s *Stream) wait(ctx context.Context, ready <-chan struct{}, beat *time.Timer) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.closing:
		return false
	case <-s.place.Yield():
		fmt.Fprintf(&s.buf, "retry: %d\n\n", yieldRetry.Milliseconds())
		_ = s.flush() // the stream ends anyway
		return false
	case _, open := <-ready:
		return open
	case <-beat.C:
		beat.Reset(heartbeat)
		s.buf.WriteString(":\n\n")
		return s.flush() == nil
	}
}

// Send writes events and flushes them.
func (s *Stream) Send(events ...Event) error {
	for _, e := range events {
		if e.ID != "" {
			s.buf.WriteString("id: " + e.ID + "\n")
		}
		if e.Name != "" {
			s.buf.WriteString("event: " + e.Name + "\n")
		}
		s.buf.WriteString("data: ")
		s.buf.Write(e.Data)
		s.buf.WriteString("\n\n")
	}
	return s.flush()
}

func (s *Stream) flush() error {
	err := s.control.SetWriteDeadline(time.Now().Add(writeWithin))
	if err == nil {
		_, err = s.w.Write(s.buf.Bytes()) //nolint:gosec // events, which browsers do not take for a page
	}
	if err == nil {
		err = s.control.Flush()
	}
	s.buf.Reset()
	return err
}

// Closing is closed when the streams of the server that a request belongs to must end; nil: it belongs to none.
func Closing(ctx context.Context) <-chan struct{} {
	if st := stateOf(ctx); st.router != nil {
		return st.router.closing
	}
	return nil
}
