// Package hours computes when a company's calling hours are open. It is pure: no goroutine, no clock of its own.
package hours

import (
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/schedule"
)

// daysAhead bounds the search: where hours are open once a week, a daylight change may skip one of their days.
const daysAhead = 15

// Next returns at when the hours are open then, else the next instant at which they begin. Without hours it is always at.
//
// The hours are open from their beginning until before their end, and belong to the day on which they begin. An end at or
// before the beginning is on the next day. A time that a daylight change skips is the instant of the change, so hours that are
// skipped whole do not open that day; of a time that occurs twice it is the first.
func Next(h *carillon.CallingHours, at time.Time) time.Time {
	if h == nil {
		return at
	}
	zone, err := schedule.Zone(h.Timezone)
	if err != nil {
		return at // the set-up admits only zones that the program knows
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

// instant is a time of day such as 09:00 or 24:00 on a date in a zone.
func instant(date time.Time, clock, zone string) time.Time {
	if clock == "24:00" {
		date, clock = date.AddDate(0, 0, 1), "00:00"
	}
	t, _ := schedule.Parse(date.Format(time.DateOnly)+"T"+clock+":00", zone) // both are in the right form
	return t
}
