package relay

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// sealed is the number of bytes by which a message is longer than its payload.
const sealed = chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead

var errForged = errors.New("not a message of this installation")

// seal encrypts messages, each for its subject.
type seal struct {
	aead   cipher.AEAD
	prefix string // of all subjects
}

func newSeal(key []byte) (*seal, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(key)
	return &seal{aead: aead, prefix: "carillon." + hex.EncodeToString(id[:8])}, nil
}

// subject returns the subject of a company's topic. Each part of the topic is a token.
func (s *seal) subject(companyID, topic string) string {
	var b strings.Builder
	b.WriteString(s.prefix)
	for part := range strings.SplitSeq(companyID+"/"+topic, "/") {
		b.WriteByte('.')
		b.WriteString(token(part))
	}
	return b.String()
}

// token returns a text as a token of a subject. Texts that could not be tokens are encoded, so two texts have never the
// same token.
func token(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	if text != "" && !strings.ContainsFunc(text, func(c rune) bool { return !plain(c) }) {
		return text
	}
	return "~" + base64.RawURLEncoding.EncodeToString([]byte(text))
}

func (s *seal) seal(subject string, payload []byte) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSizeX, len(payload)+sealed)
	_, _ = rand.Read(nonce) // it never fails
	return s.aead.Seal(nonce, nonce, payload, []byte(subject))
}

// open returns the payload of a message that a node sealed for the subject.
func (s *seal) open(subject string, message []byte) ([]byte, error) {
	if len(message) < sealed || len(message) > maxMessage {
		return nil, errForged
	}
	nonce, text := message[:chacha20poly1305.NonceSizeX], message[chacha20poly1305.NonceSizeX:]
	payload, err := s.aead.Open(nil, nonce, text, []byte(subject))
	if err != nil {
		return nil, errForged
	}
	return payload, nil
}

func checkCA(text []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return errors.New("it has no certificate in PEM")
	}
	return nil
}
