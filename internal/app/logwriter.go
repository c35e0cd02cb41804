package app

import (
	"io"
	"sync"
	"time"
)

const (
	logEvery = 50 * time.Millisecond // the longest a line waits
	logPiece = 32 << 10              // that much is written at once
)

// LogWriter gathers log lines for a moment and writes them together: a line a request is written at the cost of a copy.
// Whoever makes one flushes it at the end.
type LogWriter struct {
	w io.Writer

	mu      sync.Mutex
	buf     []byte
	waiting bool // a flush is on its way
}

// NewLogWriter makes a LogWriter in front of w.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{w: w} }

// Write takes one line. An error of the writer behind shows in a later call, or never: a log has nowhere to report to.
func (l *LogWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, line...)
	if len(l.buf) >= logPiece {
		return len(line), l.flush()
	}
	if !l.waiting {
		l.waiting = true
		time.AfterFunc(logEvery, func() { _ = l.Flush() })
	}
	return len(line), nil
}

// Flush writes what waits.
func (l *LogWriter) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = false
	return l.flush()
}

func (l *LogWriter) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}
