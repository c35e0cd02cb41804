package db

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outageEvery is the interval at which a database that is away is asked whether it is back.
const outageEvery = time.Second

// Outage turns an outage of the database into two lines of the log: that it is away, and that it is back. Everything that
// fails meanwhile because of it is logged for debugging only.
type Outage struct {
	log  *slog.Logger
	ping func(ctx context.Context) error

	mu   sync.Mutex
	away bool
}

// notice begins an outage, unless one is known, and watches for its end.
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
			time.Sleep(outageEvery) //nolint:forbidigo // it ends with the outage
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

// Watch begins to ask ping when something fails because the database is away.
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

// outageHandler passes records on, but for those about an outage.
type outageHandler struct {
	slog.Handler
	outage *Outage
}

// LogOutages returns a logger that writes to the same place, and what it reports outages to.
func LogOutages(log *slog.Logger) (*slog.Logger, *Outage) {
	o := &Outage{log: log}
	return slog.New(outageHandler{log.Handler(), o}), o
}

// Handle passes a record on: one with the error of a database that is away only for debugging.
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

// WithAttrs keeps the handler around one with more attributes.
func (h outageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageHandler{h.Handler.WithAttrs(attrs), h.outage}
}

// WithGroup keeps the handler around one with a group.
func (h outageHandler) WithGroup(name string) slog.Handler {
	return outageHandler{h.Handler.WithGroup(name), h.outage}
}
