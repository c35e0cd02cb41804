package queue

import (
	"context"
	"sync"
	"time"

	"carillon"
)

const (
	keepTimeout = 5 * time.Second
	keepLeave   = 2 * time.Second // a stop waits for what waits to be written
)

// keeper writes changes of breakers behind the pump, of each sender the last one alone.
type keeper struct {
	mu      sync.Mutex
	waiting map[int64]carillon.Breaker
	write   func(b carillon.Breaker)
	running bool
	over    bool // nothing is waited for any more
	done    sync.WaitGroup
}

// put leaves a change to be written soon.
func (k *keeper) put(b carillon.Breaker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting == nil {
		k.waiting = map[int64]carillon.Breaker{}
	}
	k.waiting[b.SenderUID] = b
	if !k.running {
		k.running = true
		k.done.Go(k.run)
	}
}

// wait waits for what was put, a short while: nothing depends on it.
func (k *keeper) wait() {
	t := time.AfterFunc(keepLeave, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.over = true
	})
	defer t.Stop()
	k.done.Wait()
}

func (k *keeper) take() map[int64]carillon.Breaker {
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.waiting
	if k.waiting = nil; k.over {
		taken = nil
	}
	k.running = len(taken) > 0
	return taken
}

// run writes until nothing waits. What cannot be written is let go: it tells, and nothing depends on it.
func (k *keeper) run() {
	for {
		changes := k.take()
		if len(changes) == 0 {
			return
		}
		for _, b := range changes {
			if k.left() {
				break
			}
			k.write(b)
		}
	}
}

func (k *keeper) left() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

func (q *Queue) keepBreaker(b carillon.Breaker) {
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	if err := q.store.KeepBreaker(ctx, b); err != nil {
		q.o.Log.Warn("keep the state of a breaker", "sender", b.SenderUID, "error", err)
	}
}
