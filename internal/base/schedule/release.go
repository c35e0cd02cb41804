package schedule

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Release is a release of the IANA time zone database.
type Release struct {
	Version string    // for example 2026f
	Date    time.Time // of publication, in UTC

	files map[string]*zip.File // compiled zones by name
	zones sync.Map             // *time.Location by name, because loading one takes longer than the rest of a request
}

// VersionFile is the entry of a release's zip that contains the version. Its modification time is the release's date.
const VersionFile = "+VERSION"

// sourceFile is part of the zone folders of Linux systems and begins with a comment with the version.
const sourceFile = "tzdata.zi"

var versionForm = regexp.MustCompile(`^(?:# version )?(20[0-9]{2}[a-z]{1,2})\s`)

// ReadRelease reads an operator's own release: a zip of compiled zones by name, with +VERSION or tzdata.zi. It must
// contain every zone of the built-in release, because stored schedules and calling hours may use any of them.
func ReadRelease(data []byte) (*Release, error) {
	r, err := open(data)
	if err != nil {
		return nil, err
	}
	var missing []string
	for name := range BuiltIn().files {
		_, err := r.zone(name)
		if errors.Is(err, errNoZone) {
			missing = append(missing, name)
		} else if err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("time zones are missing: %d, such as %s", len(missing), slices.Min(missing))
	}
	return r, nil
}

func open(data []byte) (*Release, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("read the zip of time zones: %w", err)
	}
	r := &Release{files: make(map[string]*zip.File, len(archive.File))}
	for _, f := range archive.File {
		switch {
		case f.Name == VersionFile, f.Name == sourceFile && r.Version == "":
			if err := r.readVersion(f); err != nil {
				return nil, err
			}
		case ValidName(f.Name):
			r.files[f.Name] = f
		}
	}
	if r.Version == "" {
		return nil, fmt.Errorf("neither %s nor %s is in the zip of time zones", VersionFile, sourceFile)
	}
	return r, nil
}

func (r *Release) readVersion(f *zip.File) error {
	text, err := contents(f)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	m := versionForm.FindStringSubmatch(first + "\n")
	if m == nil {
		return fmt.Errorf("%s does not begin with a version such as 2026f", f.Name)
	}
	r.Version, r.Date = m[1], f.Modified.UTC()
	return nil
}

var errNoZone = errors.New("no such time zone")

func (r *Release) zone(name string) (*time.Location, error) {
	if loaded, ok := r.zones.Load(name); ok {
		return loaded.(*time.Location), nil // the map contains only locations
	}
	f := r.files[name]
	if f == nil {
		return nil, errNoZone
	}
	data, err := contents(f)
	if err != nil {
		return nil, err
	}
	loaded, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	r.zones.Store(name, loaded)
	return loaded, nil
}

// maxFile bounds an entry of the zip, in bytes. tzdata.zi has 110 KB.
const maxFile = 1 << 20

func contents(f *zip.File) ([]byte, error) {
	file, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	return data, nil
}
