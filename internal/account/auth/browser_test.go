package auth

import (
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/store"
)

func TestABrowsersSessionEndsThirtyDaysAfterItsUseAndNinetyAfterItsBegin(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		used []time.Duration // times since the sign-in at which it is valid
		over time.Duration   // time at which it is no longer valid
	}{
		"never used":           {nil, 30 * day},
		"used once":            {[]time.Duration{day}, 31 * day},
		"used again and again": {[]time.Duration{29 * day, 58 * day, 87 * day, 90*day - time.Second}, 90 * day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, store.Options{}, Options{})
				b := NewBrowsers(w.Auth)
				owner := Credentials{Email: ownerEmail, Password: ownerPassword}
				secret, _, err := b.SignIn(t.Context(), owner, Client{Address: "192.0.2.1"})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				for _, at := range c.used {
					time.Sleep(time.Until(begun.Add(at))) // fake time
					if _, err := b.Caller(t.Context(), secret); err != nil {
						t.Fatalf("after %s: %v", at, err)
					}
				}
				time.Sleep(time.Until(begun.Add(c.over)))
				_, err = b.Caller(t.Context(), secret)
				wantReason(t, err, "expired")
			})
		})
	}
}
