package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"

	"carillon"
	"carillon/internal/argon"
)

// Params are those of argon2id (RFC 9106).
type Params = argon.Params

// Sums computes password hashes: argon.Here in this process, argon.Child beside it.
type Sums interface {
	Sum(ctx context.Context, j argon.Job) ([]byte, error)
}

// defaultParams are the first of OWASP's recommendations.
func defaultParams() Params { return Params{Memory: 19 * 1024, Passes: 2, Threads: 1} }

const (
	saltSize = 16
	hashSize = 32
	// MaxPassword bounds a password, in bytes.
	MaxPassword = argon.MaxSecret
)

// hasher hashes passwords, a few at once: each takes memory and a core for tens of milliseconds, and everything else
// that the program does must go on beside them. Those that wait are bounded too.
type hasher struct {
	slots
	sums   Sums
	params Params
	dummy  string // what the password of an unknown user is compared with; no password has this hash
	hashed atomic.Int64
}

func newHasher(s Sums, p Params, most, line int) *hasher {
	salt, sum := make([]byte, saltSize), make([]byte, hashSize)
	_, _ = rand.Read(salt) // crypto/rand never fails: it ends the program instead
	_, _ = rand.Read(sum)
	return &hasher{sums: s, params: p, dummy: encode(p, salt, sum), slots: slots{most: most, line: line}}
}

func crowded(err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now", RetryAfter: 1, Err: err,
		Details: carillon.Details{{Key: "reason", Value: "Too many sign-ins are waiting"}},
	}
}

// make hashes a password with a new salt. The caller has entered.
func (h *hasher) make(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	sum, err := h.sum(ctx, password, salt, h.params, hashSize)
	if err != nil {
		return "", err
	}
	return encode(h.params, salt, sum), nil
}

func (h *hasher) sum(ctx context.Context, password string, salt []byte, p Params, size int) ([]byte, error) {
	h.hashed.Add(1)
	sum, err := h.sums.Sum(ctx, argon.Job{Params: p, Secret: []byte(password), Salt: salt, Size: size})
	if err != nil && ctx.Err() != nil {
		return nil, crowded(err) // who waits no longer hears nothing, and nothing is wrong
	}
	return sum, err
}

// check compares a password with a stored hash; stale says that the hash was made with other parameters than today's.
// The caller has entered.
func (h *hasher) check(ctx context.Context, password, stored string) (ok, stale bool, err error) {
	p, salt, want, err := decode(stored)
	if err != nil {
		return false, false, err
	}
	got, err := h.sum(ctx, password, salt, p, len(want))
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, p != h.params, nil
}

// encode writes the PHC string form.
func encode(p Params, salt, sum []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Passes, p.Threads,
		b64.EncodeToString(salt), b64.EncodeToString(sum))
}

var errHash = errors.New("a stored password hash cannot be read")

func decode(s string) (p Params, salt, sum []byte, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.Memory, &p.Passes, &p.Threads); err != nil {
		return p, nil, nil, errHash
	}
	salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return p, nil, nil, errHash
	}
	sum, err = base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return p, nil, nil, errHash
	}
	if p.Memory > argon.MaxMemory || p.Passes == 0 || p.Passes > argon.MaxPasses || p.Threads == 0 ||
		len(salt) < 8 || len(salt) > argon.MaxSalt || len(sum) < 16 || len(sum) > argon.MaxSum {
		return p, nil, nil, errHash
	}
	return p, salt, sum, nil
}

// HashPassword hashes a password for an account. Errors: validation_failed, service_unavailable.
func (a *Auth) HashPassword(ctx context.Context, password string) (string, error) {
	if len(password) > MaxPassword {
		return "", tooLong()
	}
	leave, err := a.hasher.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return a.hasher.make(ctx, password)
}

// KeepPassword gives stored back when it is the password's hash with today's parameters, else a new one: set-up that is
// applied again changes nothing.
func (a *Auth) KeepPassword(ctx context.Context, stored, password string) (string, error) {
	if stored == "" || len(password) > MaxPassword {
		return a.HashPassword(ctx, password)
	}
	leave, err := a.hasher.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	if ok, stale, err := a.hasher.check(ctx, password, stored); err == nil && ok && !stale {
		return stored, nil
	}
	return a.hasher.make(ctx, password)
}

func tooLong() *carillon.Error {
	return carillon.Invalid("password", fmt.Sprintf("At most %d bytes", MaxPassword))
}
