package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// CheckFolder creates the data folder if it is missing, and checks that the user of this process may write to it.
// Other problems, such as a full disk, show up when the database is opened. PostgreSQL needs no check.
func (c *Config) CheckFolder() error {
	if c.DatabaseURL != "" {
		return nil
	}
	err := checkFolder(c.Data)
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return nil
	}
	name := userName()
	return fmt.Errorf("the user %s cannot write in the data folder %s: name another folder with --data, run as its owner, "+
		"or give it to the user (chown -R %s %s): %w", name, c.Data, name, c.Data, err)
}

func checkFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	// A lock file that cannot be opened belongs to another user, who also owns the database. The database itself is
	// not opened here, because closing it would drop its locks.
	lock, err := os.OpenFile(filepath.Join(dir, "carillon.lock"), os.O_RDWR, 0) //nolint:gosec // the operator names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return lock.Close()
}

// userName returns the user of this process, or its numeric id if it has no name.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return strconv.Itoa(os.Getuid())
	}
	return u.Username
}
