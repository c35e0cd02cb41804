package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"carillon"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// A second factor is an authenticator with codes according to RFC 6238, with the parameters that every app supports:
// SHA-1, 6 digits, 30 s.
const (
	factorPeriod  = 30 // seconds
	factorSkew    = 1  // allowed clock skew, in periods in either direction
	factorSecret  = 20 // bytes
	recoveryCodes = 10
)

// Reasons of refused codes.
const (
	reasonCodeRequired = "code_required"
	reasonCodeInvalid  = "code_invalid"
)

var base32Secret = base32.StdEncoding.WithPadding(base32.NoPadding) //nolint:gochecknoglobals // read-only

// Factors manages the second factors of accounts.
type Factors struct{ auth *Auth }

// NewFactors returns the Factors of an Auth.
func NewFactors(a *Auth) Factors { return Factors{a} }

// Proposal is a new secret for an authenticator: as text, as a URI for apps, and as the QR code of the URI, one string
// of 0 and 1 per row.
type Proposal struct {
	Secret string   `json:"secret"`
	URI    string   `json:"uri"`
	QR     []string `json:"qr"`
}

// Of returns the second factor of an account, or nil if it has no confirmed one.
func (f Factors) Of(ctx context.Context, accountID string) (*accounts.Factor, error) {
	x, err := f.auth.store.Factors.Factor(ctx, accountID)
	if err != nil || x == nil || x.ConfirmedAt.IsZero() {
		return nil, err
	}
	return x, nil
}

// Propose creates a secret, which becomes valid when Confirm gets a code of it. Errors: conflict if a second factor is
// already in use.
func (f Factors) Propose(ctx context.Context, c *Caller) (*Proposal, error) {
	secret := make([]byte, factorSecret)
	_, _ = rand.Read(secret) // never fails: crypto/rand crashes the program instead
	text := base32Secret.EncodeToString(secret)
	p := &Proposal{Secret: text, URI: "otpauth://totp/Carillon:" + escapeLabel(c.Account.Email) + "?secret=" + text + "&issuer=Carillon"}
	code, err := qr.Encode(p.URI, qr.M, qr.Auto)
	if err != nil {
		return nil, carillon.Invalid("email", "Is too long for a QR code")
	}
	for y := range code.Bounds().Dy() {
		var line strings.Builder
		for x := range code.Bounds().Dx() {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				line.WriteByte('1')
			} else {
				line.WriteByte('0')
			}
		}
		p.QR = append(p.QR, line.String())
	}
	return p, f.auth.store.Factors.ProposeFactor(ctx, c.Account.ID, secret, time.Now())
}

// escapeLabel escapes characters with a special meaning in the URI of an authenticator.
func escapeLabel(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "?", "%3F", "#", "%23", "/", "%2F", ":", "%3A", "&", "%26", "+", "%2B").Replace(s)
}

// Confirm checks a code of the proposed secret, activates the second factor and returns the recovery codes, which are
// shown only this once. Errors: validation_failed for a wrong code, conflict if nothing is proposed,
// rate_limit_exceeded.
func (f Factors) Confirm(ctx context.Context, c *Caller, code string) (recovery []string, err error) {
	x, err := f.auth.store.Factors.Factor(ctx, c.Account.ID)
	if err != nil {
		return nil, err
	}
	if x == nil || !x.ConfirmedAt.IsZero() {
		return nil, carillon.InConflict("No second factor is being set up")
	}
	tried := f.tries(c)
	if err := tried.room(ctx); err != nil {
		return nil, err
	}
	now := time.Now()
	step, ok := stepOf(x.Secret, tidy(code), now)
	if ok {
		recovery = newRecovery()
		if ok, err = f.auth.store.Factors.ConfirmFactor(ctx, c.Account.ID, step, recovery, now); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, tried.refuse(ctx)
	}
	return recovery, nil
}

// Check checks a code of the caller's second factor. Errors: validation_failed, conflict if there is none,
// rate_limit_exceeded.
func (f Factors) Check(ctx context.Context, c *Caller, code string) error {
	x, err := f.Of(ctx, c.Account.ID)
	if err != nil {
		return err
	}
	if x == nil {
		return carillon.InConflict("No second factor is in use")
	}
	tried := f.tries(c)
	if err := tried.room(ctx); err != nil {
		return err
	}
	ok, err := f.take(ctx, x, code)
	if err == nil && !ok {
		err = tried.refuse(ctx)
	}
	return err
}

// Recover replaces the recovery codes.
func (f Factors) Recover(ctx context.Context, c *Caller) ([]string, error) {
	codes := newRecovery()
	return codes, f.auth.store.Factors.ReplaceRecovery(ctx, c.Account.ID, codes)
}

// tries counts wrong codes as failed sign-ins with the caller's e-mail.
func (f Factors) tries(c *Caller) failures {
	return failures{f.auth.limits, f.auth.o.FailedSignIns, []string{emailRate + configure.Digest(c.Account.Email)}}
}

// refuse counts a wrong code of a signed-in caller and returns the error.
func (f failures) refuse(ctx context.Context) error {
	if err := f.count(ctx); !carillon.IsCode(err, carillon.Unauthorized) {
		return err
	}
	return carillon.Invalid("code", "Is not a valid code, or was used before")
}

// atSignIn checks the code of an account that signs in with the right password, if it has a second factor. A wrong
// code counts as a failed sign-in.
func (f Factors) atSignIn(ctx context.Context, accountID, code string, rates []string) error {
	x, err := f.Of(ctx, accountID)
	if err != nil || x == nil {
		return err
	}
	if strings.TrimSpace(code) == "" {
		return carillon.NoAccess("A code of the second factor is required", reasonCodeRequired)
	}
	ok, err := f.take(ctx, x, code)
	if err != nil || ok {
		return err
	}
	if err := (failures{f.auth.limits, f.auth.o.FailedSignIns, rates}).count(ctx); !carillon.IsCode(err, carillon.Unauthorized) {
		return err
	}
	return carillon.NoAccess("The code is not valid, or was used before", reasonCodeInvalid)
}

// take uses up a code of the authenticator or a recovery code, each of which is valid once. It reports whether the
// code was valid.
func (f Factors) take(ctx context.Context, x *accounts.Factor, code string) (bool, error) {
	code = tidy(code)
	if step, ok := stepOf(x.Secret, code, time.Now()); ok {
		return f.auth.store.Factors.SpendStep(ctx, x.AccountID, step)
	}
	if len(code) != recoveryLength {
		return false, nil
	}
	return f.auth.store.Factors.SpendRecovery(ctx, x.AccountID, code)
}

// stepOf returns the period that the code belongs to, near now.
func stepOf(secret []byte, code string, now time.Time) (step int64, ok bool) {
	text := base32Secret.EncodeToString(secret)
	for d := int64(-factorSkew); d <= factorSkew; d++ {
		at := now.Unix()/factorPeriod + d
		want, err := hotp.GenerateCodeCustom(text, uint64(max(0, at)),
			hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}

// tidy removes spaces and dashes from a code.
func tidy(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
}

const recoveryLength = 16

// newRecovery returns recovery codes of 80 random bits, in lower case.
func newRecovery() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		b := make([]byte, recoveryLength*5/8)
		_, _ = rand.Read(b)
		codes[i] = strings.ToLower(base32Secret.EncodeToString(b))
	}
	return codes
}
