package meaning_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logged keeps the messages of a log.
type logged struct {
	mu  sync.Mutex
	all []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	l.all = append(l.all, text)
	return nil
}

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logged) WithGroup(string) slog.Handler      { return l }

// with returns the number of messages with a text.
func (l *logged) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.all {
		if strings.Contains(m, text) {
			n++
		}
	}
	return n
}

// counts implements meaning.Observer.
type counts struct {
	mu   sync.Mutex
	of   map[string]int
	made chan struct{} // gets a value for each batch, if there is room
}

func newCounts() *counts { return &counts{of: map[string]int{}, made: make(chan struct{}, 1000)} }

func (c *counts) add(key string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[key] += n
}

func (c *counts) count(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[key]
}

func (c *counts) Asked(purpose, result string, _ time.Duration) { c.add(purpose+" "+result, 1) }
func (c *counts) Sought(result string)                          { c.add("sought "+result, 1) }
func (c *counts) Made(n int) {
	c.add("made", n)
	select {
	case c.made <- struct{}{}:
	default:
	}
}
