package auth

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pquerna/otp/totp"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// The SHA-1 test vectors of RFC 6238, appendix B. Authenticators show the last six of their eight digits.
func TestCodesAreThoseOfTheStandard(t *testing.T) {
	secret := []byte("12345678901234567890")
	for at, code := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037",
		20000000000: "65353130",
	} {
		now := time.Unix(at, 0)
		if step, ok := stepOf(secret, code[2:], now); !ok || step != at/30 {
			t.Errorf("%s at %d: period %d, %t", code[2:], at, step, ok)
		}
		for off, want := range map[time.Duration]bool{
			-30 * time.Second: true, 30 * time.Second: true, -61 * time.Second: false, 61 * time.Second: false,
		} {
			if _, ok := stepOf(secret, code[2:], now.Add(off)); at > 100 && ok != want {
				t.Errorf("the code of %d, %s off: %t", at, off, ok)
			}
		}
	}
	for _, code := range []string{"", "287082 ", "28708", "2870820", "94287082", "abcdef"} {
		if _, ok := stepOf(secret, code, time.Unix(59, 0)); ok {
			t.Errorf("%q passes", code)
		}
	}
}

// turnOn gives the owner a second factor, and returns its secret and the recovery codes.
func (w *world) turnOn(t *testing.T, c *Caller) (secret string, recovery []string) {
	t.Helper()
	p, err := NewFactors(w.Auth).Propose(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(p.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if recovery, err = NewFactors(w.Auth).Confirm(t.Context(), c, code); err != nil || len(recovery) != 10 {
		t.Fatal(recovery, err)
	}
	return p.Secret, recovery
}

func TestASecondFactorIsNeededOnceItIsConfirmed(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{FailedSignIns: -1})
		f, c := NewFactors(w.Auth), &Caller{Account: w.owner}
		p, err := f.Propose(t.Context(), c)
		if err != nil || !strings.HasPrefix(p.URI, "otpauth://totp/Carillon:owner@acme.test?secret="+p.Secret) || len(p.QR) < 21 ||
			len(p.QR) != len(p.QR[0]) {
			t.Fatalf("%+v, %v", p, err)
		}
		w.signIn(t) // no code is required yet
		if _, err := f.Confirm(t.Context(), c, "000000"); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Error(err)
		}
		_, recovery := w.turnOn(t, c)
		if _, err := f.Propose(t.Context(), c); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("a second one: %v", err)
		}

		with := func(code string) error {
			_, err := w.SignIn(t.Context(), Credentials{ownerEmail, ownerPassword, code}, "")
			return err
		}
		wantReason(t, with(""), "code_required")
		wantReason(t, with("000000"), "code_invalid")
		_, err = w.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: "wrong"}, "")
		wantReason(t, err, "invalid") // does not mention the code
		spaced := recovery[0][:4] + "-" + strings.ToUpper(recovery[0][4:8]) + " " + recovery[0][8:]
		if err := with(spaced); err != nil {
			t.Errorf("a recovery code as people write it: %v", err)
		}
		wantReason(t, with(recovery[0]), "code_invalid")
		if _, c, err := NewBrowsers(w.Auth).SignIn(t.Context(), Credentials{ownerEmail, ownerPassword, recovery[1]},
			Client{}); err != nil || c.Account.ID != w.owner.ID {
			t.Errorf("in a browser: %v", err)
		}
		if x, err := f.Of(t.Context(), w.owner.ID); err != nil || x.Recovery != 8 {
			t.Errorf("%+v, %v", x, err)
		}
		fresh, err := f.Recover(t.Context(), c)
		if err != nil || len(fresh) != 10 {
			t.Fatal(err)
		}
		wantReason(t, with(recovery[2]), "code_invalid")
		w.configure(t, func(ctx context.Context, tx *configure.Tx) error { return accounts.RemoveFactor(ctx, tx, w.owner.ID) })
		if err := with(""); err != nil {
			t.Errorf("without a second factor: %v", err)
		}
	})
}

func TestACodeIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{FailedSignIns: -1})
		secret, _ := w.turnOn(t, &Caller{Account: w.owner})
		code := func() string {
			code, err := totp.GenerateCode(secret, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return code
		}
		with := func(code string) error {
			_, err := w.SignIn(t.Context(), Credentials{ownerEmail, ownerPassword, code}, "")
			return err
		}
		wantReason(t, with(code()), "code_invalid") // already used to confirm the factor
		time.Sleep(30 * time.Second)                // fake time
		if err := with(code()); err != nil {
			t.Error(err)
		}
		wantReason(t, with(code()), "code_invalid")
		before := code()
		time.Sleep(60 * time.Second)
		if err := with(code()); err != nil {
			t.Error(err)
		}
		wantReason(t, with(before), "code_invalid")
	})
}

func TestWrongCodesAreFailedSignIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		_, recovery := w.turnOn(t, &Caller{Account: w.owner})
		for range 10 {
			_, err := w.SignIn(t.Context(), Credentials{ownerEmail, ownerPassword, "000000"}, "192.0.2.1")
			wantReason(t, err, "code_invalid")
		}
		if _, err := w.SignIn(t.Context(), Credentials{ownerEmail, ownerPassword, recovery[0]}, "192.0.2.2"); !carillon.IsCode(err,
			carillon.RateLimitExceeded) {
			t.Errorf("the eleventh: %v", err)
		}
		if err := NewFactors(w.Auth).Check(t.Context(), &Caller{Account: w.owner}, recovery[0]); !carillon.IsCode(err,
			carillon.RateLimitExceeded) {
			t.Errorf("of somebody who is signed in: %v", err)
		}
	})
}

func TestSomebodyVouchedForSignsIn(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		b, now := NewBrowsers(w.Auth), time.Now()
		in := func(issuer, subject, email string) *Caller {
			_, c, err := b.SignInVouched(t.Context(), Vouched{issuer, subject, email, "Vera"}, Client{})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		if c := in("https://id.test", "1", "stranger@acme.test"); c != nil {
			t.Errorf("a stranger is %+v", c.Account)
		}
		if c := in("https://id.test", "1", ""); c != nil {
			t.Error("without a verified e-mail")
		}
		if c := in("https://id.test", "1", strings.ToUpper(ownerEmail)); c == nil || c.Account.ID != w.owner.ID {
			t.Error("the first time, by the e-mail")
		}
		if c := in("https://id.test", "1", "moved@elsewhere.test"); c == nil || c.Account.ID != w.owner.ID {
			t.Error("from then on, by the subject")
		}
		if c := in("https://id.test", "2", ownerEmail); c != nil {
			t.Error("another subject with the e-mail took the account over")
		}
		if c := in("https://other.test", "1", ""); c != nil {
			t.Error("the subject of another server")
		}
		invitation := &accounts.Invitation{
			CompanyID: w.company.ID, Email: "vera@acme.test", Role: "teammate", InvitedBy: "Owner", CreatedAt: now,
			ExpiresAt: now.Add(time.Hour),
		}
		w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutInvitation(ctx, tx, invitation, "a-secret")
		})
		c := in("https://id.test", "3", "vera@acme.test")
		if c == nil || c.Account.Name != "Vera" {
			t.Fatal("somebody who is invited")
		}
		m, err := accounts.Memberships(t.Context(), w.store.DB, c.Account.ID)
		if err != nil || len(m) != 1 || m[0].Role != "teammate" {
			t.Error(m, err)
		}
		if left, err := w.store.Links.InvitationBy(t.Context(), "a-secret"); left != nil || err != nil {
			t.Error("the invitation is still open", err)
		}
	})
}
