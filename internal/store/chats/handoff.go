package chats

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon/internal/store/db"
)

// Handoff is a wait of the contact for a teammate. It begins when the agent hands over or nobody answers, continues while
// teammates pass the conversation among themselves, and ends when the agent continues or the resolved conversation is
// reopened.
type Handoff struct {
	At        time.Time // zero for none
	RepliedAt time.Time // first reply of a teammate, zero before it
	By        string    // account of that teammate
}

// followHandoff keeps the conversation's handoff after a change that appended turns.
func (c *Conversation) followHandoff(before *Conversation, turns []Turn) {
	h := &c.Handoff
	again := before.State == Resolved && c.WaitingAt.After(h.At)
	switch {
	case c.State == Automated:
		*h = Handoff{}
	case !c.WaitingAt.IsZero() && c.VisitorSeq > 0 && (h.At.IsZero() || again):
		*h = Handoff{At: c.WaitingAt}
	}
	for i := range turns {
		t := &turns[i]
		if t.Author == Teammate && !t.Extra.Application && !t.Note && t.Kind != KindEvent && !h.At.IsZero() && h.RepliedAt.IsZero() {
			h.RepliedAt, h.By = t.At, t.AccountID
		}
	}
}

// writeHandoffs writes the handoffs that have changed.
func (x *changing) writeHandoffs(ctx context.Context, tx *db.Tx) error {
	for _, id := range slices.Sorted(maps.Keys(x.rows)) {
		c, was := x.rows[id].have, x.rows[id].stored
		if c.Handoff.At.IsZero() || c.Handoff == was.Handoff && c.ResolvedAt.Equal(was.ResolvedAt) {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO handoff (conversation_id, at, company_id, replied_at, replied_by, resolved_at)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (conversation_id, at) DO UPDATE SET replied_at = excluded.replied_at,
			replied_by = excluded.replied_by, resolved_at = excluded.resolved_at`,
			c.ID, db.Millis(c.Handoff.At), c.CompanyID, db.Millis(c.Handoff.RepliedAt), c.Handoff.By, db.Millis(c.ResolvedAt),
		); err != nil {
			return fmt.Errorf("write a handoff: %w", err)
		}
	}
	return nil
}

// Quality reads how soon teammates replied, and how contacts rated conversations.
type Quality struct{ d *db.DB }

// NewQuality returns the quality of a database's conversations.
func NewQuality(d *db.DB) *Quality { return &Quality{d} }

// Times are those of a handoff. ResolvedAt is zero before the end.
type Times struct {
	Handoff

	ResolvedAt time.Time
}

// EachHandoff calls each for the handoffs of a company that began between two instants, in order.
func (s *Quality) EachHandoff(ctx context.Context, companyID string, from, to time.Time, each func(t *Times)) error {
	return db.Wrap(db.Each(ctx, s.d, func(scan db.Scan) error {
		var t Times
		var at, replied, resolved int64
		err := scan(&at, &replied, &t.By, &resolved)
		t.At, t.RepliedAt, t.ResolvedAt = db.Instant(at), db.Instant(replied), db.Instant(resolved)
		if err == nil {
			each(&t)
		}
		return err
	}, `SELECT at, replied_at, replied_by, resolved_at FROM handoff WHERE company_id = $1 AND at >= $2 AND at < $3
		ORDER BY company_id, at`, companyID, db.Millis(from), db.Millis(to)), "read handoffs")
}

// EachRating calls each for the ratings that contacts of a company gave between two instants, in order. An empty agentID
// means all agents.
func (s *Quality) EachRating(
	ctx context.Context, companyID, agentID string, from, to time.Time, each func(at time.Time, rating int),
) error {
	return db.Wrap(db.Each(ctx, s.d, func(scan db.Scan) error {
		var at int64
		var rating int
		err := scan(&at, &rating)
		if err == nil {
			each(time.UnixMilli(at).UTC(), rating)
		}
		return err
	}, `SELECT rated_at, rating FROM conversation WHERE rated_at > 0 AND company_id = $1 AND rated_at >= $2 AND rated_at < $3
		AND (agent_id = $4 OR $4 = '') ORDER BY company_id, rated_at`, companyID, db.Millis(from), db.Millis(to), agentID), "read ratings")
}
