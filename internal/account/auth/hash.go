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
	"golang.org/x/sync/semaphore"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store"
)

// Params are the cost parameters of an argon2id hash (RFC 9106).
type Params struct {
	Memory  uint32 // KiB
	Passes  uint32
	Threads uint8
}

// defaultParams are the first configuration that OWASP recommends.
func defaultParams() Params { return Params{Memory: 19 * 1024, Passes: 2, Threads: 1} }

// MaxPassword bounds a password, in bytes.
const MaxPassword = 1024

const (
	saltSize = 16
	hashSize = 32

	// Bounds of a stored hash. A more expensive one could exhaust the machine.
	maxMemory = 1 << 20 // KiB
	maxPasses = 64
	maxSalt   = 64 // bytes
	maxHash   = 64 // bytes
)

// hasher computes password hashes. Each hash occupies a processor for tens of milliseconds and allocates
// Params.Memory. So only a few run concurrently, the others wait in order of arrival, and the number of waiting ones
// is bounded (docs/adr/0016-password-hashes-in-process.md).
type hasher struct {
	params  Params
	dummy   string              // compared with the password of an unknown user; no password has this hash
	permits *semaphore.Weighted // for running hashes
	places  *share.Share        // for running and waiting hashes
	hashed  atomic.Int64
	work    atomic.Int64 // total work of all hashes
	level   atomic.Int64 // minimum work of every check: that of the most expensive hash, current or stored
}

func newHasher(p Params, running, waiting int, shares *share.Set) *hasher {
	salt, sum := make([]byte, saltSize), make([]byte, hashSize)
	_, _ = rand.Read(salt) // never fails: crypto/rand crashes the program instead
	_, _ = rand.Read(sum)
	h := &hasher{
		params: p, dummy: encode(p, salt, sum),
		permits: semaphore.NewWeighted(int64(running)), places: shares.Of(share.SignIns.Of(int64(running + waiting))),
	}
	h.raise(p)
	return h
}

// work returns the cost of a hash: the KiB that it fills.
func (p Params) work() int64 { return int64(p.Memory) * int64(p.Passes) }

// raise makes every check do at least the work of a hash with these parameters.
func (h *hasher) raise(p Params) {
	for {
		level := h.level.Load()
		if p.work() <= level || h.level.CompareAndSwap(level, p.work()) {
			return
		}
	}
}

// learn makes checks for unknown users do the work of the most expensive stored hash.
func (h *hasher) learn(ctx context.Context, s *store.Store) error {
	hashes, err := s.Accounts.PasswordHashes(ctx)
	for _, stored := range hashes {
		if p, _, _, err := decode(stored); err == nil {
			h.raise(p)
		}
	}
	return err
}

// acquire waits for a permit to compute hashes for a client's network. Errors: service_unavailable if too many callers
// are waiting or ctx ends; rate_limit_exceeded if too many callers from the client are waiting.
func (h *hasher) acquire(ctx context.Context, client string) (release func(), err error) {
	place, err := h.places.Take(share.Holder{Client: client})
	if err != nil {
		return nil, err
	}
	if err := h.permits.Acquire(ctx, 1); err != nil {
		place.Release()
		return nil, overloaded(err)
	}
	return func() { h.permits.Release(1); place.Release() }, nil
}

func overloaded(err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now", RetryAfter: 1, Err: err,
		Details: carillon.Details{{Key: "reason", Value: "Too many sign-ins are waiting"}},
	}
}

// hash hashes a password with a new salt. The caller holds a permit.
func (h *hasher) hash(password string) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	return encode(h.params, salt, h.sum(password, salt, h.params, hashSize))
}

func (h *hasher) sum(password string, salt []byte, p Params, size int) []byte {
	h.hashed.Add(1)
	h.work.Add(p.work())
	return argon2.IDKey([]byte(password), salt, p.Passes, p.Memory, p.Threads, uint32(size))
}

// check compares a password with a stored hash. stale reports that the hash was made with parameters other than the
// current ones. A refusal has the same cost for every stored hash, so that its duration does not reveal whether an
// account exists. The caller holds a permit.
func (h *hasher) check(password, stored string) (ok, stale bool, err error) {
	p, salt, want, err := decode(stored)
	if err != nil {
		return false, false, err
	}
	h.raise(p)
	got := h.sum(password, salt, p, len(want))
	if subtle.ConstantTimeCompare(got, want) == 1 {
		return true, p != h.params, nil
	}
	if rest, some := h.rest(p); some {
		h.sum(password, salt, rest, len(want))
	}
	return false, false, nil
}

// rest returns the parameters of the additional work that raises a check of a hash with p to the level. The work
// uses no more memory than a current hash.
func (h *hasher) rest(p Params) (rest Params, some bool) {
	lacking := h.level.Load() - p.work()
	memory := min(lacking, int64(h.params.Memory))
	if memory <= 0 {
		return Params{}, false
	}
	passes := (lacking + memory - 1) / memory
	return Params{Memory: uint32(lacking / passes), Passes: uint32(passes), Threads: h.params.Threads}, true
}

// encode returns the PHC string format.
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
	_, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.Memory, &p.Passes, &p.Threads)
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if errors.Join(err, saltErr, sumErr) != nil || p.Memory > maxMemory || p.Passes == 0 || p.Passes > maxPasses || p.Threads == 0 ||
		len(salt) < 8 || len(salt) > maxSalt || len(sum) < 16 || len(sum) > maxHash {
		return p, nil, nil, errHash
	}
	return p, salt, sum, nil
}

// PasswordHashes returns the number of password hashes computed since the start.
func (a *Auth) PasswordHashes() int64 { return a.hasher.hashed.Load() }

// HashPassword hashes a password for an account. Errors: validation_failed, service_unavailable.
func (a *Auth) HashPassword(ctx context.Context, password string) (string, error) {
	return a.KeepPassword(ctx, "", password)
}

// KeepPassword returns stored if it is the password's hash, else a new hash. So applying the same set-up twice changes
// nothing. Changed parameters are applied when the user signs in. Errors: those of HashPassword.
func (a *Auth) KeepPassword(ctx context.Context, stored, password string) (string, error) {
	if len(password) > MaxPassword {
		return "", tooLong()
	}
	release, err := a.hasher.acquire(ctx, "")
	if err != nil {
		return "", err
	}
	defer release()
	if stored != "" {
		if ok, _, err := a.hasher.check(password, stored); err == nil && ok {
			return stored, nil
		}
	}
	return a.hasher.hash(password), nil
}

func tooLong() *carillon.Error {
	return carillon.Invalid("password", fmt.Sprintf("At most %d bytes", MaxPassword))
}
