package carillon

import (
	"archive/zip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite generated test data")

const zoneList = "testdata/zones.txt"

// zoneNames are all names of the tz database; Factory stands in it and names no zone.
func zoneNames(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(zoneList)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// TestZoneListIsCurrent compares testdata/zones.txt with the database of the Go in use; update it with
// `go test -run TestZoneListIsCurrent . -update`.
func TestZoneListIsCurrent(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib/time/zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") && f.Name != "Factory" {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	if *update {
		if err := os.WriteFile(zoneList, []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(names, zoneNames(t)); d != "" {
		t.Errorf("update it with -update: %s", d)
	}
}

// TestScheduleLandsInEveryZone takes every zone around each of its changes of 2026 and 2027 and compares with a scan,
// minute by minute, over what the zone's clocks show.
func TestScheduleLandsInEveryZone(t *testing.T) {
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	changes := 0
	for _, name := range zoneNames(t) {
		loc, err := ParseZone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := zoneChanges(loc, from, to)
		changes += len(found)
		for _, at := range append(found, time.Date(2026, 7, 15, 9, 30, 0, 0, time.UTC)) {
			checkAround(t, name, loc, at)
		}
	}
	if changes < 500 {
		t.Errorf("only %d changes were found: the zone data is not whole", changes)
	}
}

// zoneChanges finds the minutes at which a zone's offset changes, by looking at every hour and then at the minutes.
func zoneChanges(loc *time.Location, from, to time.Time) (changes []time.Time) {
	offset := func(at time.Time) int {
		_, seconds := at.In(loc).Zone()
		return seconds
	}
	last := offset(from)
	for at := from; at.Before(to); at = at.Add(time.Hour) {
		next := at.Add(time.Hour)
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

const wallForm = "2006-01-02T15:04:05"

// checkAround asks for local times from three hours before an instant to three hours after it, in steps that hit both
// ends of a gap or an overlap, and compares each with the scan.
func checkAround(t *testing.T, name string, loc *time.Location, at time.Time) {
	t.Helper()
	const window = 7 * 60
	shown := make([]time.Time, 0, 2*window) // what the clocks show, minute by minute, written as UTC
	first := at.Add(-window * time.Minute)
	for i := range 2 * window {
		local := first.Add(time.Duration(i) * time.Minute).In(loc)
		_, offset := local.Zone()
		shown = append(shown, local.UTC().Add(time.Duration(offset)*time.Second))
	}
	middle := shown[window]
	before := shown[window-1].Add(time.Minute)
	wanted := []time.Time{middle, before, middle.Add(-time.Minute), before.Add(-time.Minute), middle.Add(before.Sub(middle) / 2).Truncate(time.Minute)}
	for m := -180; m <= 180; m += 30 {
		wanted = append(wanted, before.Add(time.Duration(m)*time.Minute))
	}
	for _, wall := range wanted {
		want := scan(shown, first, wall)
		got, err := ParseSchedule(wall.Format(wallForm), name)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s in %s: %v, %v, want %v", wall.Format(wallForm), name, got, err, want)
		}
	}
}

// scan is the first minute whose clocks show the wall time, or that skipped it.
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

func TestParseSchedule(t *testing.T) {
	for _, c := range []struct{ local, zone, want string }{
		{"2027-01-15T09:00:00", "UTC", "2027-01-15T09:00:00Z"},
		{"2027-01-15T09:00:00", "Europe/Madrid", "2027-01-15T08:00:00Z"},
		{"2027-07-15T09:00:00", "Europe/Madrid", "2027-07-15T07:00:00Z"},
		{"2027-03-28T02:30:00", "Europe/Madrid", "2027-03-28T01:00:00Z"}, // gap: just after it
		{"2027-10-31T02:30:00", "Europe/Madrid", "2027-10-31T00:30:00Z"}, // overlap: the first
		{"2011-12-30T12:00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},  // a day that was left out
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
		{"0000-01-01T00:00:00", "Asia/Tokyo", "-0001-12-31T14:41:01Z"},
	} {
		got, err := ParseSchedule(c.local, c.zone)
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

func TestParseScheduleRefuses(t *testing.T) {
	for _, local := range []string{
		"", "tomorrow", "2027-01-15", "2027-01-15 09:00:00", "2027-01-15T09:00", "2027-13-01T00:00:00", "2027-02-30T00:00:00",
		"2027-02-29T00:00:00", "2027-01-32T00:00:00", "2027-01-15T24:00:00", "2027-01-15T23:60:00", "2027-01-15T23:59:60",
		"2027-1-15T09:00:00", "2027-01-15T09:00:00 ", " 2027-01-15T09:00:00", "2027-01-15T09:00:00z", "2027-01-15t09:00:00",
		"2027-01-15T09:00:00.", "2027-01-15T09:00:00.12", "2027-01-15T09:00:00.1234", "2027-01-15T09:00:00,123", "2027-01-15T09:00:00+",
		"2027-01-15T09:00:00+1", "2027-01-15T09:00:00+24:00", "2027-01-15T09:00:00+05:60", "2027-01-15T09:00:00+05:3", "2027-01-15T09:00:00ZZ",
		"9999-12-31T23:59:59-05:00", "+2027-01-15T09:00:00", "02027-01-15T09:00:00", "٢٠٢٧-01-15T09:00:00", "2027-01-15T09:00:00Europe/Madrid", "2027-01-15T9:00:000",
	} {
		_, err := ParseSchedule(local, "UTC")
		if err == nil {
			t.Errorf("%q was accepted", local)
			continue
		}
		want := BadFormat("datetime_sending", local, "ISO 8601 (YYYY-MM-DDTHH:MM:SS)", "2030-01-31T09:00:00")
		if d := cmp.Diff(want.Details, asError(t, err).Details); d != "" {
			t.Error(d)
		}
	}
}

func TestParseZoneTakesIANANamesOnly(t *testing.T) {
	for _, name := range []string{"UTC", "Etc/UTC", "GMT", "EST5EDT", "Etc/GMT+5", "US/Eastern", "America/Argentina/Buenos_Aires", "America/Port-au-Prince"} {
		for range 2 { // loaded, then kept
			if loc, err := ParseZone(name); err != nil || loc.String() != name {
				t.Errorf("%s: %v, %v", name, loc, err)
			}
		}
	}
	for _, name := range []string{
		"", "Local", "local", "localtime", "posixrules", "Factory", "posix/Europe/Madrid", "right/Europe/Madrid", "Europe", "Europe/", "/Europe/Madrid",
		"Europe//Madrid", "Europe/./Madrid", "../zoneinfo/Europe/Madrid", "Europe/Madrid\x00", "+02:00", "CEST", "europe/madrid", "tzdata.zi", "zone.tab",
		" UTC", "Z", strings.Repeat("A", 65),
	} {
		loc, err := ParseZone(name)
		if err == nil {
			t.Errorf("%q was taken for %v", name, loc)
			continue
		}
		if f := asError(t, err).Details.Find("field"); f != "timezone" {
			t.Errorf("%q: field %v", name, f)
		}
	}
}
