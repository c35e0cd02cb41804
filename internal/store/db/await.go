package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// awaitEvery is the interval between attempts to reach an unresponsive server.
const awaitEvery = time.Second

// awaitServer waits until the database server responds, for at most `most`: when a machine starts, the server may
// start later than the program. timeout bounds each attempt. A response that refuses access is final.
func awaitServer(ctx context.Context, log *slog.Logger, most, timeout time.Duration, ping func(ctx context.Context) error) error {
	begin := time.Now()
	for waited := false; ; waited = true {
		err := attempt(ctx, timeout, ping)
		switch {
		case err == nil && waited:
			log.InfoContext(ctx, "the database answers", "after", time.Since(begin).Round(100*time.Millisecond).String())
			return nil
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("wait for the database: %w", ctx.Err())
		case final(err) || time.Since(begin) >= most:
			return fmt.Errorf("reach the database: %w", err)
		case !waited:
			log.WarnContext(ctx, "waiting for the database", "at_most", most.String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the database: %w", ctx.Err())
		case <-time.After(awaitEvery):
		}
	}
}

func attempt(ctx context.Context, timeout time.Duration, ping func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return ping(ctx)
}

// final reports whether a server would refuse the next connection too: the user, password or database name is wrong,
// or a pooler shares sessions. A standby may be promoted, or a proxy may find the primary.
func final(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && len(pe.Code) == 5 {
		return pe.Code[:2] == "28" || pe.Code[:2] == "3D"
	}
	return errors.Is(err, errPooled)
}
