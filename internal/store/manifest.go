package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Manifest describes a backup. It is stored in a file next to it.
type Manifest struct {
	Format    int       `json:"format"`
	Program   string    `json:"program"` // version of the program that wrote it
	Engine    string    `json:"engine"`
	Schema    int64     `json:"schema"`
	TakenAt   time.Time `json:"taken_at"` // everything accepted before is included
	Bytes     int64     `json:"bytes"`
	SHA256    string    `json:"sha256"`
	MasterKey string    `json:"master_key"` // name of the master key, which is not included
	Counts    Counts    `json:"counts"`
}

// Counts are the numbers of rows in a backup.
type Counts struct {
	Companies     int64 `json:"companies"`
	Notifications int64 `json:"notifications"`
	Open          int64 `json:"open_notifications"`
	Messages      int64 `json:"messages"`
	Calls         int64 `json:"calls"`
}

const manifestFormat = 1

// ManifestFile returns the name of a backup's manifest.
func ManifestFile(backup string) string { return backup + ".json" }

// Inspect verifies the structure and tables of a copy without writers. It returns the manifest without program and
// time.
func Inspect(ctx context.Context, file string) (m Manifest, err error) {
	m = Manifest{Format: manifestFormat, Engine: "sqlite"}
	if m.SHA256, m.Bytes, err = DigestFile(ctx, file); err != nil {
		return m, fmt.Errorf("read the backup: %w", err)
	}
	db, err := sql.Open("sqlite", fileURI(file, "mode=ro&immutable=1&_pragma=cache_size(-16384)"))
	if err != nil {
		return m, fmt.Errorf("open the backup: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return m, fmt.Errorf("check the backup: %w", err)
	}
	if verdict != "ok" {
		return m, fmt.Errorf("the backup is damaged: %s", verdict)
	}
	if m.Schema, err = schemaOf(ctx, db); err != nil {
		return m, err
	}
	var sealed string
	for _, q := range []struct {
		text string
		to   any
	}{
		{"SELECT text FROM meta WHERE name = 'master-key'", &sealed},
		{"SELECT count(*) FROM company", &m.Counts.Companies},
		{"SELECT count(*) FROM notification", &m.Counts.Notifications},
		{"SELECT count(*) FROM notification WHERE open > 0", &m.Counts.Open},
		{"SELECT count(*) FROM message", &m.Counts.Messages},
		{"SELECT count(*) FROM call", &m.Counts.Calls},
	} {
		if err := db.QueryRowContext(ctx, q.text).Scan(q.to); err != nil {
			return m, fmt.Errorf("read the backup: %w", err)
		}
	}
	if parts := strings.SplitN(sealed, ":", 3); len(parts) == 3 {
		m.MasterKey = parts[1]
	}
	return m, nil
}

func schemaOf(ctx context.Context, db *sql.DB) (version int64, err error) {
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("the file is not a database of Carillon: %w", err)
	}
	return version, nil
}

// digestFile returns the SHA-256 and the size of a file.
func DigestFile(ctx context.Context, name string) (sum string, size int64, err error) {
	f, err := os.Open(name) //nolint:gosec // the operator chose the path
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err = io.Copy(h, interruptible{ctx, f})
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// interruptible is a reader that fails when its context ends.
type interruptible struct {
	ctx context.Context //nolint:containedctx // for a single call
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// Publish writes the manifest and renames the backup from `part` to `to`. After a crash the backup has its final name only if
// both files are complete.
func (m *Manifest) Publish(part, to string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	name := ManifestFile(to)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator chose the path
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// ReadManifest reads the manifest of a backup.
func ReadManifest(backup string) (m Manifest, err error) {
	text, err := os.ReadFile(ManifestFile(backup))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format != manifestFormat {
		return m, fmt.Errorf("%s is not a manifest that this version reads", ManifestFile(backup))
	}
	return m, nil
}
