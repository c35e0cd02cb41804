package notify

import (
	"context"

	"carillon"
	"carillon/internal/queue"
)

// Deliver makes one attempt as the queue has it made.
func (n *Notify) Deliver(ctx context.Context, j *queue.Job) queue.Done {
	return (&worker{n}).Do(ctx, j)
}

// Load returns a notification as its delivery gets it.
func (n *Notify) Load(ctx context.Context, seq carillon.Seq) (any, error) { return n.load(ctx, seq) }
