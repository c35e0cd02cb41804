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
	// uploadWithin is the base timeout of an upload's body. Each uploadPace received bytes extend it by a second: a
	// slow connection gets enough time, and a stalled body does not hold resources for long.
	uploadWithin = 2 * time.Minute
	uploadPace   = 32 << 10
	extendEvery  = 1 << 20
	// uploadSlack is the number of bytes allowed in a multipart body in addition to its file.
	uploadSlack = 64 << 10
)

// Uploaded is a file in a multipart body. It can be read once. Read fails with payload_too_large if the file exceeds
// the limit.
type Uploaded struct {
	Name string // as given by the client

	r       *http.Request
	control *http.ResponseController
	begun   time.Time
	part    io.Reader
	most    int64
	read    int64
}

// Upload returns the file in the part named field of a multipart body, limited to most bytes. The route's MaxBody must
// not be smaller. Errors: validation_failed, payload_too_large.
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
	// The server's timeouts are for short requests.
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

// extend moves the deadlines according to the bytes received.
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

// Leave reads the rest of a refused file's body, up to a limit, so that the client sees the response.
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
