package notify

import (
	"context"

	"carillon/internal/queue"
)

// Deliver makes one attempt as the queue has it made.
func (n *Notify) Deliver(ctx context.Context, j *queue.Job) queue.Done {
	return (&worker{n}).Do(ctx, j)
}
