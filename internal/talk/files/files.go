package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
)

const (
	// MaxBody bounds request bodies on the routes that take files; the files themselves have the bound in Options.
	MaxBody = 256 << 20

	defaultLimit    = 10 << 20
	defaultCompany  = 5 << 30
	perConversation = 200 // files
	unusedFor       = 24 * time.Hour
)

// Options configure Files.
type Options struct {
	Most    int64 // bytes of a file; default 10 MiB
	Company int64 // bytes of a company's files; default 5 GiB
	// Keys returns a company's keys, which sign addresses. Required.
	Keys func(ctx context.Context, companyID, purpose string) (configure.Derived, error)
	// Suspended reports whether a company is suspended; its files are then not served. Required.
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Shares    *share.Set // nil: a new set
}

// Files receives and serves files. New builds it.
type Files struct {
	store *chats.Files
	o     Options
	slots *share.Share
}

// New builds Files.
func New(s *chats.Files, o Options) *Files {
	o.Most, o.Company = cmp.Or(o.Most, defaultLimit), cmp.Or(o.Company, defaultCompany)
	return &Files{store: s, o: o, slots: o.Shares.Of(share.FileUploads)}
}

// Most returns the maximum size of a file in bytes.
func (f *Files) Most() int64 { return f.o.Most }

// From identifies the sender of a file and its conversation.
type From struct {
	CompanyID      string
	ConversationID string
	SentBy         string // the contact, the account or the access key
	Client         string // network of the client's address
	Visitor        bool   // the public: visitors may use only a part of the company's storage
}

// intake is the policy for a received file: retention, maximum size per kind, and the message for refused files.
type intake struct {
	refused string
	keep    time.Duration // retention unless Keep is called
	bytes   func(k *kind) int64
}

func (f *Files) talk() intake {
	return intake{keep: unusedFor, bytes: func(k *kind) int64 {
		if !slices.Contains(kinds, k) {
			return 0
		}
		return f.o.Most
	}, refused: "Must be a picture (PNG, JPEG, GIF, WebP), a PDF, a text, or an office document without macros, by its content"}
}

// Put stores a file from a messaging channel as part of its conversation. It accepts any kind that is not executable.
// Errors: validation_failed, limit_exceeded, not_found without the conversation.
func (f *Files) Put(ctx context.Context, from From, name string, in io.Reader) (*chats.File, error) {
	takes := f.talk()
	takes.bytes = func(*kind) int64 { return f.o.Most }
	x, err := f.keep(ctx, in, name, from, takes)
	if err != nil {
		return nil, err
	}
	return f.Keep(ctx, from, x.ID)
}

// MediaFor is the retention of media for notifications.
const MediaFor = 30 * 24 * time.Hour

func media() intake {
	return intake{keep: MediaFor, bytes: func(k *kind) int64 { return mediaBytes[k] }, refused: "Must be, by its content, a picture " +
		"(PNG, JPEG, GIF) of at most 5 MB, a film (MP4) of at most 16 MB, or a document (PDF, DOCX, XLSX, PPTX) of at most 100 MB"}
}

// Admit reserves a place for an upload. Errors: rate_limit_exceeded and service_unavailable if there are too many at
// the same time.
func (f *Files) Admit(from From) (*share.Place, error) {
	holder := share.Holder{Company: from.CompanyID, Visitor: from.Visitor, Client: from.Client, Session: from.SentBy}
	if from.ConversationID == "" {
		holder.Session = "" // many people may share an access key
	}
	return f.slots.Take(holder)
}

// Receive stores a file while reading it. The file expires unless Keep is called. Errors: validation_failed,
// limit_exceeded, not_found without the conversation; those of the reader.
func (f *Files) Receive(ctx context.Context, in io.Reader, name string, from From) (*chats.File, error) {
	return f.receive(ctx, in, name, from, f.talk())
}

// ReceiveMedia stores a file for headers of notifications like Receive, for MediaFor.
func (f *Files) ReceiveMedia(ctx context.Context, in io.Reader, name string, from From) (*chats.File, error) {
	return f.receive(ctx, in, name, from, media())
}

