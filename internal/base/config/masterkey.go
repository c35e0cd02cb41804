package config

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MasterKey reads the key that encrypts stored secrets: 32 bytes, raw or base64 (docs/reference/signing-in.md).
// Without --master-key-file it is created in the data folder, readable by its owner only, and read from there later.
// It is not created next to an existing database: a new key would replace a lost one but could not decrypt its
// secrets.
func (c *Config) MasterKey() ([32]byte, error) {
	if c.MasterKeyFile != "" {
		return readMasterKey(c.MasterKeyFile)
	}
	if c.DatabaseURL != "" {
		return [32]byte{}, errors.New("--master-key-file: is required with --database-url")
	}
	name := filepath.Join(c.Data, "master.key")
	key, err := readMasterKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, err := os.Stat(filepath.Join(c.Data, "carillon.db")); err == nil {
		return [32]byte{}, fmt.Errorf("master key: %s is missing and the database next to it was set up with a key: "+
			"put that one back, or name it with --master-key-file", name)
	}
	if err := makeMasterKey(c.Data, name); err != nil {
		return [32]byte{}, fmt.Errorf("make the master key: %w", err)
	}
	return readMasterKey(name)
}

// MasterKeyOpen reports whether other users of the machine can read the master key's file.
func (c *Config) MasterKeyOpen() bool {
	name := c.MasterKeyFile
	if name == "" {
		name = filepath.Join(c.Data, "master.key")
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().Perm()&0o007 != 0
}

func readMasterKey(name string) (key [32]byte, err error) {
	raw, err := readLimited(name, maxSecretFile)
	if err != nil {
		return key, fmt.Errorf("master key: %w", err)
	}
	if len(raw) == len(key) {
		return [32]byte(raw), nil // a raw key may end with a newline byte
	}
	for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if plain, err := form.DecodeString(strings.TrimSpace(string(raw))); err == nil && len(plain) == len(key) {
			return [32]byte(plain), nil
		}
	}
	return key, fmt.Errorf("master key: the file %s does not hold 32 bytes, raw or base64", name)
}

// makeMasterKey links the complete file into place, so that neither a crash nor a second process leaves half a key or
// replaces one in use.
func makeMasterKey(dir, name string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".master-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(raw) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
