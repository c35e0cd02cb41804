package company

import (
	"context"
	"errors"
	"time"
)

// One command at a time changes the companies of an installation: a second import would remove the rows of the first. On SQLite
// one program runs all commands; on PostgreSQL each process that runs one holds a lock of the database.

// aloneKey is the key of the advisory lock of commands.
const aloneKey = 0x6361_726d

// maxBusy bounds the wait for an earlier command: a killed one ends when its connection is noticed to be closed.
const maxBusy = 30 * time.Second

// errElsewhere means that another command runs.
var errElsewhere = errors.New("another command about companies is running: wait until it has ended")

// alone waits for other commands and keeps later ones out until release.
func (m *Mover) alone(ctx context.Context, wait time.Duration) (release func(), err error) {
	try, release, done := m.tryHere, m.commands.Unlock, func() {}
	if !m.store.DB.SQLite() {
		c, err := m.store.DB.Connect(ctx)
		if err != nil {
			return nil, err
		}
		done = func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
			defer cancel()
			_ = c.Close(ctx) // which frees the lock
		}
		release = done
		try = func(ctx context.Context) (ok bool, err error) {
			err = c.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", aloneKey).Scan(&ok)
			return ok, err
		}
	}
	for end := time.Now().Add(wait); ; {
		ok, err := try(ctx)
		if ok {
			return release, nil
		}
		if err == nil && time.Now().After(end) {
			err = errElsewhere
		}
		if err == nil {
			err = sleep(ctx, lookEvery)
		}
		if err != nil {
			done()
			return nil, err
		}
	}
}

func (m *Mover) tryHere(context.Context) (bool, error) { return m.commands.TryLock(), nil }
