package hours

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/schedule"
)

var week = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func hours(zone, from, to string, days ...string) *carillon.CallingHours {
	if len(days) == 0 {
		days = week
	}
	return &carillon.CallingHours{Timezone: zone, From: from, To: to, Days: days}
}

const (
	madrid   = "Europe/Madrid"     // 2026: changes on Sunday, March 29th and Sunday, October 25th, both at 01:00 UTC
	newYork  = "America/New_York"  // 2026: changes on Sunday, March 8th at 07:00 UTC and Sunday, November 1st at 06:00 UTC
	cairo    = "Africa/Cairo"      // 2026: Friday, April 24th has no 00:00 to 00:59; Thursday, October 29th has 23:00 to 23:59 twice
	saoPaulo = "America/Sao_Paulo" // no daylight saving since 2019; it began at midnight: 2018-11-04 has no 00:00 to 00:59
)

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name     string
		hours    *carillon.CallingHours
		at, want string // UTC; want "" for open
	}{
		{"no hours", nil, "2026-11-24T03:00:00", ""},
		{"before them", hours(madrid, "09:00", "21:00"), "2026-11-24T07:59:59", "2026-11-24T08:00:00"},
		{"at their beginning", hours(madrid, "09:00", "21:00"), "2026-11-24T08:00:00", ""},
		{"just before their end", hours(madrid, "09:00", "21:00"), "2026-11-24T19:59:59", ""},
		{"at their end", hours(madrid, "09:00", "21:00"), "2026-11-24T20:00:00", "2026-11-25T08:00:00"},
		{
			"after Friday's", hours(madrid, "09:00", "21:00", "mon", "tue", "wed", "thu", "fri"), "2026-11-27T20:00:00",
			"2026-11-30T08:00:00",
		},
		{"once a week, after them", hours(madrid, "09:00", "21:00", "tue"), "2026-11-24T20:00:00", "2026-12-01T08:00:00"},
		{
			"another date in the zone than in UTC", hours("Asia/Tokyo", "09:00", "21:00", "wed"), "2026-11-24T23:00:00",
			"2026-11-25T00:00:00",
		},

		{"until midnight, before it", hours("UTC", "09:00", "24:00"), "2026-11-24T23:59:59", ""},
		{"until midnight, at it", hours("UTC", "09:00", "24:00"), "2026-11-25T00:00:00", "2026-11-25T09:00:00"},
		{"until 00:00 is until midnight", hours("UTC", "09:00", "00:00"), "2026-11-24T23:59:59", ""},
		{"the whole day", hours("UTC", "00:00", "24:00", "tue"), "2026-11-24T23:59:59", ""},
		{"the whole day, after it", hours("UTC", "00:00", "24:00", "tue"), "2026-11-25T00:00:00", "2026-12-01T00:00:00"},
		{"the same time twice is a whole day", hours("UTC", "10:00", "10:00", "tue"), "2026-11-25T09:59:59", ""},
		{"the same time twice, after it", hours("UTC", "10:00", "10:00", "tue"), "2026-11-25T10:00:00", "2026-12-01T10:00:00"},

		{"past midnight, on the day they begin", hours("UTC", "22:00", "02:00", "tue"), "2026-11-24T23:00:00", ""},
		{"past midnight, on the day after", hours("UTC", "22:00", "02:00", "tue"), "2026-11-25T01:59:59", ""},
		{"past midnight, at their end", hours("UTC", "22:00", "02:00", "tue"), "2026-11-25T02:00:00", "2026-12-01T22:00:00"},
		{
			"past midnight, earlier on the day they begin", hours("UTC", "22:00", "02:00", "tue"), "2026-11-24T01:00:00",
			"2026-11-24T22:00:00",
		},

		{"a beginning that is skipped", hours(madrid, "02:30", "05:00"), "2026-03-29T00:59:59", "2026-03-29T01:00:00"},
		{"after the skipped beginning", hours(madrid, "02:30", "05:00"), "2026-03-29T01:00:00", ""},
		{"an end that is skipped", hours(madrid, "01:00", "02:30"), "2026-03-29T00:59:59", ""},
		{"after the skipped end", hours(madrid, "01:00", "02:30"), "2026-03-29T01:00:00", "2026-03-29T23:00:00"},
		{"hours that are skipped", hours(madrid, "02:15", "02:45", "sun"), "2026-03-29T00:00:00", "2026-04-05T00:15:00"},
		{"a beginning that occurs twice", hours(madrid, "02:30", "05:00"), "2026-10-25T00:00:00", "2026-10-25T00:30:00"},
		{"before its second occurrence", hours(madrid, "02:30", "05:00"), "2026-10-25T01:15:00", ""},
		{"an end that occurs twice", hours(madrid, "01:00", "02:30"), "2026-10-25T00:30:00", "2026-10-26T00:00:00"},
		{"the longer day", hours(madrid, "00:00", "24:00", "sun"), "2026-10-25T22:59:59", ""},
		{"the shorter day", hours(madrid, "00:00", "24:00", "sun"), "2026-03-29T22:00:00", "2026-04-04T22:00:00"},
		{"past midnight into the longer day", hours(madrid, "22:00", "04:00", "sat"), "2026-10-25T02:59:59", ""},

		{"a skipped beginning, west of Greenwich", hours(newYork, "02:15", "05:00"), "2026-03-08T06:59:59", "2026-03-08T07:00:00"},
		{"the night of the change, west of Greenwich", hours(newYork, "22:00", "03:30", "sat"), "2026-03-08T07:29:59", ""},
		{"its end, west of Greenwich", hours(newYork, "22:00", "03:30", "sat"), "2026-03-08T07:30:00", "2026-03-15T02:00:00"},
		{
			"an end that occurs twice, west of Greenwich", hours(newYork, "00:30", "01:30", "sun"), "2026-11-01T05:30:00",
			"2026-11-08T05:30:00",
		},
		{"midnight in the year's change", hours(cairo, "00:00", "06:00", "fri"), "2026-04-23T21:59:59", "2026-04-23T22:00:00"},
		{"until a midnight that is skipped", hours(cairo, "20:00", "24:00", "thu"), "2026-04-23T21:59:59", ""},
		{"at a midnight that is skipped", hours(cairo, "20:00", "24:00", "thu"), "2026-04-23T22:00:00", "2026-04-30T17:00:00"},
		{"over a midnight that is skipped", hours(cairo, "22:00", "02:00", "thu"), "2026-04-23T22:59:59", ""},
		{"its end, after midnight was skipped", hours(cairo, "22:00", "02:00", "thu"), "2026-04-23T23:00:00", "2026-04-30T19:00:00"},
		{"the second of two hours before midnight", hours(cairo, "22:00", "24:00", "thu"), "2026-10-29T21:59:59", ""},
		{"midnight after two hours before it", hours(cairo, "22:00", "24:00", "thu"), "2026-10-29T22:00:00", "2026-11-05T20:00:00"},
		{"a day of 25 hours, over midnight", hours(cairo, "23:30", "00:30", "thu"), "2026-10-29T22:29:59", ""},

		{"no daylight saving", hours(saoPaulo, "09:00", "21:00"), "2026-10-25T11:00:00", "2026-10-25T12:00:00"},
		{"no daylight saving, half a year on", hours(saoPaulo, "09:00", "21:00"), "2026-03-29T11:00:00", "2026-03-29T12:00:00"},
		{"midnight is skipped", hours(saoPaulo, "00:00", "06:00", "sun"), "2018-11-04T02:59:59", "2018-11-04T03:00:00"},
		{"a day is skipped", hours("Pacific/Apia", "09:00", "21:00", "fri"), "2011-12-30T08:00:00", "2012-01-05T19:00:00"},
	} {
		at := utc(t, c.at)
		want := at
		if c.want != "" {
			want = utc(t, c.want)
		}
		if got := Next(c.hours, at); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", c.name, got.UTC().Format(time.RFC3339), want.Format(time.RFC3339))
		}
	}
}

