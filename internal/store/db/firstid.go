package db

import (
	"strconv"
	"strings"
	"time"
)

// FirstID is before every id that carillon.NewID makes from an instant on, and after those of earlier milliseconds.
func FirstID(at time.Time) string {
	ms := strconv.FormatInt(max(at.UnixMilli(), 0), 16)
	ms = strings.Repeat("0", max(0, 12-len(ms))) + ms
	return ms[:8] + "-" + ms[8:12] + "-7000-8000-000000000000"
}
