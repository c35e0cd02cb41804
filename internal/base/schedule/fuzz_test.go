package schedule

import (
	"strings"
	"testing"
	"time"
)

func FuzzSchedule(f *testing.F) {
	for _, s := range [][2]string{
		{"2027-03-28T02:30:00", "Europe/Madrid"},
		{"2027-10-31T02:30:00.250", "Europe/Madrid"},
		{"2027-01-15T09:00:00Z", "UTC"},
		{"2027-01-15T09:00:00+05:30", "Asia/Tokyo"},
		{"2011-12-30T12:00:00", "Pacific/Apia"},
		{"2027-02-30T00:00:00", ""},
		{"0000-01-01T00:00:00-2359", "Local"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, local, zone string) {
		at, err := Parse(local, zone)
		if err != nil {
			asError(t, err)
			return
		}
		loc, err := Zone(zone)
		if err != nil || zone == "" || zone == "Local" {
			t.Fatalf("%q is no zone: %v", zone, err)
		}
		rest := strings.TrimLeft(local[len(wallForm):], ".0123456789")
		if rest != "" {
			want, err := time.Parse("2006-01-02T15:04:05Z07:00", local)
			if err != nil {
				want, err = time.Parse("2006-01-02T15:04:05Z0700", local)
			}
			if err != nil || !at.Equal(want) {
				t.Errorf("%s: %v, want %v, %v", local, at, want, err)
			}
			return
		}
		shown := func(at time.Time) string { return at.In(loc).Format(wallForm) }
		if wall := local[:len(wallForm)]; shown(at) != wall && (shown(at) <= wall || shown(at.Add(-time.Nanosecond)) >= wall) {
			t.Errorf("%s in %s: clocks show %s", local, zone, shown(at))
		}
	})
}
