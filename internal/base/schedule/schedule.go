package schedule

import (
	"time"

	"carillon"
)

// Texts of the error for a time with a different format.
const (
	scheduleFormat  = "ISO 8601 (YYYY-MM-DDTHH:MM:SS)"
	scheduleExample = "2030-01-31T09:00:00"
)

// Parse returns the instant, in UTC, of a local date and time `YYYY-MM-DDTHH:MM:SS` in an IANA zone. Milliseconds may
// follow, then `Z` or a numeric offset, which overrides the zone. A time that a daylight-saving change skips maps to
// the instant of the change. A time that occurs twice maps to its first occurrence.
func Parse(local, zone string) (time.Time, error) {
	loc, err := Zone(zone)
	if err != nil {
		return time.Time{}, err
	}
	wall, rest, ok := wallTime(local)
	if !ok {
		return time.Time{}, badSchedule(local)
	}
	at := inZone(wall, loc)
	if rest != "" {
		offset, ok := parseOffset(rest)
		if !ok {
			return time.Time{}, badSchedule(local)
		}
		at = wall.Add(-offset)
	}
	if at.Year() > 9999 { // scheduled_time uses RFC 3339, which has four-digit years
		return time.Time{}, badSchedule(local)
	}
	return at, nil
}

func badSchedule(local string) *carillon.Error {
	return carillon.BadFormat("datetime_sending", local, scheduleFormat, scheduleExample)
}

// wallTime reads the date and time at the start of s as if it were UTC, and returns the rest of s.
func wallTime(s string) (wall time.Time, rest string, ok bool) {
	const form = "2006-01-02T15:04:05"
	if len(s) < len(form) {
		return time.Time{}, "", false
	}
	wall, err := time.Parse(form, s[:len(form)])
	if err != nil {
		return time.Time{}, "", false
	}
	rest = s[len(form):]
	if rest == "" || rest[0] != '.' {
		return wall, rest, true
	}
	ms, ok := digits(rest[1:], 3)
	if !ok {
		return time.Time{}, "", false
	}
	return wall.Add(time.Duration(ms) * time.Millisecond), rest[4:], true
}

// parseOffset reads `Z`, `+hh:mm` or `+hhmm`.
func parseOffset(s string) (time.Duration, bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) == 6 && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, ok1 := digits(s[1:], 2)
	minutes, ok2 := digits(s[3:], 2)
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// digits reads the n ASCII digits at the start of s.
func digits(s string, n int) (value int, ok bool) {
	if len(s) < n {
		return 0, false
	}
	for i := range n {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		value = value*10 + int(s[i]-'0')
	}
	return value, true
}

// farthestOffset exceeds the offset of any zone.
const farthestOffset = 26 * time.Hour

// inZone returns the first instant at which clocks in loc show the wall time, which is given as if it were UTC. If
// they skip it, inZone returns the instant of the change. It walks the zone's periods of constant offset in order,
// because time.Date does not specify which of two instants it returns.
func inZone(wall time.Time, loc *time.Location) time.Time {
	for t := wall.Add(-farthestOffset).In(loc); ; {
		start, end := t.ZoneBounds()
		if !end.IsZero() && !end.After(t) {
			// On the last day of a leap year package time may return the beginning of that day (go.dev/issue/81583).
			end = t.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).In(loc)
		}
		_, offset := t.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && at.Before(start):
			return start.UTC()
		case end.IsZero() || at.Before(end):
			return at
		}
		t = end
	}
}
