// Package attachment receives and serves the files that people send over HTTP.
package attachment

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/talk/files"
)

// sendWithin bounds the time to serve a file.
const sendWithin = 5 * time.Minute

// Routes returns the route of signed file addresses.
func Routes(f *files.Files) []httpio.Route {
	return []httpio.Route{{
		Pattern: "GET " + files.Path + "/{id}", Access: "none",
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			q := r.URL.Query()
			x, err := f.AtAddress(r.Context(), strings.ToLower(r.PathValue("id")), q.Get("expires"), q.Get("signature"))
			if err != nil {
				return err
			}
			return serve(w, r, f, x)
		},
	}}
}

// Receive stores the file in the part `file` of a multipart request. The file expires unless files.Files.Keep is
// called. Errors: validation_failed, payload_too_large, limit_exceeded; not_found if the conversation does not exist;
// rate_limit_exceeded and service_unavailable during too many concurrent uploads.
func Receive(w http.ResponseWriter, r *http.Request, f *files.Files, from files.From) (*chats.File, error) {
	return receive(w, r, f, from, f.Most(), f.Receive)
}

// ReceiveMedia stores a file for headers of notifications. It works like Receive, but the file is kept for
// files.MediaFor.
func ReceiveMedia(w http.ResponseWriter, r *http.Request, f *files.Files, from files.From) (*chats.File, error) {
	return receive(w, r, f, from, files.MaxMedia, f.ReceiveMedia)
}

type keep func(ctx context.Context, in io.Reader, name string, from files.From) (*chats.File, error)

func receive(w http.ResponseWriter, r *http.Request, f *files.Files, from files.From, most int64, keep keep) (*chats.File, error) {
	place, err := f.Admit(from)
	if err != nil {
		httpio.LeaveBody(r.Context())
		return nil, err
	}
	defer place.Release()
	in, err := httpio.Upload(w, r, "file", most)
	if err != nil {
		return nil, err
	}
	kept, err := keep(r.Context(), in, in.Name, from)
	if err != nil {
		in.Leave() // the body belongs to the request
		return nil, err
	}
	return kept, nil
}

// Serve responds with a file if may allows it. Errors: not_found.
func Serve(w http.ResponseWriter, r *http.Request, f *files.Files, may func(x *chats.StoredFile) bool, id string) error {
	x, err := f.Find(r.Context(), id)
	if err != nil {
		return err
	}
	if !may(x) {
		return carillon.Absent("File")
	}
	return serve(w, r, f, x)
}

func serve(w http.ResponseWriter, r *http.Request, f *files.Files, x *chats.StoredFile) error {
	httpio.SetCompany(r.Context(), x.CompanyID)
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendWithin)); err != nil {
		return err
	}
	disposition := "attachment"
	if files.IsPicture(x.Type) {
		disposition = "inline"
	}
	h := w.Header()
	h.Set("Content-Type", files.ContentType(x.Type))
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": x.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, max-age=3600, immutable")
	h.Set("ETag", `"`+x.SHA256[:min(len(x.SHA256), 32)]+`"`)
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // each of many ranges would read a whole part for a few bytes
	}
	http.ServeContent(w, r, "", time.Time{}, f.Open(r.Context(), x))
	return nil
}
