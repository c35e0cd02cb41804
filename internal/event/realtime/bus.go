package realtime

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	channel    = "carillon"
	coalesce   = 20 * time.Millisecond // between announcements; the first is sent immediately
	payloadMax = 7000                  // limit of PostgreSQL is 8000 bytes
	waitingMax = 4096                  // waiting items per kind; beyond it the other nodes must read everything
	retryAfter = time.Second
	lastFlush  = 2 * time.Second
)

// Transport carries payloads between nodes. It may lose payloads while it is not connected.
type Transport interface {
	Notify(ctx context.Context, channel, payload string) error
	Listen(ctx context.Context, channel string, ready func(), received func(payload string)) error
}

// Item is an announcement to other nodes: a key of its kind and a number, such as a topic and its last seq.
type Item struct {
	Key   string
	Value int64
}

// Kind is a kind of items. Waiting items with the same key are merged.
type Kind struct {
	Name string
	// Merge combines the values of one key, for example with min or max.
	Merge func(a, b int64) int64
	// Receive gets the items that other nodes published. items is nil if some may have been missed: after each new
	// subscription and after a burst that was too large.
	Receive func(items []Item)
}

// Bus announces changes on this node to the other nodes, over LISTEN and NOTIFY. It only carries keys and numbers; the
// data is read from the database. The exception are live events, which are not stored (live.go).
type Bus struct {
	transport Transport
	log       *slog.Logger
	kinds     map[string]Kind
	live      live

	mu      sync.Mutex
	waiting map[string]map[string]int64 // by kind, then key; nil means too many of the kind
	signal  chan struct{}
}

// NewBus returns a bus with the given kinds.
func NewBus(t Transport, log *slog.Logger, kinds ...Kind) *Bus {
	b := &Bus{transport: t, log: log, kinds: map[string]Kind{}, waiting: map[string]map[string]int64{}, signal: make(chan struct{}, 1)}
	b.live.init()
	b.Add(kinds...)
	return b
}

// Add adds kinds. Call it before Run.
func (b *Bus) Add(kinds ...Kind) {
	for _, k := range kinds {
		b.kinds[k.Name] = k
	}
}

// Publish announces items. It never blocks.
func (b *Bus) Publish(kind string, items ...Item) {
	b.mu.Lock()
	waiting, some := b.waiting[kind]
	if !some {
		waiting = map[string]int64{}
	}
	for _, x := range items {
		if waiting == nil {
			break
		}
		have, merged := waiting[x.Key]
		switch {
		case merged:
			waiting[x.Key] = b.kinds[kind].Merge(have, x.Value)
		case len(waiting) < waitingMax:
			waiting[x.Key] = x.Value
		default:
			waiting = nil
		}
	}
	b.waiting[kind] = waiting
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
	b.flush(last) // announcements made during shutdown
	done.Wait()
	return nil
}

func (b *Bus) flush(ctx context.Context) {
	b.mu.Lock()
	all := b.waiting
	b.waiting = map[string]map[string]int64{}
	b.mu.Unlock()
	b.flushLive(ctx) // before the announcements, so that a turn follows the pieces of its text
	for kind, waiting := range all {
		for _, payload := range payloads(kind, waiting) {
			if err := b.transport.Notify(ctx, channel, payload); err != nil && ctx.Err() == nil {
				b.log.WarnContext(ctx, "publish to other nodes", "kind", kind, "error", err)
			}
		}
	}
}

// payloads splits the waiting items into texts that fit: the kind, then a line with the value and the key of each
// item. A text without items means that everything of the kind may have changed.
func payloads(kind string, waiting map[string]int64) []string {
	var all []string
	text := kind
	for key, value := range waiting {
		item := "\n" + strconv.FormatInt(value, 10) + " " + key
		if len(text)+len(item) > payloadMax {
			all, text = append(all, text), kind
		}
		text += item
	}
	if text != kind || waiting == nil {
		all = append(all, text)
	}
	return all
}

// listen keeps a subscription. After each new subscription, every kind reads everything.
func (b *Bus) listen(ctx context.Context) {
	subscribed := func() {
		for _, k := range b.kinds {
			k.Receive(nil)
		}
	}
	for ctx.Err() == nil {
		err := b.transport.Listen(ctx, channel, subscribed, b.receive)
		if ctx.Err() != nil {
			return
		}
		b.log.WarnContext(ctx, "listen to other nodes", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (b *Bus) receive(payload string) {
	kind, lines, _ := strings.Cut(payload, "\n")
	if kind == kindLive {
		b.receiveLive(lines)
		return
	}
	k, known := b.kinds[kind]
	if !known {
		return // from a newer version of the program
	}
	var items []Item
	for line := range strings.Lines(lines) {
		value, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			items = append(items, Item{key, n})
		}
	}
	k.Receive(items)
}
