package sandbox

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// Recipient is a phone in the sandbox, as seen by one sender.
type Recipient struct {
	SenderUID int64
	Number    string // or the id of a person who hides the number
}

// UserID returns the sandbox's id of the person with a username. It is the same in every run.
func UserID(username string) string {
	digest := sha256.Sum256([]byte(strings.ToLower(username)))
	return "ZZ." + hex.EncodeToString(digest[:10])
}

const (
	reachEvery = time.Second
	writtenBy  = "phone."
)

// MessageID returns the channel's id of a message that a phone writes. client is the phone's own id of it.
func (*Channel) MessageID(address, client string) string { return writtenBy + address + "." + client }

// authorOf returns the number of the phone that wrote a message, or the person's id. It returns "" if no phone wrote
// it.
func authorOf(id string) string {
	text, ok := strings.CutPrefix(id, writtenBy)
	if !ok {
		return ""
	}
	parts := strings.SplitN(text, ".", 3)
	switch {
	case len(parts) > 1 && carillon.ValidNumber(parts[0]):
		return parts[0]
	case len(parts) > 2 && identity.ValidUser(parts[0]+"."+parts[1]):
		return parts[0] + "." + parts[1]
	}
	return ""
}

// MarkRead shows on the phone that a message that it wrote was read and, if typing is true, that a reply is being
// written.
func (c *Channel) MarkRead(ctx context.Context, s *carillon.Sender, id string, typing bool) error {
	author := authorOf(id)
	if author == "" || c.o.Marked == nil {
		return nil
	}
	until := time.Time{}
	if typing {
		until = time.Now().Add(provider.TypingFor)
	}
	return c.o.Marked(ctx, s, author, until)
}

// samples are the files that phones of the sandbox can send, by id.
var samples = map[string]sample{ //nolint:gochecknoglobals // read-only
	"photo":    {"photo.png", "image/png", photo},
	"voice":    {"voice.ogg", "audio/ogg", voice},
	"document": {"document.pdf", "application/pdf", document},
}

type sample struct {
	name, mime string
	content    []byte
}

var (
	//go:embed samples/photo.png
	photo []byte
	//go:embed samples/voice.ogg
	voice []byte
	//go:embed samples/document.pdf
	document []byte
)

// File returns a file that a phone sent. Errors: provider.ErrNoFile.
func (c *Channel) File(_ context.Context, _ *carillon.Sender, id string, most int64) (content []byte, mime string, err error) {
	f, ok := samples[id]
	if !ok || int64(len(f.content)) > most {
		return nil, "", provider.ErrNoFile
	}
	return f.content, f.mime, nil
}

// Person returns the identity of a person with a username who hides the number. All senders of a company share one
// portfolio.
func (*Channel) Person(s *carillon.Sender, username string) identity.Identity {
	return identity.Identity{Kind: identity.Person, Scope: s.Provider, Key: identity.User(UserID(username))}
}

// Sample returns a file that phones can send.
func (*Channel) Sample(id string) (f provider.InboundFile, ok bool) {
	x, ok := samples[id]
	return provider.InboundFile{ID: id, Type: x.mime, Name: x.name}, ok
}

// Refresh reads which phones are unreachable.
func (c *Channel) Refresh(ctx context.Context) error {
	all, err := c.o.Unreachable(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		c.away.Store(nil)
		return nil
	}
	away := make(map[Recipient]bool, len(all))
	for _, r := range all {
		away[r] = true
	}
	c.away.Store(&away)
	return nil
}

// followUnreachable calls Refresh periodically until ctx ends.
func (c *Channel) followUnreachable(ctx context.Context) {
	every := time.NewTicker(reachEvery)
	defer every.Stop()
	for {
		if err := c.Refresh(ctx); err != nil && ctx.Err() == nil {
			c.o.Logger.WarnContext(ctx, "read which phones are unreachable", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// reachable returns the due deliveries to reachable phones. The receipts of the others are postponed.
func (c *Channel) reachable(due []*delivery) []*delivery {
	away := c.away.Load()
	if away == nil {
		return due
	}
	now := time.Now()
	var there, later []*delivery
	for _, d := range due {
		if !(*away)[Recipient{d.senderUID, d.number}] {
			there = append(there, d)
			continue
		}
		d.accepted = d.accepted.Add(now.Sub(d.due()) + reachEvery)
		d.at = d.due()
		later = append(later, d)
	}
	c.pending.putBack(later)
	return there
}
