package schedule

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestZoneListIsCurrent compares testdata/zones.txt with the committed zones. `make zones` updates it.
func TestZoneListIsCurrent(t *testing.T) {
	names := slices.Sorted(maps.Keys(released(t)))
	if *update {
		if err := os.WriteFile(zoneList, []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(names, zoneNames(t)); d != "" {
		t.Errorf("update it with -update: %s", d)
	}
}

func TestVersionAndDigestAreThoseOfTheZip(t *testing.T) {
	data, err := os.ReadFile(zonesFile)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("zones/SHA256SUMS")
	if want := fmt.Sprintf("%x  zoneinfo.zip\n", sha256.Sum256(data)); err != nil || string(sums) != want {
		t.Errorf("SHA256SUMS has %q, %v, want %q", sums, err, want)
	}
	text, err := os.ReadFile("zones/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	r := BuiltIn()
	if len(lines) < 4 || lines[0] != r.Version || !strings.HasPrefix(lines[2], "tzdata_"+r.Version) {
		t.Errorf("VERSION has %q, the zip %s", lines, r.Version)
	}
	at, err := time.Parse(time.RFC3339, lines[1])
	if err != nil || at.Sub(r.Date).Abs() > time.Second { // zip times are even seconds
		t.Errorf("VERSION has %s, %v, the zip %s", lines[1], err, r.Date)
	}
	if r.Version < "2026f" || r.Date.Before(time.Date(2026, 10, 28, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%s of %s is older than 2026f", r.Version, r.Date)
	}
}

// TestZoneIsThatOfTheRelease compares each zone's periods with those of the committed zip.
func TestZoneIsThatOfTheRelease(t *testing.T) {
	zones := released(t)
	if len(zones) < 597 {
		t.Fatalf("only %d zones", len(zones))
	}
	for name, data := range zones {
		zone, err := Zone(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if zone.String() != name {
			t.Errorf("%s is %s", name, zone)
		}
		if want, got := periods(zoneOf(t, name, data)), periods(zone); !slices.Equal(want, got) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

// period is a time of constant offset.
type period struct {
	Start  time.Time
	Name   string
	Offset int
	DST    bool
}

// periods returns the periods of a zone's clocks from 1850 until 2037, after which there are no explicit changes.
func periods(zone *time.Location) []period {
	var all []period
	for at := time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); at.Year() < 2038; {
		start, end := at.ZoneBounds()
		name, offset := at.Zone()
		all = append(all, period{start.UTC(), name, offset, at.IsDST()})
		if end.IsZero() {
			break
		}
		at = end
	}
	return all
}

// TestZoneReadsNoZoneFilesOfTheMachine provides zone files in which all clocks are UTC. The standard library would use
// them.
func TestZoneReadsNoZoneFilesOfTheMachine(t *testing.T) {
	zones, dir := released(t), t.TempDir()
	names := []string{"America/Vancouver", "Europe/Madrid", "Asia/Tokyo"}
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, zones["Etc/UTC"], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ZONEINFO", dir)
	fresh, err := open(zoneinfo) // nothing is loaded yet
	if err != nil {
		t.Fatal(err)
	}
	Use(fresh)
	defer Use(nil)
	for _, name := range names {
		zone, err := Zone(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, offset := time.Date(2027, 1, 15, 0, 0, 0, 0, zone).Zone(); offset == 0 {
			t.Errorf("%s is read from the machine's files", name)
		}
	}
}

func TestZoneTakesIANANamesOnly(t *testing.T) {
	for _, name := range []string{
		"UTC", "Etc/UTC", "GMT", "EST5EDT", "Etc/GMT+5", "US/Eastern", "America/Argentina/Buenos_Aires", "America/Port-au-Prince",
	} {
		for range 2 { // loaded first, then cached
			if loc, err := Zone(name); err != nil || loc.String() != name {
				t.Errorf("%s: %v, %v", name, loc, err)
			}
		}
	}
	for _, name := range []string{
		"", "Local", "local", "localtime", "posixrules", "Factory", "posix/Europe/Madrid", "right/Europe/Madrid",
		"Europe", "Europe/", "/Europe/Madrid",
		"Europe//Madrid", "Europe/./Madrid", "../zoneinfo/Europe/Madrid", "Europe/Madrid\x00", "+02:00", "CEST", "europe/madrid",
		"tzdata.zi", "zone.tab",
		VersionFile,
		" UTC", "Z", strings.Repeat("A", 65),
	} {
		loc, err := Zone(name)
		if err == nil {
			t.Errorf("%q was taken for %v", name, loc)
			continue
		}
		if f := asError(t, err).Details.Find("field"); f != "timezone" {
			t.Errorf("%q: field %v", name, f)
		}
	}
}
