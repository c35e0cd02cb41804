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
	// maxStream is the maximum duration of a stream. Clients then reconnect, which checks the caller's credential
	// again.
	maxStream = 30 * time.Minute
	heartbeat = 20 * time.Second
	// writeWithin is the timeout of one write to a stream, so that a client that does not read cannot hold its
	// connection.
	writeWithin = 20 * time.Second
	// yieldRetry is the reconnect delay for a client whose stream was replaced by a newer one of its session. Without
	// it, the pages of a user with one page too many would keep ending each other's streams.
	yieldRetry = 30 * time.Second
)

// Event is one server-sent event. ID is empty if the event cannot be replayed from storage.
type Event struct {
	ID   string
	Name string
	Data []byte // a single line
}

// Stream is a response of server-sent events (HTML standard, section 9.2). The server's timeouts do not apply to it.
// It ends when the client disconnects, when a write times out, or when the router closes its streams.
type Stream struct {
	ctx     context.Context //nolint:containedctx // a stream lives as long as its request
	w       http.ResponseWriter
	control *http.ResponseController
	closing <-chan struct{}
	place   *share.Place
	buf     bytes.Buffer
}

// OpenStream writes the headers of a stream. The stream holds the place, obtained from Follow, until Close. After the
// headers have been written, errors can no longer be sent to the client.
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

// Follow reserves one of the router's streams for a request that waits for events. It fills in the client of the holder.
// Call it before the request queries the database, so that refused requests cost nothing. Errors: those of
// share.Share.Take.
func Follow(r *http.Request, by share.Holder) (*share.Place, error) {
	rt := stateOf(r.Context()).router
	if rt == nil {
		return new(share.Place), nil
	}
	by.Client = ClientNetwork(r, rt.Proxies)
	return rt.Streams.Take(by)
}

// Close releases the stream's place.
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
	h.Set("X-Accel-Buffering", "no") // reverse proxies must not buffer the stream
	w.WriteHeader(http.StatusOK)
	s.buf.WriteString(": open\n\n")
	return s.flush()
}

// Serve writes the events from each call of next until the stream ends. It calls next at the start, after each signal
// on ready, and at each heartbeat, so that an idle stream also ends once its caller loses access. The stream also ends
// when ready is closed or when a newer stream of its session needs its place. Serve returns the error of next; a
// client that disconnects or does not read is not an error.
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

// firstBeat returns the delay before a stream's first heartbeat. It is random so that streams opened together, for
// example after a restart, do not keep querying the database at the same time.
func firstBeat() time.Duration {
	return heartbeat/2 + rand.N(heartbeat/2) //nolint:gosec // not a secret
}

// wait blocks until new events may exist or a heartbeat was written. It reports whether the stream continues.
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

// Send writes and flushes events.
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
		_, err = s.w.Write(s.buf.Bytes()) //nolint:gosec // an event stream, which browsers do not render as a page
	}
	if err == nil {
		err = s.control.Flush()
	}
	s.buf.Reset()
	return err
}

// Closing returns a channel that is closed when the streams of the request's server must end. It is nil if the request
// belongs to no server.
func Closing(ctx context.Context) <-chan struct{} {
	if st := stateOf(ctx); st.router != nil {
		return st.router.closing
	}
	return nil
}
