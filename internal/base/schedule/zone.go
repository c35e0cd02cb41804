package schedule

import (
	_ "embed"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
)

// Texts of the error for an unknown zone.
const (
	zoneFormat  = "IANA time zone name"
	zoneExample = "Europe/Madrid"
)

//go:embed zones/zoneinfo.zip
var zoneinfo []byte

// BuiltIn returns the release embedded in the program.
var BuiltIn = sync.OnceValue(func() *Release { //nolint:gochecknoglobals // read once
	r, err := open(zoneinfo)
	if err != nil {
		panic(err) // only if the program was built wrong; a test reads the file
	}
	return r
})

// chosen is the operator's release, or nil for BuiltIn. It is global because a zone name must have the same meaning in
// the whole process.
var chosen atomic.Pointer[Release] //nolint:gochecknoglobals // see above

// Current returns the release in use.
func Current() *Release {
	if r := chosen.Load(); r != nil {
		return r
	}
	return BuiltIn()
}

// Use replaces the release in use. nil selects BuiltIn.
func Use(r *Release) { chosen.Store(r) }

// Zone returns a zone of the release in use by its exact IANA name. It refuses the empty name, `Local` and other
// spellings that the zone files of systems accept.
func Zone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if ValidName(name) {
		if zone, err := Current().zone(name); err == nil {
			return zone, nil
		}
	}
	return nil, carillon.BadFormat("timezone", name, zoneFormat, zoneExample)
}

// ValidName reports whether a name can be a zone of the database and not a path to another file.
func ValidName(name string) bool {
	switch name {
	case "", "Local", "localtime", "posixrules", "Factory":
		return false
	}
	if len(name) > 64 || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return false
	}
	slash := true
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '/' && slash:
			return false
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '_', c == '-', c == '+', c == '/':
		default:
			return false
		}
		slash = c == '/'
	}
	return !slash
}
