package whatsapp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// wire carries requests over connections that it keeps. The goroutine that sends writes the request and reads the answer
// by itself, where net/http's transport has two more goroutines a connection: half the cost of a message, and what was
// written of it is known at once. It speaks HTTP/1.1 alone, uses net/http's reader of answers, sends nothing twice and
// follows nothing.
type wire struct {
	dial func(ctx context.Context, t *target) (net.Conn, error)
	most int // connections kept to a host

	mu   sync.Mutex
	idle map[string][]*line // by address, the latest used last
	reap *time.Timer        // runs while something is kept
}

// line is one connection, used by one request at a time.
type line struct {
	net.Conn
	key   string // its place among the idle
	in    *bufio.Reader
	out   []byte
	left  int // bytes that may still be read of an answer
	since time.Time

	raw   syscall.RawConn // nil: cannot be asked
	probe func(fd uintptr) bool
	quiet bool // what probe found
}

const (
	answerHead = 64 << 10 // of an answer at most
	informal   = 5        // answers before the answer (1xx) that are passed over
)

var errAnswerTooLong = errors.New("answer too long")

// Read bounds what one answer may make us read.
func (l *line) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errAnswerTooLong
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

func newLine(c net.Conn, key string) *line {
	l := &line{Conn: c, key: key}
	l.in = bufio.NewReaderSize(l, 4<<10)
	l.watch()
	return l
}

// exchange sends a request and reads its answer until the deadline. left: a byte of it may have reached the channel.
func (w *wire) exchange(ctx context.Context, t *target, body []byte, deadline time.Time) (a answer, left bool, err error) {
	for {
		l, kept, err := w.take(ctx, t, deadline)
		if err != nil {
			return answer{}, false, err
		}
		a, left, err = l.exchange(ctx, t, body, deadline)
		if err == nil || left || !kept || ctx.Err() != nil {
			w.giveBack(l, err == nil && a.keep)
			return a, left, err
		}
		_ = l.Close() // it was closed while it was idle, and nothing was written: that is no failure yet
	}
}

func (l *line) exchange(ctx context.Context, t *target, body []byte, deadline time.Time) (a answer, left bool, err error) {
	if err := l.SetDeadline(deadline); err != nil {
		return a, false, err
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
		defer func() {
			if !stop() {
				a.keep = false // its deadline may be set at any time from now
			}
		}()
	}
	l.out = t.append(l.out[:0], body)
	if n, err := l.Write(l.out); err != nil {
		return a, n > 0, err
	}
	l.left = answerHead + maxAnswer + 1
	a, err = l.answer(t)
	return a, true, err
}

// answer reads one answer, whole.
func (l *line) answer(t *target) (answer, error) {
	for range informal {
		resp, err := http.ReadResponse(l.in, requestOf(t.method))
		if err != nil {
			return answer{}, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		a := answer{status: resp.StatusCode, header: resp.Header}
		if a.body, err = readBody(resp); err != nil {
			return answer{}, fmt.Errorf("read answer %d: %w", resp.StatusCode, err)
		}
		a.keep = !resp.Close && l.in.Buffered() == 0
		return a, nil
	}
	return answer{}, errors.New("no answer but announcements")
}

// requestOf is all that the reader of answers asks of a request.
func requestOf(method string) *http.Request { return &http.Request{Method: method} }

func readBody(resp *http.Response) ([]byte, error) {
	if n := resp.ContentLength; n >= 0 && n <= maxAnswer {
		body := make([]byte, n)
		if _, err := io.ReadFull(resp.Body, body); err != nil {
			return nil, err
		}
		return body, resp.Body.Close()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errAnswerTooLong
	}
	return body, err
}

// take gives a kept connection that the other side has not closed, else a new one.
func (w *wire) take(ctx context.Context, t *target, deadline time.Time) (l *line, kept bool, err error) {
	key := t.addr
	if t.secure {
		key = "tls " + key
	}
	for {
		w.mu.Lock()
		all := w.idle[key]
		if len(all) == 0 {
			w.mu.Unlock()
			break
		}
		l = all[len(all)-1]
		all[len(all)-1] = nil
		w.idle[key] = all[:len(all)-1]
		w.mu.Unlock()
		if time.Since(l.since) < idleTimeout && l.alive() {
			return l, true, nil
		}
		_ = l.Close()
	}
	dialCtx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	c, err := w.dial(dialCtx, t)
	if ctx.Err() != nil && err != nil {
		return nil, false, ctx.Err() // the caller's end says nothing about the channel
	}
	if err != nil {
		return nil, false, err
	}
	return newLine(c, key), false, nil
}

func (w *wire) giveBack(l *line, keep bool) {
	if !keep {
		_ = l.Close()
		return
	}
	l.since = time.Now()
	if cap(l.out) > headRoom {
		l.out = nil // one long message in a while need not be remembered by every connection
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle[l.key]) >= w.most {
		_ = l.Close()
		return
	}
	if w.idle == nil {
		w.idle = map[string][]*line{}
	}
	w.idle[l.key] = append(w.idle[l.key], l)
	if w.reap == nil {
		w.reap = time.AfterFunc(idleTimeout, w.closeOld)
	}
}

// closeOld closes what nobody has used for long, and comes back while something is kept.
func (w *wire) closeOld() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reap = nil
	old := time.Now().Add(-idleTimeout)
	for key, all := range w.idle {
		n := 0
		for n < len(all) && all[n].since.Before(old) {
			_ = all[n].Close()
			n++
		}
		if n == len(all) {
			delete(w.idle, key)
			continue
		}
		w.idle[key] = append(all[:0:0], all[n:]...)
	}
	if len(w.idle) > 0 {
		w.reap = time.AfterFunc(idleTimeout, w.closeOld)
	}
}

// closeIdle closes all that carries nothing now.
func (w *wire) closeIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.idle {
		for _, l := range all {
			_ = l.Close()
		}
	}
	w.idle = nil
	if w.reap != nil {
		w.reap.Stop()
		w.reap = nil
	}
}
