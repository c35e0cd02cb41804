package httpio

import (
	"net/http"
	"time"
)

// downloadWithin is the timeout for writing one part of a file.
const downloadWithin = 30 * time.Second

// Download is the body of a response of any duration, as long as its client keeps reading: the server's timeouts are
// for short responses. A client that stops reading is cut off, so that it holds no resources.
type Download struct {
	w       http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// OpenDownload sets the headers of a CSV file with a name, and returns the response body.
func OpenDownload(w http.ResponseWriter, name string) *Download {
	return openDownload(w, name, "text/csv; charset=utf-8")
}

// OpenArchive sets the headers of a ZIP archive with a name, and returns the response body.
func OpenArchive(w http.ResponseWriter, name string) *Download {
	return openDownload(w, name, "application/zip")
}

// OpenWorkbook sets the headers of an Excel workbook with a name, and returns the response body.
func OpenWorkbook(w http.ResponseWriter, name string) *Download {
	return openDownload(w, name, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
}

func openDownload(w http.ResponseWriter, name, contentType string) *Download {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	d := &Download{w, http.NewResponseController(w), downloadWithin}
	_ = d.control.SetReadDeadline(time.Time{}) // an expired deadline would cancel the request's context; the writers of tests have none
	return d
}

// Write implements io.Writer.
func (d *Download) Write(p []byte) (int, error) {
	_ = d.control.SetWriteDeadline(time.Now().Add(d.within)) // the writers of tests have none
	return d.w.Write(p)
}
