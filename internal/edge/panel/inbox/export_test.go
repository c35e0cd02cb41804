package inbox

import (
	"context"
	"net/http"
	"time"
)

func (x Voice) Watch(ctx context.Context, r *http.Request, every time.Duration, leave func()) {
	x.watch(ctx, r, every, leave)
}
