// Package web holds the built pages of the panel and of the widgets, and serves their files. They are built by `make`; a
// program that was compiled without them says so where they would be (Built).
package web

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"carillon"
)

//go:embed all:dist
var embedded embed.FS

// The folders that a build makes.
const (
	Panel = "panel"
	Chat  = "chat"
	Voice = "voice"
	Embed = "embed" // scripts for the pages of customers
	Docs  = "docs"  // script and style of the documentation
)

// Forever is the maximum age of a file whose name changes with its content.
const Forever = -1

// Files are the built files, by path below the folder of an app.
type Files struct {
	dist fs.FS
	tags sync.Map // ETag by path
}

// Embedded are the files that the program was compiled with.
func Embedded() *Files {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	return In(dist)
}

// In are the files of a folder laid out as dist.
func In(dist fs.FS) *Files { return &Files{dist: dist} }

// Built reports whether the pages had been built when the program was compiled.
func (f *Files) Built() bool {
	_, err := f.Page(Panel)
	return err == nil
}

// Page is the page of an app, which the caller completes.
func (f *Files) Page(app string) ([]byte, error) { return fs.ReadFile(f.dist, app+"/index.html") }

// Serve responds with a file of an app, compressed where the client accepts it. maxAge is how many seconds it may be kept
// without asking again. Errors: not_found.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request, app, name string, maxAge int) error {
	full := path.Join(app, path.Clean("/"+name))
	contentType, known := types[path.Ext(full)]
	if !known {
		return carillon.Absent("File")
	}
	data, coding, err := f.read(full, r.Header.Get("Accept-Encoding"))
	if err != nil {
		return carillon.Absent("File")
	}
	h := w.Header()
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	h.Set("Content-Type", contentType)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*") // module scripts are requested with an origin, which may be null
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(maxAge))
	if maxAge == Forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	tag := f.tag(full+coding, data)
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, err = w.Write(data)
	return err
}

// types are the files that pages consist of. The system's own table of types is ignored.
//
//nolint:gochecknoglobals // read only
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json",
	".png": "image/png", ".woff2": "font/woff2", ".wav": "audio/wav", ".mp3": "audio/mpeg",
}

// read returns the file in the best form that the client accepts, and the name of its coding.
func (f *Files) read(name, accepted string) (data []byte, coding string, err error) {
	for _, c := range []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if !Accepts(accepted, c.name) {
			continue
		}
		if data, err = fs.ReadFile(f.dist, name+c.suffix); err == nil {
			return data, c.name, nil
		}
	}
	data, err = fs.ReadFile(f.dist, name)
	return data, "", err
}

// Sum is a short digest of a file of an app, for an address that changes with it; empty where the file is not there.
func (f *Files) Sum(app, name string) string {
	data, err := fs.ReadFile(f.dist, path.Join(app, name))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// Accepts reports whether a header of Accept-Encoding names the coding with a weight above 0.
func Accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(cmp.Or(weight, "q=1")), "q="), 64)
			return err == nil && q > 0
		}
	}
	return false
}

func (f *Files) tag(key string, data []byte) string {
	if tag, ok := f.tags.Load(key); ok {
		return tag.(string) //nolint:forcetypeassert // only this function stores
	}
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	f.tags.Store(key, tag)
	return tag
}
