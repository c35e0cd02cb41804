package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"carillon/internal/account/limit"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestTokenVerifiesWithThePublishedKeysAlone(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	x := w.signIn(t)
	keys, err := w.PublicKeys(t.Context())
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	got := jwt.MapClaims{}
	token, err := jwt.ParseWithClaims(x.AccessToken, got, func(tok *jwt.Token) (any, error) {
		if tok.Header["kid"] != keys[0].KeyID {
			t.Errorf("kid %v, published %s", tok.Header["kid"], keys[0].KeyID)
		}
		return publicKey(t, keys[0]), nil
	}, jwt.WithValidMethods([]string{"ES256"}))
	if err != nil || !token.Valid {
		t.Fatal(err)
	}
	names := make([]string, 0, len(got))
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"aal", "amr", "app_metadata", "aud", "email", "exp", "iat", "is_anonymous", "iss", "phone", "role", "session_id", "sub",
		"user_metadata",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("claims (-want +got):\n%s", d)
	}
	for name, want := range map[string]any{
		"iss": "carillon", "aud": "authenticated", "role": "authenticated", "sub": w.owner.ID, "email": ownerEmail,
		"user_metadata": map[string]any{"email_verified": true, "name": "Owner"},
		"app_metadata":  map[string]any{"provider": "email", "providers": []any{"email"}},
	} {
		if d := cmp.Diff(want, got[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if exp, iat := got["exp"].(float64), got["iat"].(float64); exp-iat != 3600 || int64(exp) != x.ExpiresAt.Unix() {
		t.Errorf("exp %v, iat %v, expires_at %d", exp, iat, x.ExpiresAt.Unix())
	}
}

func publicKey(t *testing.T, k JWK) *ecdsa.PublicKey {
	t.Helper()
	point := []byte{4}
	for _, part := range []string{k.X, k.Y} {
		b, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		point = append(point, b...)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSigningKeysTurnOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		const day = 24 * time.Hour
		kid := func() string {
			k, err := w.keys.signer(t.Context(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return k.id
		}
		turn := func() int {
			if err := w.keys.rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(w.keys.all())
		}
		first := kid()
		if n := turn(); n != 1 {
			t.Fatalf("%d keys at first", n)
		}
		time.Sleep(89 * day) // fake time
		if n := turn(); n != 2 || kid() != first {
			t.Fatalf("on standby: %d keys, the first signs: %t", n, kid() == first)
		}
		if n := turn(); n != 2 {
			t.Fatalf("asked again: %d keys", n)
		}
		time.Sleep(day - time.Second)
		x := w.signIn(t)
		time.Sleep(time.Second)
		if kid() == first {
			t.Fatal("the first still signs after its time")
		}
		if n := turn(); n != 2 {
			t.Fatalf("verify only: %d keys", n)
		}
		if _, err := w.Caller(t.Context(), "Bearer "+x.AccessToken); err != nil {
			t.Errorf("a token of the key before: %v", err)
		}
		time.Sleep(time.Hour + dropMargin)
		if n := turn(); n != 1 || kid() == first {
			t.Errorf("at the end: %d keys", n)
		}
	})
}

func TestNodesAgreeOnSigningKeys(t *testing.T) {
	url := storetest.PatientPostgres(t)
	w := newWorld(t, store.Options{DatabaseURL: url}, Options{})
	nodes := []*Auth{w.Auth}
	for range 3 {
		nodes = append(nodes, New(w.store, limit.New(w.store.Rates, slog.New(slog.DiscardHandler)), Options{}))
	}
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			if err := n.keys.rotate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	keys, err := w.store.Keys.SigningKeys(t.Context())
	if err != nil || len(keys) != 1 {
		t.Errorf("%d keys after four nodes began at once, %v", len(keys), err)
	}
	x := w.signIn(t)
	for i, n := range nodes {
		if _, err := n.Caller(t.Context(), "Bearer "+x.AccessToken); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	}
}
