// Package realtime carries wake-ups between nodes over PostgreSQL's LISTEN and NOTIFY. A wake-up may be lost or come
// twice: queues look through their due index now and then, so that losing one costs seconds and never a message.
package realtime

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/queue"
	"carillon/internal/store"
)

const (
	channel    = "carillon_wake"
	coalesce   = 5 * time.Millisecond
	payloadMax = 7000 // of PostgreSQL's 8000 bytes
	wakesMax   = 4096 // waiting at a time; beyond it the scan finds them
	retryAfter = time.Second
	lastFlush  = 2 * time.Second
)

// Bus publishes this node's wake-ups and hears the others'.
type Bus struct {
	store *store.Store
	log   *slog.Logger
	hear  func(ws []queue.Wake)

	mu      sync.Mutex
	waiting map[lane]time.Time
	moved   bool // shards are free
	signal  chan struct{}
}

type lane struct {
	uid   int64
	class int
}

// wire is a wake-up on the wire: sender, class, due in milliseconds.
type wire [3]int64

// New builds a bus; hear gets what other nodes published: wakes, or none when they gave shards back; and nil after each
// new subscription, when something may have been missed.
func New(s *store.Store, log *slog.Logger, hear func(ws []queue.Wake)) *Bus {
	return &Bus{store: s, log: log, hear: hear, waiting: map[lane]time.Time{}, signal: make(chan struct{}, 1)}
}

// Publish tells the other nodes. It never blocks; wakes of one lane are merged.
func (b *Bus) Publish(ws []queue.Wake) {
	b.mu.Lock()
	for _, w := range ws {
		k := lane{w.SenderUID, int(w.Class)}
		if due, ok := b.waiting[k]; (!ok && len(b.waiting) < wakesMax) || (ok && w.Due.Before(due)) {
			b.waiting[k] = w.Due
		}
	}
	b.mu.Unlock()
	b.wake()
}

// Moved tells the other nodes that this one gave shards back. It never blocks.
func (b *Bus) Moved() {
	b.mu.Lock()
	b.moved = true
	b.mu.Unlock()
	b.wake()
}

func (b *Bus) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// Run publishes and listens until ctx ends.
func (b *Bus) Run(ctx context.Context) error {
	var done sync.WaitGroup
	done.Go(func() { b.listen(ctx) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-b.signal:
			b.flush(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(coalesce):
			}
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	b.flush(last) // the shards that this node gave back as it left
	done.Wait()
	return nil
}

func (b *Bus) flush(ctx context.Context) {
	b.mu.Lock()
	waiting, moved := b.waiting, b.moved
	b.waiting, b.moved = map[lane]time.Time{}, false
	b.mu.Unlock()
	part := []wire{}
	size := 2
	send := func() {
		text, err := json.Marshal(part)
		if err == nil {
			err = b.store.Notify(ctx, channel, string(text))
		}
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "publish wake-ups", "error", err)
		}
		part, size = part[:0], 2
	}
	if moved {
		send()
	}
	for k, due := range waiting {
		w := wire{k.uid, int64(k.class), due.UnixMilli()}
		n := len(fmt.Sprint(w)) + 1
		if size+n > payloadMax {
			send()
		}
		part, size = append(part, w), size+n
	}
	if len(part) > 0 {
		send()
	}
}

// listen keeps a connection of its own and hears what is published on it.
func (b *Bus) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := b.store.Listen(ctx, channel, func() { b.hear(nil) }, b.heard)
		if ctx.Err() != nil {
			return
		}
		b.log.WarnContext(ctx, "listen for wake-ups", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (b *Bus) heard(payload string) {
	var part []wire
	if err := json.Unmarshal([]byte(payload), &part); err != nil {
		b.log.Warn("read wake-ups", "error", err)
		return
	}
	b.hear(wakes(part))
}
