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
)

// Sealer encrypts with AES-256-GCM and a random nonce; the row is additional data, so that a ciphertext cannot be
// moved to another row.
type Sealer struct {
	aead   cipher.AEAD
	kid    string
	master [32]byte
}

// New returns a sealer with a master key.
func NewSealer(master [32]byte) (*Sealer, error) {
	block, err := aes.NewCipher(master[:])
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	sum := sha256.Sum256(append([]byte("carillon master key id:"), master[:]...))
	return &Sealer{aead: aead, kid: hex.EncodeToString(sum[:4]), master: master}, nil
}

// Derive returns a 32-byte key for one purpose, which reveals nothing about the master key (HKDF, RFC 5869).
func (s *Sealer) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, s.master[:], nil, "carillon "+purpose, 32)
}

// Seal returns `v1:<key id>:<base64 of nonce and ciphertext>`.
func (s *Sealer) Seal(row string, plain []byte) string {
	sealed := s.aead.Seal(nil, nil, plain, []byte(row)) //nolint:gosec // it makes its own nonce
	return "v1:" + s.kid + ":" + base64.RawStdEncoding.EncodeToString(sealed)
}

var errSealed = errors.New("the master key does not open what is stored: it is not the key this database was set up with")

// Open returns the plaintext that was sealed for the same row.
func (s *Sealer) Open(row, sealed string) ([]byte, error) {
	parts := strings.SplitN(sealed, ":", 3)
	if len(parts) != 3 || parts[0] != "v1" || parts[1] != s.kid {
		return nil, errSealed
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, errSealed
	}
	plain, err := s.aead.Open(nil, nil, raw, []byte(row))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

// Digest is the SHA-256 by which a secret is found without storing it in clear text.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
