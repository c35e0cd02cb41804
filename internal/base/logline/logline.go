// Package logline batches the writes of log lines.
package logline

import (
	"io"
	"sync"
	"time"
)

const (
	every = 50 * time.Millisecond // longest delay of a line
	piece = 32 << 10              // bytes that trigger an immediate write
)

// Writer buffers log lines and writes several together, so that logging a request does not cost a system call. Call
// Flush before the program ends.
type Writer struct {
	w io.Writer

	mu      sync.Mutex
	buf     []byte
	waiting bool // a flush is scheduled
}

// New returns a Writer that writes to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Write buffers one line. An error of the underlying writer appears in a later call or not at all.
func (l *Writer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, line...)
	if len(l.buf) >= piece {
		return len(line), l.flush()
	}
	if !l.waiting {
		l.waiting = true
		time.AfterFunc(every, func() { _ = l.Flush() })
	}
	return len(line), nil
}

// Flush writes the buffered lines.
func (l *Writer) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	return l.flush()
}

func (l *Writer) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}
