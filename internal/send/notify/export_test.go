package notify

import (
	"context"

	"carillon"
	"carillon/internal/queue"
)

// Deliver makes one attempt like the queue does.
func (n *Notify) Deliver(ctx context.Context, j *queue.Job) queue.Done {
	return n.worker().Do(ctx, j)
}

// Load returns a notification in the form that its delivery uses.
func (n *Notify) Load(ctx context.Context, seq carillon.Seq) (any, error) {
	return n.worker().load(ctx, seq)
}

func (n *Notify) worker() *worker { return &worker{n.store, &n.o, n.entries, n.closer} }
