package client

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// patience bounds how long an attempt takes: an upload or a recording, which may be long, while nothing moves; everything else in all.
type patience struct {
	timer   *time.Timer // nil: there is no bound
	longest time.Duration
	moving  bool // the bound restarts with every piece
	over    atomic.Bool
}

// timed returns the context of an attempt, which ends when it takes too long, and what ends it otherwise.
func timed(ctx context.Context, call Call, longest time.Duration) (limited context.Context, t *patience, end func()) {
	limited, cancel := context.WithCancel(ctx)
	t = &patience{longest: longest, moving: call.Into != nil || call.form != nil && call.Body == nil}
	if longest == 0 {
		return limited, t, cancel
	}
	t.timer = time.AfterFunc(longest, func() {
		t.over.Store(true)
		cancel()
	})
	return limited, t, func() {
		t.timer.Stop()
		cancel()
	}
}

// again restarts the bound.
func (t *patience) again() {
	if t.timer != nil && t.moving {
		t.timer.Reset(t.longest)
	}
}

// cause is why an attempt failed: of one that took too long net/http reports no more than that its context ended.
func (t *patience) cause(err error) error {
	switch {
	case !t.over.Load():
		return err
	case t.moving:
		return fmt.Errorf("nothing moved for %s: %w", t.longest, context.DeadlineExceeded)
	}
	return fmt.Errorf("none within %s: %w", t.longest, context.DeadlineExceeded)
}

// sending is the body of a request, each piece of which restarts the bound.
func (t *patience) sending(body io.ReadCloser) io.ReadCloser {
	if !t.moving {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{reading(func(b []byte) (int, error) {
		defer t.again()
		return body.Read(b)
	}), body}
}

// receiving is the body of a response, each piece of which restarts the bound. What is done with the piece takes as long as it takes.
func (t *patience) receiving(body io.Reader) io.Reader {
	if !t.moving {
		return body
	}
	return reading(func(b []byte) (int, error) {
		t.again()
		n, err := body.Read(b)
		if t.timer != nil {
			t.timer.Stop()
		}
		return n, err
	})
}

// reading is a function that reads.
type reading func(b []byte) (int, error)

// Read implements io.Reader.
func (r reading) Read(b []byte) (int, error) { return r(b) }
