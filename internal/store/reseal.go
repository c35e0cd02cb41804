package store

import (
	"context"
	"time"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/resources"
	"carillon/internal/store/settings"
)

// Reseal seals everything that belongs to a company by the company's own key, which it makes if the company has none
// (docs/adr/0015). Errors: not_found.
func Reseal(ctx context.Context, tx *configure.Tx, companyID string, now time.Time) error {
	return configure.Reseal(ctx, tx, companyID, []configure.Sealed{
		settings.SealedSenders(), accounts.SealedKeys(), accounts.SealedSubscriptions(), resources.Sealed(),
	}, now)
}
