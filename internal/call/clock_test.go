package call_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/hours"
	"carillon/internal/base/schedule"
	"carillon/internal/call/dial"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// night is a night with a change of daylight saving time, with calls scheduled in it.
type night struct {
	name  string
	hours carillon.CallingHours
	calls []nightCall
}

// nightCall is a call with its requested time in a zone, and its expected times of dialing.
type nightCall struct {
	at, zone string
	busy     bool     // the first attempt is busy
	dialed   []string // UTC; empty means not that night
}

var nights = []night{
	{
		"clocks go forward in New York",
		carillon.CallingHours{Timezone: "America/New_York", From: "01:00", To: "04:00", Days: []string{"sun"}},
		[]nightCall{
			// Too early: waits.
			{at: "2026-03-08T00:30:00", zone: "America/New_York", dialed: []string{"2026-03-08T06:00:00"}},
			{at: "2026-03-08T01:59:59", zone: "America/New_York", dialed: []string{"2026-03-08T06:59:59"}},
			// This time does not exist.
			{at: "2026-03-08T02:30:00", zone: "America/New_York", dialed: []string{"2026-03-08T07:00:00"}},
			{at: "2026-03-08T08:15:00", zone: "Europe/Madrid", dialed: []string{"2026-03-08T07:15:00"}},
			{at: "2026-03-08T03:59:59", zone: "America/New_York", dialed: []string{"2026-03-08T07:59:59"}},
			{at: "2026-03-08T04:00:00", zone: "America/New_York"},
		},
	},
	{
		"clocks go back in New York",
		carillon.CallingHours{Timezone: "America/New_York", From: "00:30", To: "01:30", Days: []string{"sun"}},
		[]nightCall{
			{at: "2026-11-01T00:00:00", zone: "America/New_York", dialed: []string{"2026-11-01T04:30:00"}},
			// The first of two.
			{at: "2026-11-01T01:15:00", zone: "America/New_York", dialed: []string{"2026-11-01T05:15:00"}},
			{
				at: "2026-11-01T01:05:00", zone: "America/New_York", busy: true,
				dialed: []string{"2026-11-01T05:05:00", "2026-11-01T05:25:00"},
			},
			// Redialed next Sunday.
			{at: "2026-11-01T01:25:00", zone: "America/New_York", busy: true, dialed: []string{"2026-11-01T05:25:00"}},
			{at: "2026-11-01T06:15:00Z", zone: "UTC"}, // the second of two, after the end of the hours
		},
	},
	{
		"midnight is left out in Cairo",
		carillon.CallingHours{Timezone: "Africa/Cairo", From: "00:00", To: "03:00", Days: []string{"fri"}},
		[]nightCall{
			{at: "2026-04-23T23:30:00", zone: "Africa/Cairo", dialed: []string{"2026-04-23T22:00:00"}},
			{at: "2026-04-24T00:30:00", zone: "Africa/Cairo", dialed: []string{"2026-04-23T22:00:00"}},
			{at: "2026-04-24T02:59:59", zone: "Africa/Cairo", dialed: []string{"2026-04-23T23:59:59"}},
			{at: "2026-04-24T03:00:00", zone: "Africa/Cairo"},
		},
	},
	{
		"hours over the midnight that is left out in Cairo",
		carillon.CallingHours{Timezone: "Africa/Cairo", From: "22:00", To: "02:00", Days: []string{"thu"}},
		[]nightCall{
			{at: "2026-04-23T21:30:00", zone: "Africa/Cairo", dialed: []string{"2026-04-23T20:00:00"}},
			{at: "2026-04-24T01:30:00", zone: "Africa/Cairo", dialed: []string{"2026-04-23T22:30:00"}},
			{at: "2026-04-24T01:30:00", zone: "Africa/Cairo", busy: true, dialed: []string{"2026-04-23T22:30:00", "2026-04-23T22:50:00"}},
			{at: "2026-04-24T01:45:00", zone: "Africa/Cairo", busy: true, dialed: []string{"2026-04-23T22:45:00"}},
			{at: "2026-04-24T02:00:00", zone: "Africa/Cairo"},
		},
	},
	{
		"the hour before midnight occurs twice in Cairo",
		carillon.CallingHours{Timezone: "Africa/Cairo", From: "22:00", To: "24:00", Days: []string{"thu"}},
		[]nightCall{
			{at: "2026-10-29T21:00:00", zone: "Africa/Cairo", dialed: []string{"2026-10-29T19:00:00"}},
			{at: "2026-10-29T23:30:00", zone: "Africa/Cairo", dialed: []string{"2026-10-29T20:30:00"}},
			{at: "2026-10-29T21:30:00Z", zone: "UTC", dialed: []string{"2026-10-29T21:30:00"}}, // the second of two
			{at: "2026-10-30T00:00:00", zone: "Africa/Cairo"},
		},
	},
	{
		"hours over midnight while clocks go back in Madrid",
		carillon.CallingHours{Timezone: "Europe/Madrid", From: "23:30", To: "03:00", Days: []string{"sat"}},
		[]nightCall{
			{at: "2026-10-24T23:20:00", zone: "Europe/Madrid", dialed: []string{"2026-10-24T21:30:00"}},
			{at: "2026-10-25T02:30:00", zone: "Europe/Madrid", dialed: []string{"2026-10-25T00:30:00"}},
			{at: "2026-10-25T01:30:00Z", zone: "UTC", dialed: []string{"2026-10-25T01:30:00"}},
			{at: "2026-10-25T01:30:00Z", zone: "UTC", busy: true, dialed: []string{"2026-10-25T01:30:00", "2026-10-25T01:50:00"}},
			{at: "2026-10-25T01:50:00Z", zone: "UTC", busy: true, dialed: []string{"2026-10-25T01:50:00"}},
			{at: "2026-10-25T03:00:00", zone: "Europe/Madrid"},
		},
	},
}

