package convai

import "sync"

const (
	// maxOutbox and maxOutboxBytes limit the messages queued for a slow client: about ten seconds of sound.
	maxOutbox      = 2000
	maxOutboxBytes = 2 << 20
)

// message is a message to be written.
type message struct {
	data   []byte
	sound  bool
	binary bool
}

// outbox queues messages to be written, in order. Adding never blocks.
type outbox struct {
	ready chan struct{} // signals a new message or the close

	mu     sync.Mutex
	all    []message
	bytes  int
	closed bool
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

// add appends a message; full means that there was no room. A closed outbox ignores messages.
func (b *outbox) add(m message) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return false
	case len(b.all) >= maxOutbox || b.bytes+len(m.data) > maxOutboxBytes:
		return true
	}
	b.all, b.bytes = append(b.all, m), b.bytes+len(m.data)
	b.signal()
	return false
}

// clear drops the queued sound.
func (b *outbox) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.all[:0]
	for _, m := range b.all {
		if m.sound {
			b.bytes -= len(m.data)
		} else {
			kept = append(kept, m)
		}
	}
	clear(b.all[len(kept):])
	b.all = kept
}

// close makes next return the remaining messages and then false.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.signal()
}

func (b *outbox) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// next waits for a message. ok is false once the outbox is closed and empty, or done is closed.
func (b *outbox) next(done <-chan struct{}) (m message, ok bool) {
	for {
		b.mu.Lock()
		if len(b.all) > 0 {
			m, b.all[0] = b.all[0], message{}
			b.all, b.bytes = b.all[1:], b.bytes-len(m.data)
			b.mu.Unlock()
			return m, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return m, false
		}
		select {
		case <-b.ready:
		case <-done:
			return m, false
		}
	}
}
