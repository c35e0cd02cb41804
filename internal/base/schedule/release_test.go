package schedule

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// zipped returns an operator's file: the committed zones with changes. An empty text removes an entry.
func zipped(t *testing.T, method uint16, changes map[string]string) []byte {
	t.Helper()
	entries := map[string]string{}
	for name, data := range released(t) {
		entries[name] = string(data)
	}
	maps.Copy(entries, changes)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name] == "" {
			continue
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: time.Date(2027, 3, 5, 10, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(entries[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadReleaseTakesAZoneFolder reads the output of `zip -r` for a system's zone folder.
func TestReadReleaseTakesAZoneFolder(t *testing.T) {
	tokyo := string(released(t)["Asia/Tokyo"])
	r, err := ReadRelease(zipped(t, zip.Deflate, map[string]string{
		"tzdata.zi":         "# version 2027a\n# This zic input file is in the public domain.\nR d 1916 o - Jun 14 23s 1 S\n",
		"America/Vancouver": tokyo, "Europe/Atlantis": tokyo, "posix/Asia/Tokyo": tokyo, "right/Asia/Tokyo": tokyo, "posixrules": tokyo,
		"leapseconds": "# Leap", "zone.tab": "JP",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != "2027a" || !r.Date.Equal(time.Date(2027, 3, 5, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%s of %s", r.Version, r.Date)
	}
	before, err := Zone("America/Vancouver")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Zone("Europe/Atlantis"); err == nil {
		t.Error("a zone of another release is taken")
	}
	Use(r)
	defer Use(nil)
	for name, want := range map[string]int{"America/Vancouver": 9, "Europe/Atlantis": 9, "Europe/Madrid": 1} {
		zone, err := Zone(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, offset := time.Date(2027, 1, 15, 0, 0, 0, 0, zone).Zone(); offset != want*3600 {
			t.Errorf("%s is at %d s", name, offset)
		}
	}
	for _, name := range []string{"leapseconds", "posix/Asia/Tokyo", "right/Asia/Tokyo", "posixrules", "zone.tab", "tzdata.zi"} {
		if zone, err := Zone(name); err == nil {
			t.Errorf("%s is taken for the zone %v", name, zone)
		}
	}
	Use(nil)
	if again, err := Zone("America/Vancouver"); err != nil || again != before {
		t.Errorf("the program's own zones are not those of before: %v", err)
	}
}

func TestReadReleaseRefuses(t *testing.T) {
	const version = "2027a\n"
	with := func(name, text string) []byte {
		return zipped(t, zip.Store, map[string]string{VersionFile: version, name: text})
	}
	for want, data := range map[string][]byte{
		"read the zip":                           []byte("PK"),
		"neither +VERSION nor tzdata.zi":         zipped(t, zip.Store, nil),
		"+VERSION does not begin with a version": with(VersionFile, "newest\n"),
		"tzdata.zi does not begin with a version": zipped(t, zip.Store,
			map[string]string{"tzdata.zi": "R d 1916 o - Jun 14 23s 1 S\n"}),
		"time zones are missing: 1, such as Europe/Kyiv": with("Europe/Kyiv", ""),
		"time zone Europe/Madrid: ":                      with("Europe/Madrid", "TZif2"),
	} {
		if _, err := ReadRelease(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	data := with("GMT", string(released(t)["GMT"]))
	data[bytes.Index(data, released(t)["Asia/Tokyo"])+60]++
	if _, err := ReadRelease(data); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("%v, want an error of the checksum", err)
	}
}
