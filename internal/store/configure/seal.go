package configure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon/internal/base/cache"
)

// Sealer encrypts with AES-256-GCM and a random nonce; the row is additional data, so that a ciphertext cannot be
// moved to another row.
type Sealer struct {
	aead   cipher.AEAD
	kid    string
	master [32]byte
	keys   *cache.Cache[*key] // opened keys of companies, by their sealed form
}

// maxKeys bounds the opened keys of companies, and keysTimeout their loading, which needs no database.
const (
	maxKeys     = 10_000
	keysTimeout = time.Second
)

// NewSealer returns a sealer with a master key.
func NewSealer(master [32]byte) (*Sealer, error) {
	aead, err := newAEAD(master[:])
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	sum := sha256.Sum256(append([]byte("carillon master key id:"), master[:]...))
	return &Sealer{
		aead: aead, kid: hex.EncodeToString(sum[:4]), master: master, keys: cache.New[*key](maxKeys, keysTimeout),
	}, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Derive returns a 32-byte key for one purpose, which reveals nothing about the master key (HKDF, RFC 5869).
func (s *Sealer) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, s.master[:], nil, "carillon "+purpose, 32)
}

// Seal returns `v1:<key id>:<base64 of nonce and ciphertext>`.
func (s *Sealer) Seal(row string, plain []byte) string {
	return seal(s.aead, "v1:"+s.kid+":", row, plain)
}

func seal(aead cipher.AEAD, prefix, row string, plain []byte) string {
	sealed := aead.Seal(nil, nil, plain, []byte(row)) //nolint:gosec // it makes its own nonce
	return prefix + base64.RawStdEncoding.EncodeToString(sealed)
}

var (
	errSealed = errors.New("the master key does not open what is stored: it is not the key this database was set up with")
	errKey    = errors.New("the company's key does not open what is stored: it belongs to another company, or was replaced")
)

// Open returns the plaintext that was sealed for the same row.
func (s *Sealer) Open(row, sealed string) ([]byte, error) {
	plain, ok := open(s.aead, "v1:"+s.kid+":", row, sealed)
	if !ok {
		return nil, errSealed
	}
	return plain, nil
}

func open(aead cipher.AEAD, prefix, row, sealed string) ([]byte, bool) {
	text, ok := strings.CutPrefix(sealed, prefix)
	if !ok {
		return nil, false
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	plain, err := aead.Open(nil, nil, raw, []byte(row))
	return plain, err == nil
}

// Digest is the SHA-256 by which a secret is found without storing it in clear text.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
