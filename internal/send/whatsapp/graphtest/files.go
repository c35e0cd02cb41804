package graphtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
)

// File is a file that a person sent, with its failures. A lookup by id returns the URL of the content. The URL
// contains a number: the URL of an earlier lookup is refused.
type File struct {
	Type string // MIME type, as the channel sends it
	Data []byte
	Size int // size in the lookup, if it differs from that of the data

	LookUp  int    // status of the first LookUps lookups
	LookUps int    // number of failing lookups; -1: all
	Expired int    // number of reads whose URL has expired; -1: all
	Broken  int    // number of responses that break off in the middle; -1: all
	Hangs   bool   // nothing follows the first byte
	Foreign string // URL to return instead of the server's

	lookedUp, read, reads int
}

// PutFile stores a file that a person sent.
func (s *Server) PutFile(id string, f File) {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	if s.replies.files == nil {
		s.replies.files = map[string]*File{}
	}
	s.replies.files[id] = &f
}

// counts increments n, and reports whether it is among the first `most` calls; -1 means that all are.
func counts(most int, n *int) bool {
	*n++
	return most < 0 || *n <= most
}

// node serves a file's lookup or a template.
func (s *Server) node(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	id := r.PathValue("id")
	s.replies.mu.Lock()
	f, has := s.replies.files[id]
	if !has {
		s.replies.mu.Unlock()
		return s.templates.show(w, r, body)
	}
	defer s.replies.mu.Unlock()
	if counts(f.LookUps, &f.lookedUp) {
		return &Error{HTTP: f.LookUp, Code: 4, Message: "Application request limit reached"}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"messaging_product": "whatsapp", "url": cmp.Or(f.Foreign,
			s.URL()+"/files/"+id+"/"+strconv.Itoa(f.lookedUp)+"?token=media-token"), "mime_type": f.Type,
		"sha256": "00", "file_size": cmp.Or(f.Size, len(f.Data)), "id": id,
	})
	return nil
}

func (s *Server) file(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	s.replies.mu.Lock()
	f, has := s.replies.files[r.PathValue("id")]
	if has && f.Hangs {
		s.replies.mu.Unlock()
		_, _ = w.Write(f.Data[:1])
		_ = http.NewResponseController(w).Flush()
		(&Failure{Kind: Hang}).play(w, r, s.stop)
	}
	defer s.replies.mu.Unlock()
	if !has || r.PathValue("n") != strconv.Itoa(f.lookedUp) || r.URL.Query().Get("token") != "media-token" || counts(f.Expired, &f.read) {
		return &Error{HTTP: 403, Code: 100, Message: "URL signature expired"}
	}
	w.Header().Set("Content-Type", f.Type)
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
	if counts(f.Broken, &f.reads) {
		_, _ = w.Write(f.Data[:len(f.Data)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(f.Data)
	return nil
}
