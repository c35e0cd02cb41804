package httpio

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"carillon"
)

const (
	// uploadWithin is how long the body of an upload may take.
	uploadWithin = 3 * time.Minute
	// uploadSlack is how much a multipart body may have besides its file.
	uploadSlack = 64 << 10
)

// Uploaded is a file in a multipart body. It is read once, to its end; then Read may fail with payload_too_large.
type Uploaded struct {
	Name string // as the sender gave it

	r    *http.Request
	part io.Reader
	most int64
	read int64
}

// Upload returns the file in the part of that name of a multipart body, of at most that many bytes. The route must have a MaxBody
// that is no less. Errors: validation_failed, payload_too_large.
func Upload(w http.ResponseWriter, r *http.Request, field string, most int64) (*Uploaded, error) {
	st := stateOf(r.Context())
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Header.Get("Content-Type") == "":
		drop(st, r)
		return nil, carillon.Missing("Content-Type")
	case err != nil || media != "multipart/form-data" || params["boundary"] == "":
		drop(st, r)
		return nil, carillon.BadFormat("Content-Type", carillon.Shorten(r.Header.Get("Content-Type")), "multipart/form-data", "multipart/form-data; boundary=x")
	case r.ContentLength > most+uploadSlack:
		return nil, fileTooLarge(st, r, most)
	}
	// The server's time-outs are for short requests.
	control, end := http.NewResponseController(w), time.Now().Add(uploadWithin)
	if err := errors.Join(control.SetReadDeadline(end), control.SetWriteDeadline(end.Add(10*time.Second))); err != nil {
		return nil, err
	}
	body := multipart.NewReader(io.LimitReader(r.Body, most+uploadSlack), params["boundary"])
	for {
		part, err := body.NextRawPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, carillon.Missing(field)
		case err != nil:
			drop(st, r)
			return nil, cutShort(err)
		case part.FormName() == field && part.FileName() != "":
			return &Uploaded{Name: part.FileName(), r: r, part: part, most: most}, nil
		}
	}
}

// Read implements io.Reader.
func (u *Uploaded) Read(p []byte) (int, error) {
	n, err := u.part.Read(p)
	if u.read += int64(n); u.read > u.most {
		return 0, fileTooLarge(stateOf(u.r.Context()), u.r, u.most)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = cutShort(err)
	}
	return n, err
}

// Leave reads what is left of the body of a file that is refused, within bounds, so that its sender sees the response.
func (u *Uploaded) Leave() { drop(stateOf(u.r.Context()), u.r) }

func cutShort(err error) error {
	e := carillon.Invalid("body", "The body could not be read to its end")
	e.Err = err
	return e
}

func fileTooLarge(st *state, r *http.Request, most int64) *carillon.Error {
	drop(st, r)
	return &carillon.Error{Code: carillon.PayloadTooLarge, Message: "The file is too large", Details: carillon.Details{
		{Key: "field", Value: "body"}, {Key: "reason", Value: "A file of at most " + strconv.FormatInt(most, 10) + " bytes"},
	}}
}
