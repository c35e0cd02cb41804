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
	// uploadWithin is how long the body of an upload may take, and uploadPace how many bytes a second lengthen that: a slow line gets its
	// time, and a body that hardly comes holds nothing for long.
	uploadWithin = 2 * time.Minute
	uploadPace   = 32 << 10
	extendEvery  = 1 << 20
	// uploadSlack is how much a multipart body may have besides its file.
	uploadSlack = 64 << 10
)

// Uploaded is a file in a multipart body. It is read once, to its end; then Read may fail with payload_too_large.
type Uploaded struct {
	Name string // as the sender gave it

	r       *http.Request
	control *http.ResponseController
	begun   time.Time
	part    io.Reader
	most    int64
	read    int64
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
		return nil, carillon.BadFormat("Content-Type", carillon.Shorten(r.Header.Get("Content-Type")), "multipart/form-data",
			"multipart/form-data; boundary=x")
	case r.ContentLength > most+uploadSlack:
		return nil, fileTooLarge(st, r, most)
	}
	// The server's time-outs are for short requests.
	u := &Uploaded{r: r, control: http.NewResponseController(w), begun: time.Now(), most: most}
	if err := u.extend(); err != nil {
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
			u.Name, u.part = part.FileName(), part
			return u, nil
		}
	}
}

// extend sets the deadlines by what has come.
func (u *Uploaded) extend() error {
	end := u.begun.Add(uploadWithin + time.Duration(u.read)*time.Second/uploadPace)
	return errors.Join(u.control.SetReadDeadline(end), u.control.SetWriteDeadline(end.Add(10*time.Second)))
}

// Read implements io.Reader.
func (u *Uploaded) Read(p []byte) (int, error) {
	n, err := u.part.Read(p)
	before := u.read / extendEvery
	if u.read += int64(n); u.read > u.most {
		return 0, fileTooLarge(stateOf(u.r.Context()), u.r, u.most)
	}
	if u.read/extendEvery > before {
		if err := u.extend(); err != nil {
			return n, err
		}
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
