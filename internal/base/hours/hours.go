// Package hours computes when a company's calling hours are open. It has no goroutines and reads no clock.
package hours

import (
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/schedule"
)

// daysAhead bounds the search: if hours are open once a week, a daylight-saving change may skip one of those days.
const daysAhead = 15

// Next returns at if the hours are open then, else the next instant at which they open. Without hours it returns at.
//
// Hours are open from their start until just before their end, and belong to the day on which they start. If the end
// is not after the start, it is on the next day. A time that a daylight-saving change skips maps to the instant of the
// change, so hours that are skipped entirely do not open that day. A time that occurs twice maps to its first
// occurrence.
func Next(h *carillon.CallingHours, at time.Time) time.Time {
	if h == nil {
		return at
	}
	zone, err := schedule.Zone(h.Timezone)
	if err != nil {
		return at // unreachable: the set-up only admits known zones
	}
	year, month, day := at.In(zone).Date()
	for ahead := -1; ahead <= daysAhead; ahead++ { // yesterday's hours may extend into today
		date := time.Date(year, month, day+ahead, 0, 0, 0, 0, time.UTC)
		if !slices.Contains(h.Days, strings.ToLower(date.Weekday().String()[:3])) {
			continue
		}
		endDate := date
		if h.To <= h.From {
			endDate = date.AddDate(0, 0, 1)
		}
		begin, end := instant(date, h.From, h.Timezone), instant(endDate, h.To, h.Timezone)
		switch {
		case !at.Before(end) || !begin.Before(end):
		case at.Before(begin):
			return begin
		default:
			return at
		}
	}
	return at
}

// instant returns the instant of a time of day, such as 09:00 or 24:00, on a date in a zone.
func instant(date time.Time, clock, zone string) time.Time {
	if clock == "24:00" {
		date, clock = date.AddDate(0, 0, 1), "00:00"
	}
	t, _ := schedule.Parse(date.Format(time.DateOnly)+"T"+clock+":00", zone) // both have a valid form
	return t
}
