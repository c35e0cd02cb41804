package company

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/configure"
)

// fileKey is the key of a file: the plain key of the company, which seals its secrets, with a key that derives from it.
type fileKey struct {
	plain  []byte
	sealer *configure.Sealer
}

// errKey means that a key is not the one of a file.
var errKey = errors.New("the key is not the one that was written with the file")

func newFileKey(plain []byte) (k fileKey, err error) {
	derived, err := hkdf.Key(sha256.New, plain, nil, "carillon file of a company", sha256.Size)
	if err == nil {
		k.plain = plain
		k.sealer, err = configure.NewSealer([sha256.Size]byte(derived))
	}
	return k, err
}

func (k fileKey) seal(row string, plain []byte) string { return k.sealer.Seal(row, plain) }

func (k fileKey) open(row, sealed string) ([]byte, error) {
	plain, err := k.sealer.Open(row, sealed)
	if err != nil {
		return nil, errKey
	}
	return plain, nil
}

func checkRow(companyID string) string { return "company/" + companyID + "/check" }

// text returns the content of the key's file.
func (k fileKey) text() string { return string(k.plain) + "\n" }

// maxKey bounds the length of a key's file.
const maxKey = 64 << 10

func readKey(name string) (k fileKey, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the operator chose the path
	if err != nil {
		return k, fmt.Errorf("read the key: %w", err)
	}
	if len(text) > maxKey {
		return k, errKey
	}
	return newFileKey([]byte(strings.TrimSpace(string(text))))
}

// sealAnew seals the values of a company with its own key alone, and returns the key.
func (m *Mover) sealAnew(ctx context.Context, id string) (k fileKey, err error) {
	var plain []byte
	err = m.store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		if _, err := find(ctx, tx, id); err != nil {
			return err
		}
		if err := store.Reseal(ctx, tx, id, time.Now()); err != nil {
			return err
		}
		plain, err = configure.ExportKey(ctx, tx, id)
		return err
	})
	if err != nil {
		return k, fmt.Errorf("seal the company's secrets with its own key: %w", err)
	}
	return newFileKey(plain)
}
