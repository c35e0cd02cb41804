package company

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"os"
	"time"
)

// A file is a gzip stream of frames: a letter, the length of the content in four bytes, and the content.
//
//	H header    JSON, once
//	A accounts  JSON, once
//	T table     JSON: its name and columns; the frames of its rows follow
//	R rows      tuples of the table (package tuple), at most about four megabytes
//	M manifest  JSON, at the end: counts and hashes by table, sealed with the key of the file
const (
	frameHeader   = 'H'
	frameAccounts = 'A'
	frameTable    = 'T'
	frameRows     = 'R'
	frameManifest = 'M'
)

// format is the number of this form of files.
const format = 1

// maxFrame bounds the memory for reading a frame: a row with a part of a file may be longer than the usual ones.
const maxFrame = 256 << 20

// fullRows is the length from which the rows of a frame are written.
const fullRows = 1 << 20

// Header describes a file.
type Header struct {
	Format    int       `json:"format"`
	CompanyID string    `json:"company_id"`
	Name      string    `json:"name"`
	Schema    int64     `json:"schema"`
	Program   string    `json:"program"`
	Engine    string    `json:"engine"`
	At        time.Time `json:"exported_at"`
	Searched  int64     `json:"searched"` // the notification up to which the table search is filled
	Code      string    `json:"code"`     // SHA-256 of the code that frees the company at its new installation
	Check     string    `json:"check"`    // sealed with the key of the file, to recognize it
}

// Manifest has the counts and hashes of a file, by table.
type Manifest struct {
	Accounts  int                `json:"accounts"`
	Tables    map[string]Content `json:"tables"`
	Described string             `json:"described_sha256"` // of the header and the accounts, as they are in the file
	Seal      string             `json:"seal"`             // of everything else in the manifest: nobody without the key changes a file
}

// digest is the SHA-256 of everything that the seal covers.
func (m Manifest) digest() ([]byte, error) {
	m.Seal = ""
	text, err := json.Marshal(m)
	sum := sha256.Sum256(text)
	return sum[:], err
}

func manifestRow(id string) string { return "company/" + id + "/manifest" }

// sealed seals the manifest of a company's file.
func (m *Manifest) sealed(id string, key fileKey) error {
	digest, err := m.digest()
	if err == nil {
		m.Seal = key.seal(manifestRow(id), digest)
	}
	return err
}

// errChanged means that a file was changed by somebody without its key.
var errChanged = errors.New("the file was changed after it was written")

// unchanged returns an error unless the key of the file sealed the manifest.
func (m *Manifest) unchanged(id string, key fileKey) error {
	digest, err := m.digest()
	if err != nil {
		return err
	}
	if plain, err := key.open(manifestRow(id), m.Seal); err != nil || !bytes.Equal(plain, digest) {
		return errChanged
	}
	return nil
}

// Rows returns the number of rows of all tables.
func (m *Manifest) Rows() (n int64) {
	for _, c := range m.Tables {
		n += c.Rows
	}
	return n
}

// Content is the content of a table: the number of rows, and the sum of the SHA-256 of their tuples, modulo 2^256, in
// hexadecimal digits. It does not depend on the order of the rows.
type Content struct {
	Rows int64  `json:"rows"`
	Hash string `json:"sha256_sum"`
}

// summed adds up hashes.
type summed struct {
	rows int64
	sum  [4]uint64 // least significant first
}

func (s *summed) add(row []byte) {
	h := sha256.Sum256(row)
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.BigEndian.Uint64(h[len(h)-8*(i+1):]), carry)
	}
	s.rows++
}

func (s *summed) content() Content {
	var b []byte
	for i := range s.sum {
		b = binary.BigEndian.AppendUint64(b, s.sum[len(s.sum)-1-i])
	}
	return Content{s.rows, hex.EncodeToString(b)}
}

// writer writes a file.
type writer struct {
	described hash.Hash // of the header and the accounts
	file      *os.File
	buffered  *bufio.Writer
	zip       *gzip.Writer
}

func create(name string) (*writer, error) {
	f, err := createNew(name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	z, _ := gzip.NewWriterLevel(b, gzip.BestSpeed) // fails for an unknown level only
	return &writer{sha256.New(), f, b, z}, nil
}

// createNew creates a file that its owner alone can read, in the place of one that an interrupted export left.
func createNew(name string) (*os.File, error) {
	if err := removeFiles(name); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator chose the path
}

func (w *writer) frame(kind byte, content []byte) error {
	if kind == frameHeader || kind == frameAccounts {
		_, _ = w.described.Write(content) // a hash returns no error
	}
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	if _, err := w.zip.Write(head); err != nil {
		return err
	}
	_, err := w.zip.Write(content)
	return err
}

func (w *writer) json(kind byte, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.frame(kind, content)
}

// close writes everything to the disk.
func (w *writer) close() error {
	err := w.zip.Close()
	if err == nil {
		err = w.buffered.Flush()
	}
	if err == nil {
		err = w.file.Sync()
	}
	return errors.Join(err, w.file.Close())
}

// errDamaged means that a file is not as it was written.
var errDamaged = errors.New("the file is damaged or incomplete")

// reader reads the frames of a file.
type reader struct {
	file *os.File
	zip  *gzip.Reader
	data []byte
}

func open(name string) (*reader, error) {
	f, err := os.Open(name) //nolint:gosec // the operator chose the path
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errDamaged, err), f.Close())
	}
	return &reader{file: f, zip: z}, nil
}

func (r *reader) close() error { return r.file.Close() }

// next returns the next frame, which is valid until the next call; io.EOF after the last one.
func (r *reader) next() (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.zip, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, nil, io.EOF
		}
		return 0, nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errDamaged
	}
	if cap(r.data) < int(n) {
		r.data = make([]byte, n)
	}
	r.data = r.data[:n]
	if _, err := io.ReadFull(r.zip, r.data); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return head[0], r.data, nil
}

// describedTable is the content of a frame of a table.
type describedTable struct {
	Name    string     `json:"table"`
	Columns []describe `json:"columns"`
}

type describe struct {
	Name string `json:"name"`
	Kind string `json:"type"`
}

func (t *table) described() describedTable {
	x := describedTable{Name: t.Name}
	for _, c := range t.cols {
		x.Columns = append(x.Columns, describe{c.name, string(c.kind)})
	}
	return x
}

// readJSON reads a frame of JSON.
func readJSON(content []byte, into any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}
