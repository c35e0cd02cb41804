package files

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/chats"
)

const (
	// Path is the URL path of files; their ID and a signature follow.
	Path = "/functions/v1/files"
	// signedFor is the minimum validity of an address, longer than the session of a chat. The validity ends on a full
	// hour: the address then stays the same for a while, so browsers can cache the file.
	signedFor = 2 * time.Hour
)

// Signed returns the description with an address at which anyone can load the file for a few hours. base is the origin
// of the address.
func (f *Files) Signed(x *chats.File, base string, now time.Time) *chats.File {
	if x == nil {
		return nil
	}
	signed := *x
	signed.URL = f.address(x.ID, base, now.Add(signedFor+time.Hour).Truncate(time.Hour))
	return &signed
}

// address returns a signed address of a file that expires at the given time.
func (f *Files) address(id, base string, until time.Time) string {
	expires := strconv.FormatInt(until.Unix(), 10)
	return base + Path + "/" + id + "?" + url.Values{"expires": {expires}, "signature": {f.signature(id, expires)}}.Encode()
}

// SignedMedia returns the description of a media file with an address that is valid as long as the file is kept.
func (f *Files) SignedMedia(x *chats.File, base string, kept time.Time) (signed *chats.File, until time.Time) {
	until = kept.Add(MediaFor).Truncate(time.Second).UTC()
	with := *x
	with.URL = f.address(x.ID, base, until)
	return &with, until
}

func (f *Files) signature(id, expires string) string {
	mac := hmac.New(sha256.New, f.o.Key)
	mac.Write([]byte(id + "\n" + expires)) // neither contains a line break
	return hex.EncodeToString(mac.Sum(nil))
}

// AtAddress returns the file at a signed address. Errors: forbidden, not_found.
func (f *Files) AtAddress(ctx context.Context, id, expires, signature string) (*chats.StoredFile, error) {
	if !carillon.ValidUUID(id) || !hmac.Equal([]byte(signature), []byte(f.signature(id, expires))) {
		return nil, carillon.Denied("The address of the file is not a signed one")
	}
	end, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || time.Now().Unix() >= end {
		return nil, carillon.Denied("The address of the file has expired")
	}
	x, err := f.store.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	suspended, err := f.o.Suspended(ctx, x.CompanyID)
	switch {
	case err != nil:
		return nil, err
	case suspended:
		return nil, carillon.Denied("The company is suspended")
	}
	return x, nil
}

// Find returns the description of a stored file. Errors: not_found.
func (f *Files) Find(ctx context.Context, id string) (*chats.StoredFile, error) {
	return f.store.Find(ctx, id)
}

// Open returns the content of a stored file, for one request.
func (f *Files) Open(ctx context.Context, x *chats.StoredFile) io.ReadSeeker {
	return &reader{ctx: ctx, store: f.store, file: x}
}

// IsPicture reports whether a media type is that of a picture that browsers may show.
func IsPicture(media string) bool {
	k := kindOf(media)
	return k != nil && k.picture
}

// ContentType returns the media type of a file with its encoding.
func ContentType(media string) string {
	if media == text.media {
		return media + "; charset=utf-8"
	}
	return media
}

// reader reads a stored file. It holds one part in memory.
type reader struct {
	ctx   context.Context //nolint:containedctx // the reader lives as long as the request
	store *chats.Files
	file  *chats.StoredFile
	at    int64
	part  int
	bytes []byte // bytes of the part; nil if not loaded
}

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.file.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a file")
	}
	r.at = offset
	return offset, nil
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.file.Size {
		return 0, io.EOF
	}
	part, from := int(r.at/chats.FilePartSize), int(r.at%chats.FilePartSize)
	if r.bytes == nil || r.part != part {
		bytes, err := r.store.Part(r.ctx, r.file.ID, part)
		if err != nil {
			return 0, err
		}
		r.part, r.bytes = part, bytes
	}
	if from >= len(r.bytes) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, r.bytes[from:])
	r.at += int64(n)
	return n, nil
}
