package app

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/base/schedule"
)

// useZones replaces the built-in time zones with the operator's, if configured.
func useZones(cfg config.Config) error {
	zones, err := cfg.Zones()
	if err != nil {
		return err
	}
	if zones != nil {
		schedule.Use(zones)
	}
	return nil
}

const maxZonesAge = 365 * 24 * time.Hour

// warnOfZones logs a warning about old time zones, since governments change their clocks several times a year.
func warnOfZones(ctx context.Context, log *slog.Logger, used, builtIn *schedule.Release, now time.Time) {
	if now.Sub(used.Date) > maxZonesAge {
		log.WarnContext(ctx, "the time zones are over a year old: upgrade, or name a newer release with zones-file",
			"release", used.Version, "date", used.Date.Format(time.DateOnly))
	}
	if used.Version < builtIn.Version {
		log.WarnContext(ctx, "the time zones of zones-file are older than the program's own: name a newer release, or none",
			"release", used.Version, "own", builtIn.Version)
	}
}