func (f *Files) receive(ctx context.Context, in io.Reader, name string, from From, takes intake) (*chats.File, error) {
	kept, err := f.keep(ctx, in, name, from, takes)
	if err != nil {
		return nil, err
	}
	return view(kept), nil
}

func view(x *chats.StoredFile) *chats.File {
	return &chats.File{ID: x.ID, Name: x.Name, Type: x.Type, Size: x.Size}
}

// keep stores a file while it arrives. It deletes the file if its content turns out to be of a kind that is not
// accepted.
func (f *Files) keep(ctx context.Context, in io.Reader, name string, from From, takes intake) (*chats.StoredFile, error) {
	now := time.Now().UTC()
	a := arriving{intake: takes, in: in, buf: make([]byte, chats.FilePartSize), sum: sha256.New()}
	first, err := a.next()
	if err != nil {
		return nil, err
	}
	x := &chats.StoredFile{
		ID: carillon.NewID(now), CompanyID: from.CompanyID, ConversationID: from.ConversationID, SentBy: from.SentBy, Size: a.size,
		CreatedAt: now, ExpiresAt: now.Add(takes.keep),
	}
	room := chats.FileRoom{Company: f.o.Company, Conversation: perConversation}
	if from.Visitor {
		room.Company = room.Company / 4 * 3
	}
	if a.whole {
		if err := a.describe(x, name); err != nil {
			return nil, err
		}
		return x, f.store.Begin(ctx, x, first, true, room)
	}
	if err := f.store.Begin(ctx, x, first, false, room); err != nil {
		return nil, err
	}
	if err := f.rest(ctx, &a, x, name, room); err != nil {
		return nil, errors.Join(err, f.store.Drop(context.WithoutCancel(ctx), x.ID))
	}
	return x, nil
}

func (f *Files) rest(ctx context.Context, a *arriving, x *chats.StoredFile, given string, room chats.FileRoom) error {
	for part := 1; !a.whole; part++ {
		bytes, err := a.next()
		if err != nil {
			return err
		}
		if len(bytes) == 0 {
			break
		}
		if err := f.store.Append(ctx, x.ID, part, bytes); err != nil {
			return err
		}
	}
	if err := a.describe(x, given); err != nil {
		return err
	}
	return f.store.Finish(ctx, x, room)
}

// Keep returns a file that its sender refers to in a turn of its conversation, and retains it as long as the
// conversation. Errors: validation_failed.
func (f *Files) Keep(ctx context.Context, from From, id string) (*chats.File, error) {
	unknown := carillon.Invalid("file", "Must be the id of a file that was sent to this conversation")
	if !carillon.ValidUUID(id) {
		return nil, unknown
	}
	x, err := f.store.Keep(ctx, from.CompanyID, from.ConversationID, from.SentBy, strings.ToLower(id))
	if carillon.IsCode(err, carillon.NotFound) {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	return view(x), nil
}

// arriving is a file being received.
type arriving struct {
	intake
	in      io.Reader
	buf     []byte
	sum     hash.Hash
	sniffer sniffer
	size    int64
	whole   bool // the last part has arrived
}

// next reads a part, which is valid until the next call. Errors: those of the reader, validation_failed.
func (a *arriving) next() ([]byte, error) {
	n := 0
	for n < len(a.buf) && !a.whole {
		read, err := a.in.Read(a.buf[n:])
		n += read
		if a.whole = errors.Is(err, io.EOF); err != nil && !a.whole {
			return nil, err
		}
	}
	a.size += int64(n)
	_, _ = a.sum.Write(a.buf[:n]) // a hash never fails
	_, _ = a.sniffer.Write(a.buf[:n])
	if k, sure := a.sniffer.sofar(); sure && (k == nil || a.size > a.bytes(k)) {
		return nil, carillon.Invalid("file", a.refused)
	}
	return a.buf[:n], nil
}

// describe completes the description of a file after its last part.
func (a *arriving) describe(x *chats.StoredFile, given string) error {
	k := a.sniffer.kind()
	if k == nil || a.size > a.bytes(k) {
		return carillon.Invalid("file", a.refused)
	}
	x.Type, x.Name, x.Size, x.SHA256 = k.media, safeName(given, k), a.size, hex.EncodeToString(a.sum.Sum(nil))
	return nil
}
