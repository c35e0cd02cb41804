package graphtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// uploads are the sample files of templates: a session for each, whose bytes come in one request.
type uploads struct {
	mu       sync.Mutex
	sessions map[string]sample
	done     []string // content types
}

func newUploads() uploads {
	return uploads{sessions: map[string]sample{}}
}

// Uploaded returns the types of the uploaded files, in their order.
func (s *Server) Uploaded() []string {
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	return slices.Clone(s.uploads.done)
}

type sample struct {
	length int
	kind   string
}

// beginUpload opens a session.
func (s *Server) beginUpload(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	u, q := &s.uploads, r.URL.Query()
	length, err := strconv.Atoi(q.Get("file_length"))
	switch kind := q.Get("file_type"); kind {
	case "image/jpeg", "image/png", "video/mp4", "application/pdf":
		if r.PathValue("app") != s.Account().AppID {
			return noObject(r.PathValue("app"))
		}
		if err != nil || length <= 0 {
			return invalid("(#100) file_length must be a positive number")
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		id := "upload:" + base64.RawURLEncoding.EncodeToString([]byte("session "+strconv.Itoa(len(u.sessions))))
		u.sessions[id] = sample{length, kind}
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
		return nil
	default:
		return invalid("(#100) file_type must be that of a PDF, JPEG, PNG or MP4 file")
	}
}

// change edits a template, or takes a file.
func (s *Server) change(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	if isUpload(r) {
		return s.upload(w, r, body)
	}
	return s.templates.edit(w, r, body)
}

// upload takes the bytes of a session. Unlike all other requests it has the token as OAuth.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	u := &s.uploads
	u.mu.Lock()
	defer u.mu.Unlock()
	x, open := u.sessions[r.PathValue("id")]
	switch {
	case !open:
		return noObject(r.PathValue("id"))
	case r.Header.Get("File_offset") != "0":
		return invalid("(#100) file_offset is missing")
	case len(body) != x.length:
		return invalid("(#100) The file has another length than its session")
	case http.DetectContentType(body) != x.kind:
		return invalid("(#100) The file has another type than its session")
	}
	delete(u.sessions, r.PathValue("id"))
	u.done = append(u.done, x.kind)
	handle := "4::" + base64.RawURLEncoding.EncodeToString([]byte(x.kind+strconv.Itoa(len(u.done))))
	_ = json.NewEncoder(w).Encode(map[string]string{"h": handle})
	return nil
}

func isUpload(r *http.Request) bool { return strings.Contains(r.URL.Path, "/upload:") }
