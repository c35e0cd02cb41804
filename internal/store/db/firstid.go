package db

import (
	"strconv"
	"strings"
	"time"
)

// FirstID returns an id that sorts before every id that carillon.NewID makes at or after an instant, and after those
// of earlier milliseconds.
func FirstID(at time.Time) string {
	ms := strconv.FormatInt(max(at.UnixMilli(), 0), 16)
	ms = strings.Repeat("0", max(0, 12-len(ms))) + ms
	return ms[:8] + "-" + ms[8:12] + "-7000-8000-000000000000"
}
