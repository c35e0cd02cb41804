package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string // slash-separated, below the archive's folder
	mode int64
	data []byte
}

// writeArchive writes a reproducible tar.gz: entries are sorted, have no owner, and all have the same time.
func writeArchive(w io.Writer, folder string, files []entry, at time.Time) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.data)),
			ModTime: at.Truncate(time.Second), Format: tar.FormatPAX,
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

const sumsName = "SHA256SUMS"

// sumsOf returns the input of `sha256sum -c`, sorted by name.
func sumsOf(folder string, names []string) ([]byte, error) {
	names = slices.Sorted(slices.Values(names))
	var b bytes.Buffer
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(folder, n)) //nolint:gosec // written a moment ago
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&b, "%s  %s\n", hexSum(sum[:]), n)
	}
	return b.Bytes(), nil
}
