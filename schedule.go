package carillon

import (
	"strings"
	"sync"
	"time"
)

// The words of the schedule's format errors (decisions.md, section 3).
const (
	scheduleFormat  = "ISO 8601 (YYYY-MM-DDTHH:MM:SS)"
	scheduleExample = "2030-01-31T09:00:00"
	zoneFormat      = "IANA time zone name"
	zoneExample     = "Europe/Madrid"
)

// Schedule reads datetime_sending and timezone of a body: the instant in UTC, and whether one was given. now is the
// instant it must lie behind, and the current_time that the "past" 400 tells; a zero now leaves that check out. The
// timezone is checked also when it is of no use.
func (o *Object) Schedule(now time.Time) (at time.Time, given bool, err error) {
	return schedule(o.Find("datetime_sending"), o.Find("timezone"), now)
}

func schedule(local, timezone Value, now time.Time) (at time.Time, given bool, err error) {
	text, given, err := local.String("datetime_sending")
	if err != nil {
		return time.Time{}, false, err
	}
	zone, named, err := timezone.String("timezone")
	if err != nil {
		return time.Time{}, false, err
	}
	if !named {
		zone = "UTC"
	}
	if !given {
		_, err := ParseZone(zone)
		return time.Time{}, false, err
	}
	at, err = ParseSchedule(text, zone)
	if err != nil {
		return time.Time{}, false, err
	}
	if !now.IsZero() && !at.After(now) {
		return time.Time{}, false, PastSchedule("datetime_sending", text, now)
	}
	return at, true, nil
}

// ParseSchedule is the instant, in UTC, of a local date and time `YYYY-MM-DDTHH:MM:SS` in an IANA zone; milliseconds
// may follow, then `Z` or a numeric offset, which decides over the zone. In a daylight gap it is the instant just
// after the gap, in an overlap the first of the two (decisions.md, section 3).
func ParseSchedule(local, zone string) (time.Time, error) {
	loc, err := ParseZone(zone)
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
	if at.Year() > 9999 { // RFC 3339, the form of scheduled_time, has four digits
		return time.Time{}, badSchedule(local)
	}
	return at, nil
}

func badSchedule(local string) *Error {
	return BadFormat("datetime_sending", shortened(local), scheduleFormat, scheduleExample)
}

// wallTime reads the date and time that s begins with, as if it were UTC, and what follows it.
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

// digits reads the n ASCII digits that s begins with.
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

// farthestOffset is more than any zone is, or changes, away from UTC.
const farthestOffset = 26 * time.Hour

// inZone is the first instant at which clocks in loc show the wall time, given as if it were UTC; where they skip it,
// the instant of the change. It walks the zone's periods of constant offset in their order: time.Date leaves open
// which of two instants it gives.
func inZone(wall time.Time, loc *time.Location) time.Time {
	for t := wall.Add(-farthestOffset).In(loc); ; {
		start, end := t.ZoneBounds()
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

// zones keeps the zones that were loaded: reading one takes longer than all else that a request needs.
var zones sync.Map //nolint:gochecknoglobals // a cache of immutable values, as many as the tz database has names

// ParseZone finds a zone by its IANA name, exactly written; the empty name, `Local` and the other spellings that
// system databases know are refused (decisions.md, section 3). The program carries its own copy of the database.
func ParseZone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil // nothing else is stored
	}
	if zoneName(name) {
		if loc, err := time.LoadLocation(name); err == nil {
			zones.Store(name, loc)
			return loc, nil
		}
	}
	return nil, BadFormat("timezone", shortened(name), zoneFormat, zoneExample)
}

// zoneName tells whether a name can be one of the database, and not a path through it.
func zoneName(name string) bool {
	switch name {
	case "", "Local", "localtime", "posixrules", "Factory":
		return false
	}
	if len(name) > 64 || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return false
	}
	slash := true
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '/' && slash:
			return false
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '_', c == '-', c == '+', c == '/':
		default:
			return false
		}
		slash = c == '/'
	}
	return !slash
}
