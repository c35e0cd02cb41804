package app

import (
	"context"
	"errors"
	"log/slog"

	"carillon/internal/store"
)

// checkRestored returns an error if the marking of a restored database was interrupted, and logs a warning while
// messages are held.
func checkRestored(ctx context.Context, s *store.Store, log *slog.Logger) error {
	r, err := s.Restored(ctx)
	if err != nil || r == nil {
		return err
	}
	if r.Broken {
		return errors.New("the marking of this restored database was interrupted, and messages could be sent a second time: " +
			"run `carillon restored mark` again before the program starts")
	}
	log.WarnContext(ctx, "this database was restored: messages that were due then are held until `carillon restored send` or `fail`",
		"restored_at", r.At, "messages", r.Total())
	return nil
}
