package schedule

import (
	"archive/zip"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

var update = flag.Bool("update", false, "rewrite generated test data")

const (
	zoneList  = "testdata/zones.txt"
	zonesFile = "zones/zoneinfo.zip"
	wallForm  = "2006-01-02T15:04:05"
)

// zoneNames returns all names of the database, which includes Factory although it does not name a zone.
func zoneNames(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(zoneList)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// released reads the committed zones without package schedule and returns the compiled zones by name.
func released(t testing.TB) map[string][]byte {
	t.Helper()
	r, err := zip.OpenReader(zonesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := map[string][]byte{}
	for _, f := range r.File {
		if all[f.Name], err = contents(f); err != nil {
			t.Fatal(err)
		}
	}
	delete(all, VersionFile)
	return all
}

// zoneOf parses a committed zone without package schedule.
func zoneOf(t testing.TB, name string, data []byte) *time.Location {
	t.Helper()
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return zone
}

// TestScheduleLandsInEveryZone tries every zone around each of its changes of 2026 and 2027 and compares the result
// with a minute-by-minute scan of the zone's local times. Aliases of a zone share the scan.
func TestScheduleLandsInEveryZone(t *testing.T) {
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	type zone struct {
		landings []landing
		changes  int
	}
	scanned := map[string]zone{} // by zone data
	changes := 0
	zones := released(t)
	for _, name := range zoneNames(t) {
		data := zones[name]
		z, ok := scanned[string(data)]
		if !ok {
			loc := zoneOf(t, name, data)
			found := zoneChanges(loc, from, to)
			z.changes = len(found)
			for _, at := range append(found, time.Date(2026, 7, 15, 9, 30, 0, 0, time.UTC)) {
				z.landings = append(z.landings, landingsAround(loc, at)...)
			}
			scanned[string(data)] = z
		}
		changes += z.changes
		for _, l := range z.landings {
			if got, err := Parse(l.local, name); err != nil || !got.Equal(l.want) {
				t.Errorf("%s in %s: %v, %v, want %v", l.local, name, got, err, l.want)
			}
		}
	}
	if changes < 500 {
		t.Errorf("only %d changes were found: the zone data is not whole", changes)
	}
}

// zoneChanges finds the minutes at which a zone's offset changes. It looks every six hours and then narrows down to
// the minute.
func zoneChanges(loc *time.Location, from, to time.Time) (changes []time.Time) {
	offset := func(at time.Time) int {
		_, seconds := at.In(loc).Zone()
		return seconds
	}
	const step = 6 * time.Hour
	last := offset(from)
	for at := from; at.Before(to); at = at.Add(step) {
		next := at.Add(step)
		now := offset(next)
		if now == last {
			continue
		}
		for minute := at; ; minute = minute.Add(time.Minute) {
			if offset(minute) == now {
				changes = append(changes, minute)
				break
			}
		}
		last = now
	}
	return changes
}

// landing is a local time and its expected instant.
type landing struct {
	local string
	want  time.Time
}

// landingsAround returns local times from three hours before an instant to three hours after it, in steps that hit
// both ends of a gap or an overlap, with their instants according to the scan.
func landingsAround(loc *time.Location, at time.Time) []landing {
	const window = 7 * 60
	shown := make([]time.Time, 0, 2*window) // the clocks minute by minute, written as UTC
	first := at.Add(-window * time.Minute)
	for i := range 2 * window {
		local := first.Add(time.Duration(i) * time.Minute).In(loc)
		_, offset := local.Zone()
		shown = append(shown, local.UTC().Add(time.Duration(offset)*time.Second))
	}
	middle := shown[window]
	before := shown[window-1].Add(time.Minute)
	wanted := []time.Time{middle, before, middle.Add(-time.Minute), before.Add(-time.Minute)}
	wanted = append(wanted, middle.Add(before.Sub(middle)/2).Truncate(time.Minute))
	for m := -180; m <= 180; m += 30 {
		wanted = append(wanted, before.Add(time.Duration(m)*time.Minute))
	}
	all := make([]landing, 0, len(wanted))
	for _, wall := range wanted {
		all = append(all, landing{wall.Format(wallForm), scan(shown, first, wall)})
	}
	return all
}

// scan returns the first minute at which the clocks show the wall time, or that skipped it.
func scan(shown []time.Time, first, wall time.Time) time.Time {
	minute := func(i int) time.Time { return first.Add(time.Duration(i) * time.Minute) }
	if i := slices.IndexFunc(shown, wall.Equal); i >= 0 {
		return minute(i)
	}
	for i := 1; i < len(shown); i++ {
		if shown[i-1].Before(wall) && shown[i].After(wall) {
			return minute(i)
		}
	}
	return time.Time{}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ local, zone, want string }{
		{"2027-01-15T09:00:00", "UTC", "2027-01-15T09:00:00Z"},
		{"2027-01-15T09:00:00", "Europe/Madrid", "2027-01-15T08:00:00Z"},
		{"2027-07-15T09:00:00", "Europe/Madrid", "2027-07-15T07:00:00Z"},
		{"2027-03-28T02:30:00", "Europe/Madrid", "2027-03-28T01:00:00Z"},     // gap: just after it
		{"2027-10-31T02:30:00", "Europe/Madrid", "2027-10-31T00:30:00Z"},     // overlap: the first occurrence
		{"2011-12-30T12:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},      // a skipped day
		{"2027-01-15T09:00:00", "America/Vancouver", "2027-01-15T16:00:00Z"}, // British Columbia stays on -07 from 2026 on
		{"2098-01-15T09:00:00", "America/Vancouver", "2098-01-15T16:00:00Z"},
		{"2027-01-15T09:00:00", "America/Winnipeg", "2027-01-15T14:00:00Z"}, // Manitoba on -05
		{"2027-01-15T09:00:00", "America/Havana", "2027-01-15T13:00:00Z"},   // Cuba on -04
		{"2027-04-04T01:45:00", "Australia/Lord_Howe", "2027-04-03T14:45:00Z"},
		{"2027-01-15T09:00:00.250", "UTC", "2027-01-15T09:00:00.25Z"},
		{"2027-01-15T09:00:00Z", "Europe/Madrid", "2027-01-15T09:00:00Z"},
		{"2027-01-15T09:00:00.001Z", "UTC", "2027-01-15T09:00:00.001Z"},
		{"2027-01-15T09:00:00+05:30", "Europe/Madrid", "2027-01-15T03:30:00Z"},
		{"2027-01-15T09:00:00-0330", "UTC", "2027-01-15T12:30:00Z"},
		{"2027-01-15T09:00:00.5", "UTC", ""},
		{"2028-02-29T00:00:00", "UTC", "2028-02-29T00:00:00Z"},
		{"2099-07-15T09:00:00", "America/New_York", "2099-07-15T13:00:00Z"},
		{"9999-12-31T23:59:59", "Asia/Tokyo", "9999-12-31T14:59:59Z"},
		{"2040-12-31T12:00:00", "Europe/Madrid", "2040-12-31T11:00:00Z"}, // the last day of a leap year
		{"2040-12-31T23:30:00", "America/New_York", "2041-01-01T04:30:00Z"},
		{"2040-12-31T00:30:00", "Pacific/Auckland", "2040-12-30T11:30:00Z"},
		{"0000-01-01T00:00:00", "Asia/Tokyo", "-0001-12-31T14:41:01Z"},
	} {
		got, err := Parse(c.local, c.zone)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %v", c.local, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != c.want || got.Location() != time.UTC {
			t.Errorf("%s in %s: %v, %v, want %s", c.local, c.zone, got, err, c.want)
		}
	}
}

// TestParseEndsAtTheTurnOfEveryYear tries the days for which package time returns a period end that precedes them.
func TestParseEndsAtTheTurnOfEveryYear(t *testing.T) {
	for name, data := range released(t) {
		zone := zoneOf(t, name, data)
		for _, year := range []string{"2028", "2040", "2095", "2096", "2400"} {
			for _, local := range []string{
				year + "-12-30T23:59:59", year + "-12-31T00:00:00", year + "-12-31T12:00:00", year + "-12-31T23:59:59",
			} {
				if at, err := Parse(local, name); err != nil || at.In(zone).Format(wallForm) != local {
					t.Errorf("%s in %s: %v, %v", local, name, at, err)
				}
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, local := range []string{
		"", "tomorrow", "2027-01-15", "2027-01-15 09:00:00", "2027-01-15T09:00", "2027-13-01T00:00:00", "2027-02-30T00:00:00",
		"2027-02-29T00:00:00", "2027-01-32T00:00:00", "2027-01-15T24:00:00", "2027-01-15T23:60:00", "2027-01-15T23:59:60",
		"2027-1-15T09:00:00", "2027-01-15T09:00:00 ", " 2027-01-15T09:00:00", "2027-01-15T09:00:00z", "2027-01-15t09:00:00",
		"2027-01-15T09:00:00.", "2027-01-15T09:00:00.12", "2027-01-15T09:00:00.1234", "2027-01-15T09:00:00,123", "2027-01-15T09:00:00+",
		"2027-01-15T09:00:00+1", "2027-01-15T09:00:00+24:00", "2027-01-15T09:00:00+05:60", "2027-01-15T09:00:00+05:3",
		"2027-01-15T09:00:00ZZ",
		"9999-12-31T23:59:59-05:00", "+2027-01-15T09:00:00", "02027-01-15T09:00:00", "٢٠٢٧-01-15T09:00:00",
		"2027-01-15T09:00:00Europe/Madrid", "2027-01-15T9:00:000",
	} {
		_, err := Parse(local, "UTC")
		if err == nil {
			t.Errorf("%q was accepted", local)
			continue
		}
		want := carillon.BadFormat("datetime_sending", local, "ISO 8601 (YYYY-MM-DDTHH:MM:SS)", "2030-01-31T09:00:00")
		if d := cmp.Diff(want.Details, asError(t, err).Details); d != "" {
			t.Error(d)
		}
	}
}

// asError returns the *carillon.Error in err, or ends the test.
func asError(t testing.TB, err error) *carillon.Error {
	t.Helper()
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		t.Fatalf("%v is no error for a caller", err)
	}
	return e
}
