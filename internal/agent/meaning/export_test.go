package meaning

import (
	"context"

	"carillon/internal/store/resources"
)

// Work does what is due for a base.
func (x *Vectors) Work(ctx context.Context, k resources.VectorKey) error { return x.attempt(ctx, k) }