// Calls in all zones are dialed at the requested second, or when the calling hours begin, over changes of daylight
// saving time.
func TestScheduledCallsOverDaylightChanges(t *testing.T) {
	if testing.Short() && os.Getenv("CI") == "" { // runs if CI is set
		t.Skip("half a night of ticks takes long under the race detector")
	}
	t.Parallel()
	for _, x := range nights {
		t.Run(x.name, func(t *testing.T) {
			inFakeTime(t, x.run)
		})
	}
}

func (x *night) run(t *testing.T, o store.Options) {
	var begin, end time.Time // of the observed time
	dues := make([]time.Time, len(x.calls))
	for i, c := range x.calls {
		due, err := schedule.Parse(c.at, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if dues[i] = due; begin.IsZero() || due.Before(begin) {
			begin = due
		}
		if due.After(end) {
			end = due
		}
	}
	time.Sleep(time.Until(begin.Add(-time.Minute)))
	busy := map[string]bool{}
	p := &phone{outcome: func(c *dial.Call) dial.Ending {
		if c.Attempt == 1 && busy[c.Number] {
			return dial.Ending{State: carillon.StateBusy, At: time.Now()}
		}
		return dial.Ending{}
	}}
	n := newNode(t, o, p)
	n.setUp(func(c *carillon.Company, _ *carillon.Sender) {
		c.CallingHours = &x.hours
		c.Redial = carillon.Redial{Outcomes: []carillon.State{carillon.StateBusy}, Attempts: 1, After: 20 * time.Minute}
	})
	numbers := make([]string, len(x.calls))
	for i, c := range x.calls {
		numbers[i] = "3460011100" + string(rune('0'+i))
		busy[numbers[i]] = c.busy
	}
	defer n.start()()
	for i, due := range dues {
		n.call(numbers[i], func(a *messages.Accept) { a.Notification.DueAt, a.DialAt = due, hours.Next(&x.hours, due) })
	}
	time.Sleep(time.Until(end.Add(30 * time.Minute))) // after the last redial
	for i, c := range x.calls {
		var got []string
		for _, d := range p.placed {
			if d.number == numbers[i] {
				got = append(got, d.at.UTC().Format("2006-01-02T15:04:05"))
			}
		}
		if !slices.Equal(got, c.dialed) {
			t.Errorf("%s %s is dialed at %v, want %v", c.at, c.zone, got, c.dialed)
		}
	}
}
