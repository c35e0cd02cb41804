// Package link makes and reads the tokens of counted links. A token names a button of a message: it is the block that
// AES makes of the message's key and the button's place, so there is no table of tokens, and nobody else can make one.
// Package notify resolves the token (Notify.Visited); what it leads to is in the message's request.
package link

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"

	"carillon"
)

// Button is a button of a message that was sent.
type Button struct {
	Message carillon.MessageKey
	Card    int // of a carousel; -1 for the template itself
	Index   int
}

// Codec makes and reads tokens. It is safe for concurrent use.
type Codec struct{ block cipher.Block }

// New returns a codec with a key of 32 bytes.
func New(key []byte) (*Codec, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return &Codec{block}, nil
}

// The plain block: the message's key, the card plus one, the button, and zeros, which a forged token does not have.
const (
	cardAt   = 8
	buttonAt = 9
	zerosAt  = 10
)

// Length is the number of characters of a token.
const Length = 22

// Token returns the token of a button, in letters, digits, - and _.
func (c *Codec) Token(b Button) string {
	var x [aes.BlockSize]byte
	binary.BigEndian.PutUint64(x[:], uint64(b.Message)) //nolint:gosec // also a negative key
	x[cardAt], x[buttonAt] = byte(b.Card+1), byte(b.Index)
	c.block.Encrypt(x[:], x[:])
	return base64.RawURLEncoding.EncodeToString(x[:])
}

// Read returns the button of a token. ok is false for any other text.
func (c *Codec) Read(token string) (b Button, ok bool) {
	if len(token) != Length {
		return Button{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != aes.BlockSize {
		return Button{}, false
	}
	c.block.Decrypt(raw, raw)
	for _, zero := range raw[zerosAt:] {
		if zero != 0 {
			return Button{}, false
		}
	}
	key := carillon.MessageKey(binary.BigEndian.Uint64(raw)) //nolint:gosec // as Token writes it
	return Button{key, int(raw[cardAt]) - 1, int(raw[buttonAt])}, true
}

// Keys are the keys of companies' links. A token does not contain its company, so the companies that were created in one
// installation have the same key, also after they have moved.
type Keys interface {
	LinkKey(ctx context.Context, companyID string) ([]byte, error)
	// MovedLinkKeys returns the keys of companies that were created in other installations.
	MovedLinkKeys(ctx context.Context) ([][]byte, error)
}

// Codecs makes and reads the tokens of all companies. It is safe for concurrent use.
type Codecs struct {
	keys Keys
	key  []byte // of the installation
	own  *Codec
}

// NewCodecs returns the codecs of an installation with its own key.
func NewCodecs(keys Keys, key []byte) (*Codecs, error) {
	own, err := New(key)
	return &Codecs{keys, key, own}, err
}

// Of returns the codec of a company.
func (c *Codecs) Of(ctx context.Context, companyID string) (*Codec, error) {
	key, err := c.keys.LinkKey(ctx, companyID)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(key, c.key):
		return c.own, nil
	}
	return New(key)
}

// Read returns the button of a token that one of the codecs made. ok is false for any other text. The caller checks that
// it is the codec of the message's company.
func (c *Codecs) Read(ctx context.Context, token string) (b Button, ok bool, err error) {
	if b, ok = c.own.Read(token); ok {
		return b, true, nil
	}
	moved, err := c.keys.MovedLinkKeys(ctx)
	if err != nil {
		return b, false, err
	}
	for _, key := range moved {
		codec, err := New(key)
		if err != nil {
			return b, false, err
		}
		if b, ok = codec.Read(token); ok {
			return b, true, nil
		}
	}
	return b, false, nil
}
