package app

import (
	"io"
	"sync"
	"time"
)

const (
	logEvery = 50 * time.Millisecond // longest delay of a line
	logPiece = 32 << 10              // bytes that cause a write at once
)

// LogWriter buffers log lines and writes several at once, so that logging a request does not cost a system call. Flush it
// before the program ends.
type LogWriter struct {
	w io.Writer

	mu      sync.Mutex
	buf     []byte
	waiting bool // a flush is scheduled
}

// NewLogWriter makes a LogWriter in front of w.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{w: w} }

// Write buffers one line. An error of the underlying writer shows in a later call or not at all.
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

// Flush writes the buffered lines.
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
