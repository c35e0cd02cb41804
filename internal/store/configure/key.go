package configure

import (
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// The purposes of keys that are derived for companies: their signatures are used outside the installation, or outlive a
// move of the company to another one.
const (
	CountedLinks  = "counted links"
	FileAddresses = "addresses of files"
	ErasedPeople  = "erased people"
)

// key is a company's key. Values are sealed by it, and the keys for its purposes derive from it.
type key struct {
	companyID string
	secret    []byte            // 32 bytes
	former    map[string][]byte // by purpose: keys that derive from the master key of an installation
	aead      cipher.AEAD
	id        string
}

// keyText is the plain form of a key, in which it moves to another installation.
type keyText struct {
	Secret []byte            `json:"secret"`
	Former map[string][]byte `json:"former"`
}

func keyRow(companyID string) string { return "company_key/" + companyID }

func readKey(companyID string, plain []byte) (*key, error) {
	var text keyText
	if err := json.Unmarshal(plain, &text); err != nil || len(text.Secret) != sha256.Size {
		return nil, errKey // without the cause, which might quote the key
	}
	aead, err := newAEAD(text.Secret)
	if err != nil {
		return nil, fmt.Errorf("key of company %s: %w", companyID, err)
	}
	sum := sha256.Sum256(append([]byte("carillon company key id:"), text.Secret...))
	return &key{companyID, text.Secret, text.Former, aead, hex.EncodeToString(sum[:8])}, nil
}

// prefix begins the values that the key sealed.
func (k *key) prefix() string { return "v2:" + k.id + ":" }

func (k *key) seal(row string, plain []byte) string { return seal(k.aead, k.prefix(), row, plain) }

// derive returns the key for a purpose, as Sealer.Derive does from the master key.
func (k *key) derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.secret, nil, "carillon "+purpose, sha256.Size)
}

// KeyOf is the SQL of the sealed key of a row's company, for OpenOf; column names the company.
func KeyOf(column string) string {
	return "COALESCE((SELECT k.sealed FROM company_key AS k WHERE k.company_id = " + column + "), '')"
}

// OpenOf returns the plaintext that was sealed for a company and a row. sealedKey is the company's key as it is stored
// (KeyOf). Values from before the company had a key are sealed by the master key.
func (s *Sealer) OpenOf(companyID, sealedKey, row, sealed string) ([]byte, error) {
	if !strings.HasPrefix(sealed, "v2:") {
		return s.Open(row, sealed)
	}
	k, err := s.openKey(companyID, sealedKey)
	if err != nil {
		return nil, err
	}
	plain, ok := open(k.aead, k.prefix(), row, sealed)
	if !ok {
		return nil, errKey
	}
	return plain, nil
}

// SealOf seals a value of a company for a row: `v2:<id of the company's key>:<base64 of nonce and ciphertext>`, or by
// the master key if the company has no key.
func (s *Sealer) SealOf(ctx context.Context, q db.Querier, companyID, row string, plain []byte) (string, error) {
	k, err := s.findKey(ctx, q, companyID)
	if err != nil {
		return "", err
	}
	if k == nil {
		return s.Seal(row, plain), nil
	}
	return k.seal(row, plain), nil
}

// findKey reads a company's key; nil if it has none.
func (s *Sealer) findKey(ctx context.Context, q db.Querier, companyID string) (*key, error) {
	var sealed string
	err := q.Row(ctx, []any{&sealed}, "SELECT sealed FROM company_key WHERE company_id = $1", companyID)
	if err != nil {
		return nil, db.Wrap(db.Ignore(err), "read the key of a company")
	}
	return s.openKey(companyID, sealed)
}

// openKey opens a company's key. Opened ones are kept by their sealed form, which a different key never has.
func (s *Sealer) openKey(companyID, sealed string) (*key, error) {
	if k, ok := s.keys.Peek(sealed); ok && k.companyID == companyID {
		return k, nil
	}
	clock := s.keys.Clock()
	plain, err := s.Open(keyRow(companyID), sealed)
	if err != nil {
		return nil, fmt.Errorf("open the key of company %s: %w", companyID, err)
	}
	k, err := readKey(companyID, plain)
	if err == nil {
		s.keys.Put(sealed, k, companyID, clock)
	}
	return k, err
}

