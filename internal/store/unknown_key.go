package store

import "sync"

// unknownMost bounds the names remembered as nobody's; a full memory starts over. They are kept apart from the directory
// so that made-up keys and numbers do not drive configuration out of it.
const unknownMost = 8192

// unknown remembers names that nobody has, until configuration changes.
type unknown[K comparable] struct {
	mu         sync.Mutex
	generation uint64
	names      map[K]struct{}
}

func (u *unknown[K]) has(name K, generation uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.names[name]
	return ok && u.generation == generation
}

// add keeps a name that was looked up after the generation had been read.
func (u *unknown[K]) add(name K, generation uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil || u.generation != generation || len(u.names) >= unknownMost {
		u.names, u.generation = map[K]struct{}{}, generation
	}
	u.names[name] = struct{}{}
}
