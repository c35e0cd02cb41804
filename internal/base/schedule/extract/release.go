package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"carillon/internal/base/schedule"
)

const (
	zoneFolder = "usr/share/zoneinfo/"
	sourceFile = zoneFolder + "tzdata.zi"
	newsFile   = "usr/share/doc/tzdata/changelog.gz"
	maxNews    = 16 << 20
)

// release holds the contents of a release of the time zone database.
type release struct {
	version string
	date    time.Time
	zones   map[string][]byte // compiled
}

var (
	versionForm = regexp.MustCompile(`\A# version (\S+)\n`)
	newsForm    = regexp.MustCompile(`(?m)^Release (\S+) - (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4})$`)
)

// add reads the files of a package: its zones and, if present, the version and the date.
func (r *release) add(data []byte) error {
	files, links, err := unpack(data)
	if err != nil {
		return err
	}
	if text, ok := files[sourceFile]; ok {
		if err := r.identify(text, files[newsFile]); err != nil {
			return err
		}
	}
	if r.zones == nil {
		r.zones = map[string][]byte{}
	}
	for file, compiled := range files {
		r.zone(file, compiled)
	}
	for file := range links {
		target := file
		for range 4 { // links to links
			if links[target] == "" {
				break
			}
			target = follow(target, links[target])
		}
		r.zone(file, files[target])
	}
	return nil
}

// follow resolves a link of a file to a path without a leading slash.
func follow(file, link string) string {
	if path.IsAbs(link) {
		return strings.TrimPrefix(path.Clean(link), "/")
	}
	return path.Join(path.Dir(file), link)
}

// zone adds a file if it is a zone.
func (r *release) zone(file string, compiled []byte) {
	name, ok := strings.CutPrefix(file, zoneFolder)
	if ok && schedule.ValidName(name) && bytes.HasPrefix(compiled, []byte("TZif")) {
		r.zones[name] = compiled
	}
}

// identify reads the version from the source and the date of that version from the news.
func (r *release) identify(source, zippedNews []byte) error {
	m := versionForm.FindSubmatch(source)
	if m == nil {
		return errors.New("tzdata.zi has no version")
	}
	r.version = string(m[1])
	unzipped, err := gzip.NewReader(bytes.NewReader(zippedNews))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	news, err := io.ReadAll(io.LimitReader(unzipped, maxNews))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	for _, m := range newsForm.FindAllSubmatch(news, -1) {
		if string(m[1]) != r.version {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04:05 -0700", string(m[2]))
		r.date = at.UTC()
		return err
	}
	return fmt.Errorf("the changelog has no date of %s", r.version)
}

// unpack reads the files and the symbolic links of a tar archive.
func unpack(data []byte) (files map[string][]byte, links map[string]string, err error) {
	files, links = map[string][]byte{}, map[string]string{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, links, nil
		}
		if err != nil {
			return nil, nil, err
		}
		name := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			if files[name], err = io.ReadAll(r); err != nil {
				return nil, nil, err
			}
		case tar.TypeLink:
			files[name] = files[path.Clean(h.Linkname)]
		case tar.TypeSymlink:
			links[name] = h.Linkname
		}
	}
}

// zip builds the release's zip. It depends only on the packages' zones, version and date.
func (r *release) zip() ([]byte, error) {
	if r.version == "" || len(r.zones) == 0 {
		return nil, errors.New("the packages hold no time zones with a version")
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	if err := store(w, schedule.VersionFile, []byte(r.version+"\n"), r.date); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.zones)) {
		if err := store(w, name, r.zones[name], time.Time{}); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// store adds a file with its sizes in the local header. CreateHeader would write them after the file.
func store(w *zip.Writer, name string, data []byte, at time.Time) error {
	h := &zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(data),
		CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data)),
	}
	if !at.IsZero() { // the MS-DOS format, in UTC
		h.ModifiedDate = uint16(at.Day() | int(at.Month())<<5 | (at.Year()-1980)<<9) //nolint:staticcheck // CreateRaw ignores Modified
		h.ModifiedTime = uint16(at.Second()/2 | at.Minute()<<5 | at.Hour()<<11)      //nolint:staticcheck // see above
	}
	f, err := w.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

func namesIn(archive []byte) ([]string, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names, nil
}
