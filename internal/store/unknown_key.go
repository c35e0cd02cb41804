package store

import "sync"

// unknownKeysMax bounds the digests remembered as nobody's; a full memory starts over. They are kept apart from the
// directory so that made-up keys do not drive configuration out of it.
const unknownKeysMax = 8192

// unknownKeys remembers digests that no key has, until configuration changes.
type unknownKeys struct {
	mu         sync.Mutex
	generation uint64
	digests    map[keyByDigest]struct{}
}

func (u *unknownKeys) has(d keyByDigest, generation uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.digests[d]
	return ok && u.generation == generation
}

// add keeps a digest that was looked up after the generation had been read.
func (u *unknownKeys) add(d keyByDigest, generation uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.digests == nil || u.generation != generation || len(u.digests) >= unknownKeysMax {
		u.digests, u.generation = map[keyByDigest]struct{}{}, generation
	}
	u.digests[d] = struct{}{}
}
