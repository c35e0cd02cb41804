//go:build unix

package db

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LockFolder takes the data folder for this process. The kernel gives the lock back when the process ends, however it
// ends, so that a restart never waits.
func LockFolder(dir string) (*os.File, error) {
	name := filepath.Join(dir, "carillon.lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid, _ := os.ReadFile(name) //nolint:gosec // the same file
		_ = f.Close()
		return nil, fmt.Errorf("the data folder %s %w by another carillon (process %s): on SQLite one process owns "+
			"the folder; stop it, choose another --data, or use PostgreSQL for several nodes", dir, ErrFolderInUse, strings.TrimSpace(string(pid)))
	}
	if err := f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
	}
	return f, nil
}
