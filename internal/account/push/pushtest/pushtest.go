// Package pushtest is a strict stand-in for a browser with its push service: it checks the signature of every message (RFC 8292)
// and decrypts it (RFC 8291).
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"carillon/internal/base/egress"
)

// Received is a message that arrived.
type Received struct {
	Path    string
	Text    map[string]string // the decrypted JSON
	TTL     int
	Topic   string
	Subject string // of the signature
}

// Service is a push service with its browsers.
type Service struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	key      string // the public key that signs
	private  *ecdh.PrivateKey
	secret   []byte
	received []Received
	status   int
}

// New starts a push service that accepts messages signed with the key set by SetKey.
func New(t *testing.T) *Service {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{t: t, private: private, secret: make([]byte, 16), status: http.StatusCreated}
	_, _ = rand.Read(s.secret) // it cannot fail
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Client returns options of a client that reaches the service.
func (s *Service) Egress() egress.Options {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots}
}

// Keys returns the browser's public key and secret, base64url.
func (s *Service) Keys() (p256dh, auth string) {
	e := base64.RawURLEncoding
	return e.EncodeToString(s.private.PublicKey().Bytes()), e.EncodeToString(s.secret)
}

// SetKey sets the key with which browsers subscribed; a message with another signature is refused.
func (s *Service) SetKey(public string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = public
}

// Respond sets the status of the responses from now on.
func (s *Service) Respond(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Received returns what arrived so far.
func (s *Service) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received{}, s.received...)
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.read(r)
	if err != nil {
		s.t.Errorf("a push message to %s: %v", r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.status/100 == 2 {
		s.received = append(s.received, x)
	}
	w.WriteHeader(s.status)
}

func (s *Service) read(r *http.Request) (x Received, err error) {
	x.Path, x.Topic = r.URL.Path, r.Header.Get("Topic")
	if r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("Urgency") != "high" {
		return x, fmt.Errorf("it is a %s with %v", r.Method, r.Header)
	}
	if x.TTL, err = strconv.Atoi(r.Header.Get("TTL")); err != nil || x.TTL < 1 {
		return x, fmt.Errorf("the TTL is %q", r.Header.Get("TTL"))
	}
	if len(x.Topic) > 32 || strings.ContainsAny(x.Topic, "+/= ") {
		return x, fmt.Errorf("the topic is %q", x.Topic)
	}
	if x.Subject, err = s.signed(r.Header.Get("Authorization")); err != nil {
		return x, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 4097))
	if err != nil || len(body) > 4096 {
		return x, fmt.Errorf("the body has %d bytes: %w", len(body), err)
	}
	plain, err := s.decrypt(body)
	if err != nil {
		return x, err
	}
	return x, json.Unmarshal(plain, &x.Text)
}

// signed checks the signature and returns its subject.
func (s *Service) signed(authorization string) (string, error) {
	rest, ok := strings.CutPrefix(authorization, "vapid ")
	token, key, found := strings.Cut(rest, ", k=")
	token, isToken := strings.CutPrefix(token, "t=")
	if !ok || !found || !isToken || key != s.key {
		return "", fmt.Errorf("the signature is of %q, not of %q", key, s.key)
	}
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(raw) != 65 || raw[0] != 4 {
		return "", errors.New("the key is no point")
	}
	public := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(raw[1:33]), Y: new(big.Int).SetBytes(raw[33:])}
	var claims jwt.RegisteredClaims
	if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(s.URL), jwt.WithExpirationRequired()); err != nil {
		return "", err
	}
	if time.Until(claims.ExpiresAt.Time) > 24*time.Hour {
		return "", errors.New("the signature holds for more than a day")
	}
	if !strings.HasPrefix(claims.Subject, "mailto:") && !strings.HasPrefix(claims.Subject, "https://") {
		return "", fmt.Errorf("the subject is %q", claims.Subject)
	}
	return claims.Subject, nil
}

// decrypt reads the only record of a body (RFC 8188).
func (s *Service) decrypt(body []byte) ([]byte, error) {
	if len(body) < 21+65+17 || body[20] != 65 {
		return nil, errors.New("the header of the body is wrong")
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if int(size) < len(record) || len(body) > 4096 {
		return nil, errors.New("there is more than one record")
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := s.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(s.private.PublicKey().Bytes()) + string(sender)
	secret, err := hkdf.Key(sha256.New, shared, s.secret, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	sealed, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := sealed.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00"))
	if len(plain) == 0 || plain[len(plain)-1] != 2 {
		return nil, errors.New("the record is not the last")
	}
	return plain[:len(plain)-1], nil
}
