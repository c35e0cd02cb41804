package files

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
)

const (
	// Path is the URL path of files; their ID and a signature follow.
	Path = "/functions/v1/files"
	// signedFor is the minimum validity of an address, longer than the session of a chat. The validity ends on a full
	// hour: the address then stays the same for a while, so browsers can cache the file.
	signedFor = 2 * time.Hour
)

// Signed returns the description of a company's file with an address at which anyone can load it for a few hours. base
// is the origin of the address.
func (f *Files) Signed(ctx context.Context, companyID string, x *chats.File, base string, now time.Time) (*chats.File, error) {
	if x == nil {
		return nil, nil
	}
	signed := *x
	var err error
	signed.URL, err = f.address(ctx, companyID, x.ID, base, now.Add(signedFor+time.Hour).Truncate(time.Hour))
	return &signed, err
}

// address returns a signed address of a file that expires at the given time.
func (f *Files) address(ctx context.Context, companyID, id, base string, until time.Time) (string, error) {
	keys, err := f.o.Keys(ctx, companyID, configure.FileAddresses)
	if err != nil {
		return "", fmt.Errorf("sign the address of a file: %w", err)
	}
	expires := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{"expires": {expires}, "signature": {signature(keys.Key, id, expires)}}
	return base + Path + "/" + id + "?" + query.Encode(), nil
}

// SignedMedia returns the description of a company's media file with an address that is valid as long as the file is
// kept.
func (f *Files) SignedMedia(
	ctx context.Context, companyID string, x *chats.File, base string, kept time.Time,
) (signed *chats.File, until time.Time, err error) {
	until = kept.Add(MediaFor).Truncate(time.Second).UTC()
	with := *x
	with.URL, err = f.address(ctx, companyID, x.ID, base, until)
	return &with, until, err
}

func signature(key []byte, id, expires string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "\n" + expires)) // neither contains a line break
	return hex.EncodeToString(mac.Sum(nil))
}

func unsigned() error {
	return carillon.Denied("The address of the file is not a signed one, or the file is gone")
}

// AtAddress returns the file at a signed address. Its company's key signed it, or before the company had a key, that of
// the installation. Errors: forbidden.
func (f *Files) AtAddress(ctx context.Context, id, expires, signed string) (*chats.StoredFile, error) {
	end, err := strconv.ParseInt(expires, 10, 64)
	if !carillon.ValidUUID(id) || err != nil || len(signed) != hex.EncodedLen(sha256.Size) {
		return nil, unsigned()
	}
	x, err := f.store.Find(ctx, id)
	switch {
	case carillon.IsCode(err, carillon.NotFound): // the signature cannot be checked, and files are not to be guessed
		return nil, unsigned()
	case err != nil:
		return nil, err
	}
	keys, err := f.o.Keys(ctx, x.CompanyID, configure.FileAddresses)
	if err != nil {
		return nil, fmt.Errorf("check the address of a file: %w", err)
	}
	if !hmac.Equal([]byte(signed), []byte(signature(keys.Key, id, expires))) &&
		(keys.Former == nil || !hmac.Equal([]byte(signed), []byte(signature(keys.Former, id, expires)))) {
		return nil, unsigned()
	}
	if time.Now().Unix() >= end {
		return nil, carillon.Denied("The address of the file has expired")
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
