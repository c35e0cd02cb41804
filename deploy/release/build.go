package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// platform is a target platform.
type platform struct{ os, arch string }

// platforms are the platforms of a release.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}} //nolint:gochecknoglobals // a table

func (p platform) name() string { return p.os + "_" + p.arch }

// built is a built program and its build information.
type built struct {
	file     string
	platform platform
	info     *debug.BuildInfo
	sum      [sha256.Size]byte
	time     time.Time
}

// build builds the program. The go command derives its version from git: the commit's tag, or the commit's time and
// ID.
func (s *source) build(ctx context.Context, p platform, file string) (*built, error) {
	_, err := s.run(ctx, []string{"GOOS=" + p.os, "GOARCH=" + p.arch}, "go", "build", "-trimpath", "-buildvcs=true",
		"-ldflags=-s -w", "-o", file, "./cmd/carillon")
	if err != nil {
		return nil, err
	}
	b, err := readBuilt(file, p, s.time)
	if err != nil {
		return nil, err
	}
	for _, setting := range b.info.Settings {
		if setting.Key == "vcs.modified" && setting.Value != "false" {
			return nil, errors.New("the build changed its own sources")
		}
	}
	if strings.Contains(b.info.Main.Version, "devel") {
		return nil, errors.New("the program was built without its version: is git missing?")
	}
	return b, nil
}

func readBuilt(file string, p platform, at time.Time) (*built, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file) //nolint:gosec // built a moment ago
	if err != nil {
		return nil, err
	}
	return &built{file: file, platform: p, info: info, sum: sha256.Sum256(data), time: at}, nil
}

// title returns the name of the release's files and of the archive's folder.
func (b *built) title() string {
	return "carillon_" + strings.TrimPrefix(b.info.Main.Version, "v") + "_" + b.platform.name()
}

// shipped returns the files and folders of the commit that the archive contains: the documents, and the files they
// link to.
func shipped() []string {
	return []string{
		"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "docs", "deploy", "examples", "bench/results.md",
		"bench/full.md", "bench/notes.md", "bench/method.md", "bench/turns.md", "bench/answers/results.md",
		"clients/typescript/README.md", "e2e/clients/scenarios.json",
		"e2e/faults/ledger.md", "internal/edge/api/openapi.yaml", "internal/base/config/demo.yaml",
		"internal/base/config/testdata/provision.example.yaml",
	}
}

// contents returns the files of the archive: the program, its bill of materials, the licenses, and the commit's
// documents and installation files.
func (s *source) contents(ctx context.Context, b *built, pages []library, bill []byte) ([]entry, error) {
	program, err := os.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	licenses, err := s.licenses(ctx, b.info.Deps)
	if err != nil {
		return nil, err
	}
	ofPages, err := s.pageLicenses(pages)
	if err != nil {
		return nil, err
	}
	licenses = append(licenses, ofPages...)
	files := []entry{
		{"carillon", 0o755, program}, {"sbom.cdx.json", 0o644, bill}, {"THIRD_PARTY_LICENSES.txt", 0o644, licenses},
	}
	listed, err := s.output(ctx, "git", append([]string{"ls-files"}, shipped()...)...)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(listed, "\n") {
		if strings.HasSuffix(name, ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.folder, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, entry{name, 0o644, data})
	}
	return files, nil
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// licenses returns the licenses and notices of Go and all linked modules.
func (s *source) licenses(ctx context.Context, modules []*debug.Module) ([]byte, error) {
	root, err := s.output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := addLicenses(&b, "the Go standard library", root); err != nil {
		return nil, err
	}
	ask := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range modules {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release may contain published modules only", m.Path)
		}
		ask = append(ask, m.Path)
	}
	listed, err := s.output(ctx, "go", ask...)
	if err != nil {
		return nil, err
	}
	folders := strings.Split(listed, "\n")
	if len(folders) != len(modules) {
		return nil, fmt.Errorf("%d modules have %d folders", len(modules), len(folders))
	}
	for i, m := range modules {
		if err := addLicenses(&b, m.Path+" "+m.Version, folders[i]); err != nil {
			return nil, err
		}
	}
	return []byte(b.String()), nil
}

var errNoLicense = errors.New("there is no license file")

func addLicenses(b *strings.Builder, of, folder string) error {
	all, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e os.DirEntry) bool { return e.IsDir() || !licenseFile.MatchString(e.Name()) })
	if len(all) == 0 {
		return fmt.Errorf("%s: %w", of, errNoLicense)
	}
	for _, e := range all {
		text, err := os.ReadFile(filepath.Join(folder, e.Name())) //nolint:gosec // of the module cache
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "==== %s: %s\n\n%s\n\n", of, e.Name(), strings.TrimSpace(string(text)))
	}
	return nil
}

func hexSum(sum []byte) string { return hex.EncodeToString(sum) }
