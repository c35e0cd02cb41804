package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/store"
)

// UnderMaintenance refuses what is asked for in a maintenance window. Errors: service_unavailable.
func UnderMaintenance(ctx context.Context, s *store.Store) error {
	m, err := s.Maintenance(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if !m.On(now) {
		return nil
	}
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service is under maintenance",
		Details: carillon.Details{{
			Key: "maintenance_window", Value: carillon.FormatTime(m.From) + "/" + carillon.FormatTime(m.Until),
		}},
		RetryAfter: limit.SecondsUntil(m.Until, now),
	}
}