func utc(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestNextThroughAYear checks every minute of the days around daylight-saving changes, and every fifth minute of the
// rest of the year: the result of Next is open, and no earlier minute is. Away from the changes, the local clock
// decides what is open. The hours here start and end at multiples of five minutes.
func TestNextThroughAYear(t *testing.T) {
	t.Parallel()
	for _, h := range []*carillon.CallingHours{
		hours(madrid, "09:00", "21:00", "mon", "tue", "wed", "thu", "fri"),
		hours(madrid, "21:30", "02:30", "sat"),
		hours(newYork, "22:00", "06:00", "fri", "sat"),
		hours(cairo, "20:00", "01:30", "thu", "fri"),
		hours(saoPaulo, "08:15", "24:00", "wed", "sun"),
		hours("Australia/Lord_Howe", "02:00", "02:00", "sat"), // its changes are half an hour
	} {
		t.Run(fmt.Sprintf("%s %s-%s", h.Timezone, h.From, h.To), func(t *testing.T) {
			t.Parallel()
			checkYear(t, h)
		})
	}
}

func checkYear(t *testing.T, h *carillon.CallingHours) {
	zone, err := schedule.Zone(h.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	next := time.Time{} // the earliest open minute so far, because the loop goes back in time
	near := false
	for at := first.AddDate(1, 0, 0); !at.Before(first); at = at.Add(-time.Minute) {
		if at.Minute() == 0 {
			near = changesNear(at, zone)
		}
		if at.Minute()%5 != 0 && !near {
			continue
		}
		got := Next(h, at)
		if got.Equal(at) {
			next = at
		}
		if !next.IsZero() && !got.Equal(next) {
			t.Fatalf("from %s on: %s, but %s is open", at, got, next)
		}
		if want := openByClock(h, at.In(zone)); want != got.Equal(at) && !near {
			t.Fatalf("%s: open is %v, want %v", at.In(zone), got.Equal(at), want)
		}
	}
	if next.IsZero() {
		t.Error("never open")
	}
}

func openByClock(h *carillon.CallingHours, local time.Time) bool {
	on := func(d time.Weekday) bool { return slices.Contains(h.Days, strings.ToLower(d.String()[:3])) }
	today, yesterday := on(local.Weekday()), on((local.Weekday()+6)%7)
	clock := local.Format("15:04")
	if h.From < h.To {
		return today && h.From <= clock && clock < h.To
	}
	return today && h.From <= clock || yesterday && clock < h.To
}

func changesNear(at time.Time, zone *time.Location) bool {
	_, before := at.Add(-48 * time.Hour).In(zone).Zone()
	_, after := at.Add(48 * time.Hour).In(zone).Zone()
	return before != after
}

func BenchmarkNext(b *testing.B) {
	h, at := hours(madrid, "09:00", "21:00"), time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for b.Loop() {
		Next(h, at)
	}
}
