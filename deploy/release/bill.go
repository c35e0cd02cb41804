package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// document is a bill of materials in the format of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), with the
// fields that are used here.
type document struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string     `json:"timestamp"`
	Component component  `json:"component"`
	Property  []property `json:"properties,omitempty"`
}

type component struct {
	Type    string    `json:"type"`
	Ref     string    `json:"bom-ref"`
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Hashes  []hash    `json:"hashes,omitempty"`
	License []license `json:"licenses,omitempty"`
	PURL    string    `json:"purl"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// license is an SPDX expression.
type license struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref  string   `json:"ref"`
	Uses []string `json:"dependsOn,omitempty"`
}

// bill lists the modules linked into the program, from its build information, with their digests in go.sum, and the
// libraries of its pages. Build information has no dependencies among modules, so all of them are listed as the
// program's.
func (b *built) bill(pages []library) ([]byte, error) {
	main := component{
		Type: "application", Name: b.info.Main.Path, Version: b.info.Main.Version,
		Hashes: []hash{{"SHA-256", hexSum(b.sum[:])}}, PURL: purl(b.info.Main.Path, b.info.Main.Version),
		License: []license{{"Apache-2.0"}},
	}
	main.Ref = main.PURL + "?goarch=" + b.platform.arch + "&goos=" + b.platform.os
	std := strings.TrimPrefix(b.info.GoVersion, "go")
	all := []component{{Type: "library", Name: "std", Version: std, PURL: purl("std", std), Ref: purl("std", std)}}
	uses := []string{all[0].Ref}
	for _, m := range b.info.Deps {
		c, err := componentOf(m)
		if err != nil {
			return nil, err
		}
		all, uses = append(all, c), append(uses, c.Ref)
	}
	for _, l := range pages {
		c, err := l.component()
		if err != nil {
			return nil, err
		}
		all, uses = append(all, c), append(uses, c.Ref)
	}
	d := document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: serial(b.sum), Components: all, Dependencies: []dependency{{Ref: main.Ref, Uses: uses}},
		Metadata: metadata{Timestamp: b.time.UTC().Format(time.RFC3339), Component: main, Property: settings(b.info)},
	}
	for _, c := range all {
		d.Dependencies = append(d.Dependencies, dependency{Ref: c.Ref})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return out.Bytes(), err
}

func componentOf(m *debug.Module) (component, error) {
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version), Ref: purl(m.Path, m.Version)}
	digest, ok := strings.CutPrefix(m.Sum, "h1:")
	if !ok {
		return c, fmt.Errorf("%s has no digest: is it replaced?", m.Path)
	}
	raw, err := base64.StdEncoding.DecodeString(digest)
	if err != nil || len(raw) != sha256.Size {
		return c, fmt.Errorf("%s has an invalid digest: %s", m.Path, m.Sum)
	}
	c.Hashes = []hash{{"SHA-256", hexSum(raw)}}
	return c, nil
}

// settings returns the build settings.
func settings(info *debug.BuildInfo) []property {
	all := []property{{"carillon:build:go", info.GoVersion}}
	for _, s := range info.Settings {
		switch s.Key {
		case "CGO_ENABLED", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "-trimpath", "vcs.revision", "vcs.time":
			all = append(all, property{"carillon:build:" + s.Key, s.Value})
		}
	}
	return all
}

// purl returns the package URL of a Go module (https://github.com/package-url/purl-spec).
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial returns a UUID of version 8 (RFC 9562) derived from the program's digest.
func serial(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