// NewKey gives a new company its key.
func NewKey(ctx context.Context, tx *Tx, companyID string, now time.Time) error {
	return tx.makeKey(ctx, companyID, []string{CountedLinks}, now)
}

// makeKey stores a new key. former are the purposes whose keys stay those of the installation.
func (tx *Tx) makeKey(ctx context.Context, companyID string, former []string, now time.Time) error {
	text := keyText{Secret: make([]byte, sha256.Size), Former: map[string][]byte{}}
	_, _ = rand.Read(text.Secret) // never fails: crypto/rand ends the program instead
	for _, purpose := range former {
		derived, err := tx.Seal.Derive(purpose)
		if err != nil {
			return fmt.Errorf("derive a key: %w", err)
		}
		text.Former[purpose] = derived
	}
	plain, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("make the key of a company: %w", err)
	}
	return tx.putKey(ctx, companyID, plain, "", now)
}

func (tx *Tx) putKey(ctx context.Context, companyID string, plain []byte, links string, now time.Time) error {
	_, err := tx.Exec(ctx, "INSERT INTO company_key (company_id, sealed, links, created_at) VALUES ($1, $2, $3, $4)", companyID,
		tx.Seal.Seal(keyRow(companyID), plain), links, db.Millis(now))
	return db.Wrap(err, "store the key of a company")
}

// ExportKey returns the key of a company in plain text, for ImportKey in another installation. It opens the
// company's secrets. Errors: not_found.
func ExportKey(ctx context.Context, tx *Tx, companyID string) ([]byte, error) {
	k, err := tx.Seal.findKey(ctx, tx, companyID)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, carillon.Absent("Key of the company")
	}
	return json.Marshal(keyText{k.secret, k.former})
}

// ImportKey stores the key of a company from another installation. The company must not have one.
func ImportKey(ctx context.Context, tx *Tx, companyID string, plain []byte, now time.Time) error {
	tx.Changes(companyID)
	k, err := readKey(companyID, plain)
	if err != nil {
		return err
	}
	if len(k.former[CountedLinks]) != sha256.Size {
		return errKey
	}
	own, err := tx.Seal.Derive(CountedLinks)
	if err != nil {
		return err
	}
	links := fingerprint(k.former[CountedLinks])
	if links == fingerprint(own) {
		links = ""
	}
	return tx.putKey(ctx, companyID, plain, links, now)
}

func fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// Sealed are the sealed values of companies in one table.
type Sealed struct {
	Table string
	Key   []string                                 // columns which with company_id identify a row
	Row   func(companyID string, key []any) string // what a value is sealed for
}

// Reseal seals a company's values by its own key, which it makes if the company has none: they are then independent of
// the installation. Signatures of keys that derive from the master key stay valid.
func Reseal(ctx context.Context, tx *Tx, companyID string, tables []Sealed, now time.Time) error {
	tx.Changes(companyID)
	lock := " FOR UPDATE" // waits for writes that began without the key
	if tx.SQLite() {
		lock = ""
	}
	if err := tx.Row(ctx, []any{new(string)}, "SELECT id FROM company WHERE id = $1"+lock, companyID); err != nil {
		return db.Absent(err, "Company")
	}
	k, err := tx.Seal.findKey(ctx, tx, companyID)
	if err == nil && k == nil {
		err = tx.makeKey(ctx, companyID, []string{CountedLinks, FileAddresses, ErasedPeople}, now)
	}
	if err != nil {
		return err
	}
	if k == nil {
		if k, err = tx.Seal.findKey(ctx, tx, companyID); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := tx.reseal(ctx, k, t); err != nil {
			return fmt.Errorf("seal the values in %s: %w", t.Table, err)
		}
	}
	return nil
}

