package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"carillon/internal/app"
	"carillon/internal/base/schedule"
)

type versionCommand struct{ jsonFlag }

// build describes the program's build.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Zones    string `json:"time_zones"` // release of the IANA database compiled into the program
}

func buildOf() build {
	b := build{
		Version: app.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Zones: schedule.BuiltIn().Version,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Run prints the version and the build details.
func (c *versionCommand) Run(env *environment) error {
	b := buildOf()
	if c.JSON {
		return writeJSON(env.Stdout, b)
	}
	_, err := fmt.Fprintf(env.Stdout, "carillon %s\n", b.Version)
	if b.Revision != "" && err == nil {
		dirty := ""
		if b.Modified {
			dirty = ", with changes"
		}
		_, err = fmt.Fprintf(env.Stdout, "revision %s of %s%s\n", b.Revision, b.Time, dirty)
	}
	if err == nil {
		_, err = fmt.Fprintf(env.Stdout, "%s %s\ntime zones %s\n", b.Go, b.Platform, b.Zones)
	}
	return err
}
