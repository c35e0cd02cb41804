package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// admission bounds how many requests are checked and stored at once. One that is admitted has processor time to itself and
// its like; were each that comes taken up at once, then in a crowd each step of each, of the committer and of the sends too
// would stand behind the steps of thousands, most of which are refused in the end (docs/adr/0020-admitting-requests.md).
// The others wait a little, in the order in which they came, and are then refused.
type admission struct {
	places         chan struct{}
	most           int64 // that wait
	waiting, bytes atomic.Int64
}

const (
	admitted = batchMax // at once: what one transaction takes
	patience = time.Second
)

// Admit waits for leave to check and store a request of so many bytes; who has it gives it back with Admitted. Errors:
// service_unavailable.
func (s *Store) Admit(ctx context.Context, size int) error {
	if !s.accepts.admission.admit(ctx, int64(size)) {
		return fmt.Errorf("wait to be admitted: %w", s.accepts.refusal())
	}
	return nil
}

// Admitted ends what Admit began.
func (s *Store) Admitted() { <-s.accepts.admission.places }

func (a *admission) admit(ctx context.Context, size int64) bool {
	select {
	case a.places <- struct{}{}:
		return true
	default:
	}
	waiting, bytes := a.waiting.Add(1), a.bytes.Add(size)
	defer a.waiting.Add(-1)
	defer a.bytes.Add(-size)
	if waiting > a.most || bytes > backlogBytes {
		return false
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a.places <- struct{}{}:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// crowded tells whether a request that comes now would be refused.
func (a *admission) crowded() bool {
	return a.waiting.Load() >= a.most || a.bytes.Load() > backlogBytes
}
