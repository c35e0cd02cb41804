package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// chunk is how much of a file is requested at once; a skip within it is read and discarded.
const chunk = 64 << 10

// maxOpens bounds how often a file is opened again after what was skipped.
const maxOpens = 16

// errScattered means that a server sends a file in too small pieces, or that its structure demands too many requests.
var errScattered = errors.New("file comes in too many pieces")

// remote is a file at an address, read forward in ranges, or in one go where the server knows no ranges.
type remote struct {
	ctx   context.Context //nolint:containedctx // lives for one Check, whose context it is; io.Reader takes none
	c     *Client
	url   string
	want  int64 // bytes of the next range
	most  error // the error for a file past limit
	limit int64 // bytes of the file that are read at most

	size  int64 // of the whole file; -1: unknown
	kind  string
	body  io.ReadCloser
	whole bool  // the server sends the file in one go
	at    int64 // of the next byte
	until int64 // end of the range
	opens int
}

// open asks for the range that begins at r.at.
func (r *remote) open() error {
	if r.opens++; r.opens > maxOpens {
		return errScattered
	}
	r.close()
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return &MediaError{Reason: "the address cannot be read"}
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", r.at, r.at+r.want-1))
	resp, err := r.c.Do(req) //nolint:bodyclose // r.close closes it
	if err != nil {
		return judge(err)
	}
	r.body = resp.Body
	return r.accept(resp)
}

func (r *remote) accept(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		if r.at > 0 {
			return errors.New("the server no longer supports ranges")
		}
		r.whole, r.size, r.until = true, resp.ContentLength, 0
	case http.StatusPartialContent:
		start, end, size, ok := parseContentRange(resp.Header.Get("Content-Range"))
		if !ok || start != r.at {
			return errors.New("the response is not the requested range")
		}
		r.size, r.until = size, end+1
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, ok := strings.Cut(resp.Header.Get("Content-Range"), "/"); ok && total == "0" {
			return &MediaError{Reason: "the file is empty"}
		}
		return statusError(resp.StatusCode)
	default:
		return statusError(resp.StatusCode)
	}
	if r.opens == 1 {
		r.kind = resp.Header.Get("Content-Type")
	}
	return nil
}

// Read implements io.Reader over ranges.
func (r *remote) Read(p []byte) (int, error) {
	if r.at > r.limit {
		return 0, r.most
	}
	if !r.whole && r.at == r.until {
		if r.size >= 0 && r.at >= r.size {
			return 0, io.EOF
		}
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	if !r.whole {
		p = p[:min(int64(len(p)), r.until-r.at)]
	}
	n, err := r.body.Read(p)
	r.at += int64(n)
	return n, r.readError(n, err)
}

// readError distinguishes the end of the file, the end of a range and a broken connection.
func (r *remote) readError(n int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) && r.whole:
		return io.EOF
	case errors.Is(err, io.EOF) && r.at == r.until && n > 0:
		return nil // the next read opens the next range
	case errors.Is(err, io.EOF):
		return fmt.Errorf("read file: range cut short: %w", io.ErrUnexpectedEOF)
	default:
		return fmt.Errorf("read file: %w", err)
	}
}

// Skip skips n bytes, without fetching them where the server supports ranges.
func (r *remote) Skip(n int64) error {
	end := r.size
	if end < 0 {
		end = r.limit
	}
	if n > end-r.at {
		return io.EOF
	}
	if !r.whole && n > r.until-r.at {
		r.at += n
		r.until = r.at // so that the next read opens there
		return nil
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// drain reads on, when the size is unknown, to check that the file ends within the limit.
func (r *remote) drain() error {
	if r.size >= 0 {
		return nil
	}
	r.want = r.limit + 1 - r.at
	_, err := io.Copy(io.Discard, r)
	return err
}

func (r *remote) close() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}

// parseContentRange reads `bytes 0-511/12345`; the size is -1 for `*` (RFC 9110, section 14.4).
func parseContentRange(s string) (start, end, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	if !ok {
		return 0, 0, 0, false
	}
	span, total, _ := strings.Cut(s, "/")
	from, to, _ := strings.Cut(span, "-")
	start, err1 := strconv.ParseInt(from, 10, 64)
	end, err2 := strconv.ParseInt(to, 10, 64)
	size = -1
	var err3 error
	if total != "*" {
		size, err3 = strconv.ParseInt(total, 10, 64)
	}
	ok = err1 == nil && err2 == nil && err3 == nil && start >= 0 && start <= end && (size == -1 || end < size)
	return start, end, size, ok && end < 1<<62
}
