package db

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outageEvery is the interval of checks whether the database is back.
const outageEvery = time.Second

// Outage reduces an outage of the database to two log lines: its start and its end. Other failures because of it are
// logged at level debug.
type Outage struct {
	log  *slog.Logger
	ping func(ctx context.Context) error

	mu   sync.Mutex
	away bool
}

// notice starts an outage, unless one is known, and watches for its end.
func (o *Outage) notice(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away || o.ping == nil {
		return
	}
	o.away = true
	begin := time.Now()
	o.log.Warn("the database is away; nothing is accepted or sent until it is back", "error", err)
	go func() {
		for {
			time.Sleep(outageEvery) //nolint:forbidigo // runs until the outage ends
			ctx, cancel := context.WithTimeout(context.Background(), outageEvery)
			err := o.ping(ctx)
			cancel()
			if err == nil {
				break
			}
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.away = false
		o.log.Warn("the database is back", "after", time.Since(begin).Round(100*time.Millisecond).String())
	}()
}

// Watch starts calling ping when something fails because the database is away.
func (o *Outage) Watch(ping func(ctx context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ping = ping
}

func (o *Outage) known() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ping != nil
}

// outageHandler filters records about an outage.
type outageHandler struct {
	slog.Handler
	outage *Outage
}

// LogOutages returns a logger with the same output, and its Outage.
func LogOutages(log *slog.Logger) (*slog.Logger, *Outage) {
	o := &Outage{log: log}
	return slog.New(outageHandler{log.Handler(), o}), o
}

// Handle passes a record on; with an error of an unreachable database only at level debug.
func (h outageHandler) Handle(ctx context.Context, r slog.Record) error {
	var cause error
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && Away(err) {
			cause = err
		}
		return cause == nil
	})
	if cause != nil && h.outage.known() {
		h.outage.notice(cause)
		r.Level = slog.LevelDebug
		if !h.Enabled(ctx, slog.LevelDebug) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h outageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageHandler{h.Handler.WithAttrs(attrs), h.outage}
}

// WithGroup implements slog.Handler.
func (h outageHandler) WithGroup(name string) slog.Handler {
	return outageHandler{h.Handler.WithGroup(name), h.outage}
}
