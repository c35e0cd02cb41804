package chats

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// SignedAddress is a signed address.
type SignedAddress struct {
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

// SignedAddresses is the SQL of the signed addresses with which browsers open a socket. Each can be used once, on any
// node. Its methods are safe for concurrent use.
type SignedAddresses struct{ d *db.DB }

// NewSignedAddresses returns the store of a database.
func NewSignedAddresses(d *db.DB) *SignedAddresses { return &SignedAddresses{d} }

// Add stores an address.
func (s *SignedAddresses) Add(ctx context.Context, a *SignedAddress) error {
	_, err := s.d.Exec(ctx, `INSERT INTO signed_address (id, company_id, conversation_id, widget_id, agent_id, key_id, origin, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, a.ID, a.CompanyID, a.ConversationID, a.WidgetID, a.AgentID, a.KeyID, a.Origin,
		db.Millis(a.ExpiresAt))
	return db.Wrap(err, "write signed address")
}

// Find returns an address of any company; nil if there is none.
func (s *SignedAddresses) Find(ctx context.Context, id string) (*SignedAddress, error) {
	return db.Find(ctx, s.d, "signed address", func(scan db.Scan) (*SignedAddress, error) {
		var a SignedAddress
		var expires, used int64
		err := scan(&a.ID, &a.CompanyID, &a.ConversationID, &a.WidgetID, &a.AgentID, &a.KeyID, &a.Origin, &expires, &used)
		a.ExpiresAt, a.UsedAt = db.Instant(expires), db.Instant(used)
		return &a, err
	}, "SELECT id, company_id, conversation_id, widget_id, agent_id, key_id, origin, expires_at, used_at FROM signed_address WHERE "+
		"id = $1", id)
}

// Use marks an address as used and reports whether it was valid. Of concurrent callers on any nodes, only one gets
// true.
func (s *SignedAddresses) Use(ctx context.Context, companyID, id string, now time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, "UPDATE signed_address SET used_at = $1 WHERE id = $2 AND company_id = $3 AND used_at = 0 AND expires_at > $1",
		db.Millis(now), id, companyID)
	return n > 0, db.Wrap(err, "use signed address")
}
