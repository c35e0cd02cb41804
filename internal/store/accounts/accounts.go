// Package accounts is the SQL of companies, accounts and their roles, sessions, signing keys and access keys.
// Companies and access keys are read through caches. Writes inside a caller's transaction are functions, not methods.
package accounts

import (
	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Store reads companies, accounts and memberships. Its methods and those of the other types here are safe for
// concurrent use.
type Store struct {
	d         *db.DB
	config    *configure.Configuration
	companies *cache.Cache[*carillon.Company]
	window    *cache.Cache[Maintenance]
}

// Keys are access keys and signing keys.
type Keys struct {
	d    *db.DB
	seal *configure.Sealer
	keys *configure.Names[*AccessKey] // by digest, and by id
}

// Sessions are the sessions of signed-in accounts.
type Sessions struct{ d *db.DB }

// Factors are second factors.
type Factors struct {
	d    *db.DB
	seal *configure.Sealer
}

// Links are invitations, links for forgotten passwords and the token for the first owner.
type Links struct{ d *db.DB }

// New returns the store of a database.
func New(d *db.DB, c *configure.Configuration) *Store {
	return &Store{d, c, configure.Cache[*carillon.Company](c), configure.Cache[Maintenance](c)}
}

// NewKeys returns the keys of a database.
func NewKeys(d *db.DB, s *configure.Sealer, c *configure.Configuration) *Keys {
	return &Keys{d, s, configure.NewNames[*AccessKey](c)}
}

// NewSessions returns the sessions of a database.
func NewSessions(d *db.DB) *Sessions { return &Sessions{d} }

// NewFactors returns the second factors of a database.
func NewFactors(d *db.DB, s *configure.Sealer) *Factors { return &Factors{d, s} }

// NewLinks returns the links of a database.
func NewLinks(d *db.DB) *Links { return &Links{d} }
