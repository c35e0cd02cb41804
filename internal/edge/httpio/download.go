package httpio

import (
	"net/http"
	"time"
)

// downloadWithin is how long a client may take to read a part of a file.
const downloadWithin = 30 * time.Second

// Download is the body of a response that takes as long as its client reads on: the server's time-outs are for short responses. A client
// that stops reading ends it, so that it holds nothing.
type Download struct {
	w       http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// OpenDownload sets the headers of a CSV file with that name, and returns its body.
func OpenDownload(w http.ResponseWriter, name string) *Download {
	return openDownload(w, name, "text/csv; charset=utf-8")
}

// OpenArchive sets the headers of a ZIP archive with that name, and returns its body.
func OpenArchive(w http.ResponseWriter, name string) *Download {
	return openDownload(w, name, "application/zip")
}

func openDownload(w http.ResponseWriter, name, contentType string) *Download {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	d := &Download{w, http.NewResponseController(w), downloadWithin}
	_ = d.control.SetReadDeadline(time.Time{}) // an expired one would cancel the request's context; a test's writer has none
	return d
}

// Write implements io.Writer.
func (d *Download) Write(p []byte) (int, error) {
	_ = d.control.SetWriteDeadline(time.Now().Add(d.within)) // a test's writer has none
	return d.w.Write(p)
}
