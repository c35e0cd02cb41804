// Package addresses is the SQL of the signed addresses with which browsers open a socket. Each can be used once, on
// any node.
package addresses

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Address is a signed address.
type Address struct {
	ID             string // digest of its token
	CompanyID      string
	ConversationID string
	WidgetID       string // empty for a teammate's
	AgentID        string
	KeyID          string // access key that requested it; empty if none
	Origin         string // origin of the page that requested it; empty if unknown
	ExpiresAt      time.Time
	UsedAt         time.Time // zero if unused
}

// Store reads and writes the table. Its methods are safe for concurrent use.
type Store struct{ d *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// Add stores an address.
func (s *Store) Add(ctx context.Context, a *Address) error {
	_, err := s.d.Exec(ctx, `INSERT INTO signed_address (id, company_id, conversation_id, widget_id, agent_id, key_id, origin, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, a.ID, a.CompanyID, a.ConversationID, a.WidgetID, a.AgentID, a.KeyID, a.Origin,
		db.Millis(a.ExpiresAt))
	return db.Wrap(err, "write signed address")
}

// Find returns an address of any company; nil if there is none.
func (s *Store) Find(ctx context.Context, id string) (*Address, error) {
	return db.Find(ctx, s.d, "signed address", func(scan db.Scan) (*Address, error) {
		var a Address
		var expires, used int64
		err := scan(&a.ID, &a.CompanyID, &a.ConversationID, &a.WidgetID, &a.AgentID, &a.KeyID, &a.Origin, &expires, &used)
		a.ExpiresAt, a.UsedAt = db.Instant(expires), db.Instant(used)
		return &a, err
	}, "SELECT id, company_id, conversation_id, widget_id, agent_id, key_id, origin, expires_at, used_at FROM signed_address WHERE "+
		"id = $1", id)
}

// Use marks an address as used and reports whether it was valid. Of concurrent callers on any nodes, only one gets
// true.
func (s *Store) Use(ctx context.Context, companyID, id string, now time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, "UPDATE signed_address SET used_at = $1 WHERE id = $2 AND company_id = $3 AND used_at = 0 AND expires_at > $1",
		db.Millis(now), id, companyID)
	return n > 0, db.Wrap(err, "use signed address")
}
