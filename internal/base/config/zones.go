package config

import (
	"fmt"

	"carillon/internal/base/schedule"
)

// maxZones bounds the file of time zones, in bytes. A system's complete zone folder has 3 MB.
const maxZones = 16 << 20

// Zones reads the operator's own time zones. It returns nil without --zones-file.
func (c *Config) Zones() (*schedule.Release, error) {
	if c.ZonesFile == "" {
		return nil, nil
	}
	data, err := readLimited(c.ZonesFile, maxZones)
	if err != nil {
		return nil, fmt.Errorf("--zones-file: %w", err) // the error names the file
	}
	if len(data) > maxZones {
		return nil, fmt.Errorf("--zones-file: %s is larger than %d bytes", c.ZonesFile, maxZones)
	}
	r, err := schedule.ReadRelease(data)
	if err != nil {
		return nil, fmt.Errorf("--zones-file: %s: %w", c.ZonesFile, err)
	}
	return r, nil
}
