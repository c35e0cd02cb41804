package voice

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// pieceTime is the length of a piece emitted from a cached utterance, as a fraction of a second.
const pieceTime = 10

// Cache is a Speaker that keeps the sound of another one, so that a prompt is produced once. Requests for an utterance
// in progress share its sound as it arrives. Failures are not kept; an utterance without listeners is abandoned.
type Cache struct {
	next Speaker
	max  int // bytes

	mu      sync.Mutex
	entries map[[sha256.Size]byte]*recording
	recent  *list.List // finished recordings, most recently used first
	size    int
}

// DefaultCache is the default size of a Cache in bytes.
const DefaultCache = 32 << 20

// NewCache returns a Cache of at most maxBytes bytes; default DefaultCache.
func NewCache(next Speaker, maxBytes int) *Cache {
	if maxBytes == 0 {
		maxBytes = DefaultCache
	}
	return &Cache{next: next, max: maxBytes, entries: map[[sha256.Size]byte]*recording{}, recent: list.New()}
}

// recording is an utterance that is finished or in progress.
type recording struct {
	key       [sha256.Size]byte
	listeners int           // guarded by Cache.mu
	place     *list.Element // in Cache.recent; guarded by Cache.mu
	cancel    context.CancelFunc

	mu   sync.Mutex
	pcm  []int16
	done bool
	err  error
	more chan struct{} // closed when something changes
}

// Speak implements Speaker.
func (c *Cache) Speak(ctx context.Context, u Utterance, emit func(pcm []int16) error) error {
	key, err := keyOf(u)
	if err != nil {
		return err
	}
	r := c.join(ctx, key, u)
	defer c.leave(r)
	for at := 0; ; {
		pcm, done, more, err := r.after(at, u.Rate/pieceTime)
		switch {
		case len(pcm) > 0:
			if err := emit(pcm); err != nil {
				return err
			}
			at += len(pcm)
		case done:
			return err
		}
		if len(pcm) == 0 {
			select {
			case <-more:
			case <-ctx.Done():
				return ctx.Err()
			}
		} else if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// join returns the recording of an utterance, and starts one if there is none.
func (c *Cache) join(ctx context.Context, key [sha256.Size]byte, u Utterance) *recording {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.entries[key]
	if r == nil {
		// The other listeners continue when the first one leaves.
		making, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r = &recording{key: key, cancel: cancel, more: make(chan struct{})}
		c.entries[key] = r
		go c.make(making, r, u)
	}
	if r.place != nil {
		c.recent.MoveToFront(r.place)
	}
	r.listeners++
	return r
}

// leave abandons an unfinished recording without listeners.
func (c *Cache) leave(r *recording) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.listeners--
	if r.listeners == 0 && r.place == nil {
		c.forget(r)
		r.cancel()
	}
}

// forget removes a recording from the cache, unless it has been replaced by another one of the same utterance.
func (c *Cache) forget(r *recording) {
	if c.entries[r.key] == r {
		delete(c.entries, r.key)
	}
}

func (c *Cache) make(ctx context.Context, r *recording, u Utterance) {
	defer r.cancel()
	err := Guard(func() error {
		return c.next.Speak(ctx, u, func(pcm []int16) error {
			r.add(pcm)
			return ctx.Err()
		})
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	defer r.finish(err)
	size := 2 * len(r.pcm)
	if err != nil || size > c.max/4 || c.entries[r.key] != r {
		c.forget(r)
		return
	}
	r.place = c.recent.PushFront(r)
	c.size += size
	for c.size > c.max {
		oldest := c.recent.Back().Value.(*recording)
		c.recent.Remove(oldest.place)
		c.forget(oldest)
		c.size -= 2 * len(oldest.pcm)
	}
}

func (r *recording) add(pcm []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcm = append(r.pcm, pcm...)
	r.changed()
}

func (r *recording) finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.err = true, err
	r.changed()
}

func (r *recording) changed() {
	close(r.more)
	r.more = make(chan struct{})
}

// after returns a copy of at most n samples from a position, and a channel to wait on if there are none yet.
func (r *recording) after(at, n int) (pcm []int16, done bool, more <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at < len(r.pcm) {
		pcm = append(pcm, r.pcm[at:min(at+n, len(r.pcm))]...)
	}
	return pcm, r.done, r.more, r.err
}

// keyOf returns a hash of everything that determines the sound of an utterance, and of the company that pays for it.
func keyOf(u Utterance) (key [sha256.Size]byte, err error) {
	v := u.Voice.Settings()
	service := ""
	if v.SpeakerService != nil {
		service = v.SpeakerService.BaseURL + " " + v.SpeakerService.Model
	}
	b, err := json.Marshal([]any{u.CompanyID, v.Speaker, v.Name, v.Speed, service, u.Language, u.Rate, u.Text})
	if err != nil {
		return key, err
	}
	return sha256.Sum256(b), nil
}
