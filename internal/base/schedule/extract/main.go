// Command extract creates the files of internal/base/schedule/zones from Debian's package tzdata, which it downloads
// with apt-get, or from downloaded packages (since Debian 13, tzdata and tzdata-legacy). It installs nothing.
//
//	go run ./internal/base/schedule/extract [-out internal/base/schedule/zones] [package.deb ...]
//
// zoneinfo.zip has the format of Go's lib/time/zoneinfo.zip: every zone including backward links, uncompressed, sorted
// and without times. Each entry is a file of the package. The entry +VERSION contains the release's version and has its
// date.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "internal/base/schedule/zones", "the folder to write to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), *out)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, packages []string, out string) error {
	if len(packages) == 0 {
		dir, err := os.MkdirTemp("", "carillon-zones-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if packages, err = download(ctx, dir); err != nil {
			return err
		}
	}
	var all release
	var sources strings.Builder
	for _, name := range packages {
		data, err := os.ReadFile(name) //nolint:gosec // the caller's own file
		if err != nil {
			return err
		}
		fmt.Fprintf(&sources, "%s sha256:%x\n", filepath.Base(name), sha256.Sum256(data))
		files, err := fileSystem(ctx, name)
		if err == nil {
			err = all.add(files)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	archive, err := all.zip()
	if err != nil {
		return err
	}
	if err := keepsNames(filepath.Join(out, zipName), archive); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		zipName:   archive,
		sumsName:  fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(archive), zipName),
		"VERSION": fmt.Appendf(nil, "%s\n%s\n%s", all.version, all.date.Format(time.RFC3339), sources.String()),
	} {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil { //nolint:gosec // public data
			return err
		}
	}
	_, err = fmt.Fprintf(os.Stdout, "%s of %s: %d zones, %d bytes\n",
		all.version, all.date.Format(time.DateOnly), len(all.zones), len(archive))
	return err
}

const (
	zipName  = "zoneinfo.zip"
	sumsName = "SHA256SUMS"
)

// download fetches the newest tzdata from the machine's package sources into a folder.
func download(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "apt-get", "download", "tzdata")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("apt-get download tzdata: %w\n%s", err, text)
	}
	return filepath.Glob(filepath.Join(dir, "*.deb"))
}

// keepsNames returns an error if a zone of the previous zip is missing from the new one, because requests with that
// zone would then be refused.
func keepsNames(former string, archive []byte) error {
	old, err := os.ReadFile(former) //nolint:gosec // the caller's own file
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := namesIn(old)
	if err != nil {
		return fmt.Errorf("%s: %w", former, err)
	}
	now, err := namesIn(archive)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(now, name) })
	if len(lost) > 0 {
		return fmt.Errorf("%d zones would be lost, such as %s: from Debian 13 on name the packages tzdata and tzdata-legacy",
			len(lost), lost[0])
	}
	return nil
}

// fileSystem returns the tar archive with a package's files.
func fileSystem(ctx context.Context, name string) ([]byte, error) {
	var faults bytes.Buffer
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", name) //nolint:gosec // the package that was just downloaded
	cmd.Stderr = &faults
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("dpkg-deb: %w\n%s", err, faults.String())
	}
	return data, nil
}
