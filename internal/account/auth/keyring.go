package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
)

// A signing key's state is derived from its times, so that nodes agree without communication:
//
//	standby ──SignsAt──▶ signing ──the next key's SignsAt──▶ verify only ──a token's life and a margin later──▶ removed
//
// A standby key is published a day before it signs, so that caches of the key set contain it by then.
const (
	rotateAfter = 90 * 24 * time.Hour // age at which a key is replaced
	standbyLead = 24 * time.Hour
	dropMargin  = time.Hour
	// reloadEvery bounds how often a token with an unknown key id causes a reload of the keys.
	reloadEvery = 5 * time.Second
)

const algorithm = "ES256"

type signingKey struct {
	id      string
	private *ecdsa.PrivateKey
	signsAt time.Time
}

// keyring caches the signing keys, in the order in which they sign, and rotates them.
type keyring struct {
	store *store.Store

	keys atomic.Pointer[[]signingKey]
	mu   sync.Mutex // held while loading
	at   time.Time  // time of the last load
}

func (r *keyring) all() []signingKey {
	if p := r.keys.Load(); p != nil {
		return *p
	}
	return nil
}

// signing returns the newest key that may already sign, or the oldest key if this node's clock is behind all of them.
func (r *keyring) signing(now time.Time) (k signingKey, ok bool) {
	for i, each := range r.all() {
		if i == 0 || !each.signsAt.After(now) {
			k, ok = each, true
		}
	}
	return k, ok
}

func (r *keyring) find(id string) (signingKey, bool) {
	for _, k := range r.all() {
		if k.id == id {
			return k, true
		}
	}
	return signingKey{}, false
}

// signer returns the key to sign with. It generates the first one if there is none.
func (r *keyring) signer(ctx context.Context, now time.Time) (signingKey, error) {
	if k, ok := r.signing(now); ok {
		return k, nil
	}
	if err := r.rotate(ctx); err != nil {
		return signingKey{}, err
	}
	if k, ok := r.signing(now); ok {
		return k, nil
	}
	return signingKey{}, errors.New("no signing key could be generated")
}

// verifier returns the public key with an id. If this node does not know it, it reads the keys again.
func (r *keyring) verifier(ctx context.Context, id string) (*ecdsa.PublicKey, error) {
	if k, ok := r.find(id); ok {
		return &k.private.PublicKey, nil
	}
	if err := r.load(ctx, reloadEvery); err != nil {
		return nil, err
	}
	if k, ok := r.find(id); ok {
		return &k.private.PublicKey, nil
	}
	return nil, errUnknownKey
}

var errUnknownKey = errors.New("no key has this id")

// load reads the keys unless they were read less than maxAge ago.
func (r *keyring) load(ctx context.Context, maxAge time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.at) < maxAge {
		return nil
	}
	stored, err := r.store.Keys.SigningKeys(ctx)
	if err != nil {
		return err
	}
	keys := make([]signingKey, 0, len(stored))
	for _, k := range stored {
		private, err := x509.ParsePKCS8PrivateKey(k.Private)
		if err != nil {
			return fmt.Errorf("read signing key %s: %w", k.ID, err)
		}
		ec, ok := private.(*ecdsa.PrivateKey)
		if !ok || ec.Curve != elliptic.P256() {
			return fmt.Errorf("signing key %s is not for %s", k.ID, algorithm)
		}
		keys = append(keys, signingKey{k.ID, ec, k.SignsAt})
	}
	r.keys.Store(&keys)
	r.at = now
	return nil
}

// rotate reads the keys, generates the first or the next one if it is due, and removes those whose tokens have
// expired.
func (r *keyring) rotate(ctx context.Context) error {
	if err := r.load(ctx, 0); err != nil {
		return err
	}
	now := time.Now()
	keys := r.all()
	switch {
	case len(keys) == 0:
		if err := r.add(ctx, now, now, time.Time{}); err != nil {
			return err
		}
	case !now.Before(keys[len(keys)-1].signsAt.Add(rotateAfter - standbyLead)):
		if err := r.add(ctx, now, now.Add(standbyLead), keys[len(keys)-1].signsAt); err != nil {
			return err
		}
	}
	for i := range keys[:max(0, len(keys)-1)] {
		if !now.Before(keys[i+1].signsAt.Add(tokenLife + dropMargin)) {
			if err := r.store.Keys.DropSigningKey(ctx, keys[i].id); err != nil {
				return err
			}
		}
	}
	return r.load(ctx, 0)
}

func (r *keyring) add(ctx context.Context, now, signsAt, last time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("generate signing key: %w", err)
	}
	return r.store.Keys.AddSigningKey(ctx, accounts.SigningKey{
		ID: carillon.NewID(now), Alg: algorithm, Private: der, CreatedAt: now, SignsAt: signsAt,
	}, last)
}

// JWK is a public key in the format of RFC 7517.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
}

// public returns the keys that verify tokens, including the standby key.
func (r *keyring) public(ctx context.Context) ([]JWK, error) {
	if _, err := r.signer(ctx, time.Now()); err != nil {
		return nil, err
	}
	keys := r.all()
	all := make([]JWK, 0, len(keys))
	for _, k := range keys {
		point, err := k.private.PublicKey.Bytes() // 4, x, y (SEC 1, section 2.3.3)
		if err != nil {
			return nil, fmt.Errorf("write public key %s: %w", k.id, err)
		}
		half := (len(point) - 1) / 2
		all = append(all, JWK{
			KeyType: "EC", Curve: "P-256", Use: "sig", Algorithm: algorithm, KeyID: k.id,
			X: base64.RawURLEncoding.EncodeToString(point[1 : 1+half]), Y: base64.RawURLEncoding.EncodeToString(point[1+half:]),
		})
	}
	return all, nil
}
