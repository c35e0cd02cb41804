// Package argon computes argon2id (RFC 9106): in this process, or in a child of it that the kernel lets run when nobody
// else has anything to do (docs/adr/0016-hashes-beside.md). How hashes are stored, and whose they are, is no matter here.
//
//	Child.Sum ──▶ standard input ──▶ Serve ──▶ standard output ──▶ the sum
//	   └── the child is late, died twice or cannot be started ──▶ in this process, one at a time
package argon

import (
	"context"
	"errors"

	"golang.org/x/crypto/argon2"
)

// Params say what a hash costs.
type Params struct {
	Memory  uint32 // KiB
	Passes  uint32
	Threads uint8
}

// Bounds of a job. A stored hash that asks for more cannot exhaust the machine.
const (
	MaxSecret = 1024 // bytes
	MaxSalt   = 64   // bytes
	MaxSum    = 64   // bytes
	MaxMemory = 1 << 20
	MaxPasses = 64
)

// Job is a hash to be computed.
type Job struct {
	Params

	Secret, Salt []byte
	Size         int // of the sum, in bytes
}

var errJob = errors.New("a password hash is asked for beyond its bounds")

// check refuses what lies beyond the bounds, and what argon2 would panic at.
func (j *Job) check() error {
	if len(j.Secret) > MaxSecret || len(j.Salt) > MaxSalt || j.Size < 4 || j.Size > MaxSum ||
		j.Memory > MaxMemory || j.Passes == 0 || j.Passes > MaxPasses || j.Threads == 0 {
		return errJob
	}
	return nil
}

func (j *Job) sum() []byte {
	return argon2.IDKey(j.Secret, j.Salt, j.Passes, j.Memory, j.Threads, uint32(j.Size))
}

// Here computes in this process.
type Here struct{}

// Sum computes, whatever becomes of ctx meanwhile: a hash cannot be interrupted.
func (Here) Sum(ctx context.Context, j Job) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	return j.sum(), nil
}
