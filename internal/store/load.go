package store

import (
	"context"
	"fmt"

	"carillon"
)

// LoadNotification reads a notification by its number only, for the delivery of one of its messages.
func (s *Store) LoadNotification(ctx context.Context, seq carillon.Seq) (*Notification, error) {
	all, err := s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE seq = $1", int64(seq))
	if err != nil {
		return nil, fmt.Errorf("read notification: %w", err)
	}
	if len(all) == 0 {
		return nil, carillon.Absent("Notification")
	}
	return all[0], nil
}
