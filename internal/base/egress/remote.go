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

// pieceSize is the number of bytes of a video per request.
const pieceSize = 64 << 10

// maxOpens bounds the requests for one file.
const maxOpens = 16

// errScattered means that a server sends a file in pieces that are too small, or that the file's structure demands too
// many requests.
var errScattered = errors.New("file comes in too many pieces")

// maxFetched bounds the bytes read of one file, for servers that do not support ranges or do not send the size. It
// exceeds the limit of an image. A longer video or document of unknown size is left to the channel's own check.
const maxFetched = 8 << 20

// errFetched means that maxFetched bytes were read.
var errFetched = errors.New("enough of the file has been read")

// remote is a file at an address, read in ranges. A server that does not support ranges sends it from the beginning
// each time.
type remote struct {
	ctx   context.Context //nolint:containedctx // lives for one Check and is its context; io.ReaderAt takes none
	c     *Client
	url   string
	piece int64 // bytes per request
	limit int64 // maximum size of the file

	size  int64  // size of the complete file; -1 if unknown
	kind  string // its Content-Type
	from  int64  // offset of the piece in memory
	held  []byte
	opens int
	whole bool  // the server does not support ranges
	read  int64 // bytes, over all requests
}

// metered counts the bytes read from a body toward the file's total.
type metered struct {
	io.ReadCloser
	file *remote
}

func (c metered) Read(p []byte) (int, error) {
	left := maxFetched - c.file.read
	if left == 0 {
		return 0, errFetched
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), left)])
	c.file.read += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (r *remote) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		offset := at + int64(n)
		if offset < r.from || offset >= r.from+int64(len(r.held)) {
			if err := r.fetch(offset); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], r.held[offset-r.from:])
	}
	return n, nil
}

// fetch reads the piece that begins at an offset. It returns io.EOF beyond the end of the file.
func (r *remote) fetch(from int64) error {
	if r.size >= 0 && from >= r.size || from > r.limit {
		return io.EOF
	}
	body, err := r.open(from, r.piece)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	held, err := io.ReadAll(io.LimitReader(body, r.piece))
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	if len(held) == 0 {
		return io.EOF
	}
	r.from, r.held = from, held
	return nil
}

// fits reports whether the file is within the limit. If the server does not send the size, it reads on. It returns
// true if that would take too long.
func (r *remote) fits() (bool, error) {
	if r.size >= 0 {
		return r.size <= r.limit, nil
	}
	from := r.from + int64(len(r.held))
	for from <= r.limit {
		body, err := r.open(from, r.limit+1-from)
		if errors.Is(err, io.EOF) || errors.Is(err, errFetched) {
			break
		}
		if err != nil {
			return false, err
		}
		n, err := io.Copy(io.Discard, io.LimitReader(body, r.limit+1-from))
		_ = body.Close()
		if err != nil && !errors.Is(err, errFetched) {
			return false, err
		}
		if from += n; err != nil || n == 0 || r.whole || r.size >= 0 {
			break
		}
	}
	return max(from, r.size) <= r.limit, nil //nolint:nilerr // errFetched only ends the loop
}

// open requests n bytes of the file and returns a body that begins with them.
func (r *remote) open(from, n int64) (io.ReadCloser, error) {
	if r.opens++; r.opens > maxOpens {
		return nil, errScattered
	}
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, &MediaError{Reason: "the address cannot be read"}
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	resp, err := r.c.Do(req)
	if err != nil {
		return nil, judge(err)
	}
	resp.Body = metered{resp.Body, r}
	if err := r.accept(resp, from); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

func (r *remote) accept(resp *http.Response, from int64) error {
	r.kind = resp.Header.Get("Content-Type")
	switch resp.StatusCode {
	case http.StatusOK:
		r.size, r.whole = resp.ContentLength, true
		_, err := io.CopyN(io.Discard, resp.Body, from)
		return err
	case http.StatusPartialContent:
		start, size, ok := parseContentRange(resp.Header.Get("Content-Range"))
		if !ok || start != from {
			return errors.New("the response is not the requested range")
		}
		r.size = size
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		if from > 0 || strings.HasSuffix(resp.Header.Get("Content-Range"), "/0") {
			return io.EOF
		}
	}
	return statusError(resp.StatusCode)
}

// parseContentRange reads the start and the file's size of `bytes 0-511/12345`; the size is -1 for `*` (RFC 9110,
// section 14.4).
func parseContentRange(s string) (start, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, total, _ := strings.Cut(s, "/")
	from, _, _ := strings.Cut(span, "-")
	start, err := strconv.ParseInt(from, 10, 64)
	if total == "*" {
		return start, -1, ok && err == nil
	}
	size, err2 := strconv.ParseInt(total, 10, 64)
	return start, size, ok && err == nil && err2 == nil && start < size
}
