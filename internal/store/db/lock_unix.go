//go:build unix

package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// FolderLock is this process's lock on a data folder.
type FolderLock struct{ folder, file *os.File }

// Close releases the folder.
func (l *FolderLock) Close() error { return errors.Join(l.file.Close(), l.folder.Close()) }

// LockFolder locks the data folder for this process. The kernel releases the lock when the process ends in any way, so
// a restart never waits. It locks the folder, which cannot be deleted while the database exists, and the file with the
// process id inside it, for file systems that lock files only.
func LockFolder(dir string) (*FolderLock, error) {
	name := filepath.Join(dir, "carillon.lock")
	folder, err := lockAt(dir, os.O_RDONLY)
	if err != nil {
		return nil, lockFailure(dir, name, err)
	}
	file, err := lockAt(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		_ = folder.Close()
		return nil, lockFailure(dir, name, err)
	}
	l := &FolderLock{folder, file}
	if err = file.Truncate(0); err == nil {
		_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return l, nil
}

// lockAttempts bounds the retries of a lock whose file had just been deleted.
const lockAttempts = 10

// lockAt locks the current file of a name. A lock on a deleted file would exclude nobody.
func lockAt(name string, flag int) (*os.File, error) {
	for range lockAttempts {
		f, err := os.OpenFile(name, flag, 0o600) //nolint:gosec // the operator chose the folder
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if flag == os.O_RDONLY && (errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.ENOTSUP)) {
			err = nil // NFS has no locks on folders
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if current, err := stillAt(name, f); current || err != nil {
			return f, err
		}
		_ = f.Close()
	}
	return nil, fmt.Errorf("%s is being replaced", name)
}

func stillAt(name string, f *os.File) (bool, error) {
	locked, err := f.Stat()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(locked, there), nil
}

func lockFailure(dir, name string, err error) error {
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	by := ""
	if pid, _ := os.ReadFile(name); len(pid) > 0 { //nolint:gosec // in the operator's folder
		by = " (process " + strings.TrimSpace(string(pid)) + ")"
	}
	return fmt.Errorf("the data folder %s %w by another carillon%s: on SQLite one process owns "+
		"the folder; stop it, choose another --data, or use PostgreSQL for several nodes", dir, ErrFolderInUse, by)
}
