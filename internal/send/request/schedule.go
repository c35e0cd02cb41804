package request

import (
	"time"

	"carillon"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/schedule"
)

const (
	scheduleKey = "datetime_sending"
	zoneKey     = "timezone"
)

// Schedule reads datetime_sending and timezone of a body: the instant in UTC, and whether one is given. It must be later
// than now, unless now is zero. The timezone is checked even if it is not used.
func Schedule(o *jsonbody.Object, now time.Time) (at time.Time, given bool, err error) {
	text, given, err := o.String(scheduleKey, scheduleKey)
	if err != nil {
		return time.Time{}, false, err
	}
	zone, named, err := o.String(zoneKey, zoneKey)
	if err != nil {
		return time.Time{}, false, err
	}
	if !named {
		zone = "UTC"
	}
	if !given {
		_, err := schedule.Zone(zone)
		return time.Time{}, false, err
	}
	at, err = schedule.Parse(text, zone)
	if err != nil {
		return time.Time{}, false, err
	}
	if !now.IsZero() && !at.After(now) {
		return time.Time{}, false, pastSchedule(text, now)
	}
	return at, true, nil
}

// pastSchedule returns the 400 for a schedule that is not in the future.
func pastSchedule(provided string, now time.Time) error {
	return &carillon.Error{Code: carillon.ValidationFailed, Message: "Scheduled time must be in the future", Details: carillon.Details{
		{Key: "field", Value: scheduleKey}, {Key: "provided", Value: provided}, {Key: "current_time", Value: carillon.FormatTime(now)},
	}}
}
