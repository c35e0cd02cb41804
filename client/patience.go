package client

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// patience limits the duration of an attempt. For uploads and recordings, which may take long, it limits the time
// without progress; for other requests, the total time.
type patience struct {
	timer   *time.Timer // nil: no limit
	longest time.Duration
	moving  bool // restart the limit with every piece
	over    atomic.Bool
}

// timed returns a context for an attempt that ends when the attempt takes too long, and a function that releases it.
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

// restart restarts the limit.
func (t *patience) restart() {
	if t.timer != nil && t.moving {
		t.timer.Reset(t.longest)
	}
}

// cause returns why an attempt failed. If it took too long, net/http only reports that its context ended.
func (t *patience) cause(err error) error {
	switch {
	case !t.over.Load():
		return err
	case t.moving:
		return fmt.Errorf("nothing moved for %s: %w", t.longest, context.DeadlineExceeded)
	}
	return fmt.Errorf("none within %s: %w", t.longest, context.DeadlineExceeded)
}

// sending wraps the body of a request. Each piece restarts the limit.
func (t *patience) sending(body io.ReadCloser) io.ReadCloser {
	if !t.moving {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{reading(func(b []byte) (int, error) {
		defer t.restart()
		return body.Read(b)
	}), body}
}

// receiving wraps the body of a response. Each piece restarts the limit. Processing a piece may take any time.
func (t *patience) receiving(body io.Reader) io.Reader {
	if !t.moving {
		return body
	}
	return reading(func(b []byte) (int, error) {
		t.restart()
		n, err := body.Read(b)
		if t.timer != nil {
			t.timer.Stop()
		}
		return n, err
	})
}

// reading is an io.Reader made from a function.
type reading func(b []byte) (int, error)

// Read implements io.Reader.
func (r reading) Read(b []byte) (int, error) { return r(b) }