// reseal seals the values of one table by a company's key.
func (tx *Tx) reseal(ctx context.Context, k *key, t Sealed) error {
	type value struct {
		key    []any
		sealed string
	}
	all, err := db.Collect(ctx, tx, t.Table, func(scan db.Scan) (value, error) {
		v := value{key: make([]any, len(t.Key))}
		dest := []any{&v.sealed}
		for i := range v.key {
			dest = append(dest, &v.key[i])
		}
		return v, scan(dest...)
	}, "SELECT sealed, "+strings.Join(t.Key, ", ")+" FROM "+t.Table+" WHERE company_id = $1 AND sealed LIKE 'v1:%'", k.companyID)
	if err != nil {
		return err
	}
	update := "UPDATE " + t.Table + " SET sealed = $1 WHERE company_id = $2"
	for i, column := range t.Key {
		update += fmt.Sprintf(" AND %s = $%d", column, i+3)
	}
	for _, v := range all {
		row := t.Row(k.companyID, v.key)
		plain, err := tx.Seal.Open(row, v.sealed)
		if err != nil {
			return err
		}
		args := append([]any{k.seal(row, plain), k.companyID}, v.key...)
		if _, err := tx.Exec(ctx, update, args...); err != nil {
			return err
		}
	}
	return nil
}

// Derived are a company's keys for one purpose. Key signs. Former, nil for most companies, signed before the company
// had a key.
type Derived struct{ Key, Former []byte }

// Derived returns a company's keys for a purpose, from the cache. Those of a company without a key derive from the
// master key. Other nodes use and accept the keys of a company that gets its key after Spread.
func (c *Configuration) Derived(ctx context.Context, companyID, purpose string) (Derived, error) {
	k, err := c.keys.Get(ctx, companyID, func(ctx context.Context) (*key, string, error) {
		var sealed string
		if err := c.db.Row(ctx, []any{&sealed}, "SELECT sealed FROM company_key WHERE company_id = $1", companyID); err != nil {
			return nil, "", err
		}
		k, err := c.seal.openKey(companyID, sealed)
		return k, companyID, err
	})
	var d Derived
	switch {
	case err != nil:
		return d, fmt.Errorf("read the key of a company: %w", err)
	case k == nil:
		d.Key, err = c.seal.Derive(purpose)
	default:
		d.Former = k.former[purpose]
		d.Key, err = k.derive(purpose)
	}
	return d, err
}

// Oldest returns the key that was first.
func (d Derived) Oldest() []byte {
	if d.Former != nil {
		return d.Former
	}
	return d.Key
}

// LinkKey returns the key of a company's counted links, which is that of the installation where the company was created.
func (c *Configuration) LinkKey(ctx context.Context, companyID string) ([]byte, error) {
	d, err := c.Derived(ctx, companyID, CountedLinks)
	return d.Oldest(), err
}

// maxLinkKeys bounds the installations from which companies have moved here.
const maxLinkKeys = 64

// MovedLinkKeys returns the link keys of the companies that were created in other installations, from the cache.
func (c *Configuration) MovedLinkKeys(ctx context.Context) ([][]byte, error) {
	return c.links.Get(ctx, "", func(ctx context.Context) ([][]byte, string, error) {
		all, err := db.Collect(ctx, c.db, "link keys", func(scan db.Scan) ([]byte, error) {
			var companyID, sealed string
			if err := scan(&companyID, &sealed); err != nil {
				return nil, err
			}
			k, err := c.seal.openKey(companyID, sealed)
			if err != nil {
				return nil, err
			}
			return k.former[CountedLinks], nil
		}, `SELECT k.company_id, k.sealed FROM (SELECT MIN(company_id) AS company_id FROM company_key WHERE links <> ''
			GROUP BY links ORDER BY links LIMIT $1) AS one JOIN company_key AS k ON k.company_id = one.company_id`, maxLinkKeys)
		return all, "", err
	})
}
