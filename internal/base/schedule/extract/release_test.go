package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const news = "News for the tz database\n\nRelease 2027b - 2027-04-01 10:00:00 -0700\n\nRelease 2027a - 2027-03-05 23:16:48 -0800\n"

// files returns a tar archive with a package's files. Content that begins with -> is the target of a symbolic link, =>
// of a hard link.
func files(t *testing.T, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Name: "./" + pairs[i], Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(pairs[i+1]))}
		switch {
		case strings.HasPrefix(pairs[i+1], "->"):
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, pairs[i+1][2:], 0
		case strings.HasPrefix(pairs[i+1], "=>"):
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, "./"+pairs[i+1][2:], 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(pairs[i+1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zippedNews(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(news)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReleaseHasEveryNameOfItsPackages(t *testing.T) {
	const folder = zoneFolder
	first := files(t,
		sourceFile, "# version 2027a\nR d 1916\n", newsFile, zippedNews(t), folder+"Asia/Tokyo", "TZif-tokyo", folder+"Etc/UTC", "TZif-utc",
		folder+"Japan", "->Asia/Tokyo", folder+"Asia/Nippon", "->../Japan", folder+"Asia/Edo", "=>"+folder+"Asia/Tokyo",
		folder+"Zulu", "->/"+folder+"Etc/UTC",
		folder+"localtime", "->/etc/localtime", folder+"posixrules", "->Asia/Tokyo", folder+"Factory", "TZif-none",
		folder+"leapseconds", "# leap",
		folder+"right/Japan", "TZif-leaps", folder+"zone.tab", "JP", "usr/share/doc/tzdata/copyright", "TZif")
	var r release
	if err := r.add(first); err != nil {
		t.Fatal(err)
	}
	if err := r.add(files(t, folder+"US/Pacific", "TZif-legacy")); err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{
		"Asia/Tokyo": []byte("TZif-tokyo"), "Japan": []byte("TZif-tokyo"), "Asia/Nippon": []byte("TZif-tokyo"),
		"Asia/Edo": []byte("TZif-tokyo"),
		"Etc/UTC":  []byte("TZif-utc"), "Zulu": []byte("TZif-utc"), "US/Pacific": []byte("TZif-legacy"),
	}
	if d := cmp.Diff(want, r.zones); d != "" {
		t.Error(d)
	}
	if at := r.date.Format("2006-01-02T15:04:05Z07:00"); r.version != "2027a" || at != "2027-03-06T07:16:48Z" {
		t.Errorf("%s of %s", r.version, at)
	}
	one, err := r.zip()
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.zip()
	if err != nil || !bytes.Equal(one, again) {
		t.Errorf("the same release makes another zip: %v", err)
	}
	names, err := namesIn(one)
	listed := []string{"+VERSION", "Asia/Edo", "Asia/Nippon", "Asia/Tokyo", "Etc/UTC", "Japan", "US/Pacific", "Zulu"}
	if d := cmp.Diff(listed, names); d != "" || err != nil {
		t.Error(err, d)
	}

	former := filepath.Join(t.TempDir(), zipName)
	if err := keepsNames(former, one); err != nil {
		t.Errorf("the first zip is refused: %v", err)
	}
	if err := os.WriteFile(former, one, 0o600); err != nil {
		t.Fatal(err)
	}
	delete(r.zones, "US/Pacific")
	less, err := r.zip()
	if err != nil {
		t.Fatal(err)
	}
	if err := keepsNames(former, less); err == nil || !strings.Contains(err.Error(), "US/Pacific") {
		t.Errorf("a lost name: %v", err)
	}
	if err := keepsNames(former, one); err != nil {
		t.Errorf("the same names: %v", err)
	}
}

func TestReleaseWithoutVersionOrDateIsRefused(t *testing.T) {
	for want, data := range map[string][]byte{
		"no date of 2026z": files(t, sourceFile, "# version 2026z\n", newsFile, zippedNews(t)),
		"has no version":   files(t, sourceFile, "R d 1916\n", newsFile, zippedNews(t)),
		"the changelog":    files(t, sourceFile, "# version 2027a\n"),
	} {
		if err := new(release).add(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (&release{zones: map[string][]byte{"UTC": nil}}).zip(); err == nil {
		t.Error("zones without a version are zipped")
	}
}
