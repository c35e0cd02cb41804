package chats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/db"
)

// Open finds the contact and its newest conversation, and makes those that are not there.
type Open struct {
	Contact      Contact      // by company, widget, visitor and whether it is verified; its id and what is not empty are used
	Conversation Conversation // used where one is made
	Greeting     []Turn       // the first turns of a conversation that is made
	// Anew makes a conversation although there is one; it must be resolved.
	Anew bool
	// Always makes one whatever there is: a call is a conversation of its own.
	Always bool
	// Keep is how long a resolved conversation is found again.
	Keep time.Duration
	Now  time.Time

	Made bool
}

// Open stores an Open, whose Contact and Conversation are then those found or made.
func (s *Store) Open(ctx context.Context, o *Open) error { return s.opens.Commit(ctx, s.d, o) }

func (s *Store) applyOpens(ctx context.Context, tx *db.Tx, opens []*Open, _ bool) error {
	slices.SortStableFunc(opens, func(a, b *Open) int { return strings.Compare(a.Contact.key(), b.Contact.key()) }) // the lock order
	for _, o := range opens {
		if err := s.applyOpen(ctx, tx, o); err != nil {
			return err
		}
	}
	return nil
}

// key is what a contact is found by.
func (c *Contact) key() string {
	return c.CompanyID + "/" + c.WidgetID + "/" + strconv.FormatBool(c.Verified) + "/" + c.VisitorID
}

func (s *Store) applyOpen(ctx context.Context, tx *db.Tx, o *Open) error {
	contact, err := upsertContact(ctx, tx, o.Contact, o.Now)
	if err != nil {
		return err
	}
	o.Contact, o.Made = *contact, false
	have, err := db.Find(ctx, tx, "conversation", scan, "SELECT "+columns+` FROM conversation WHERE contact_id = $1 AND company_id = $2 AND channel <> 'phone'
		ORDER BY CASE WHEN state = 'resolved' THEN 1 ELSE 0 END, opened_at DESC LIMIT 1`, contact.ID, contact.CompanyID)
	if err != nil {
		return err
	}
	if have != nil && !o.Always && (have.State != Resolved || !o.Anew && o.Now.Sub(have.ResolvedAt) < o.Keep) {
		o.Conversation = *have
		return nil
	}
	return s.insert(ctx, tx, o)
}

// upsertContact locks the contact's row, so that two sessions of a visitor make one conversation.
func upsertContact(ctx context.Context, tx *db.Tx, c Contact, now time.Time) (*Contact, error) {
	return db.Find(ctx, tx, "contact", scanContact, `INSERT INTO contact (`+contactColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
		ON CONFLICT (company_id, widget_id, verified, visitor_id) DO UPDATE SET seen_at = excluded.seen_at,
			name = CASE WHEN excluded.name = '' THEN contact.name ELSE excluded.name END,
			email = CASE WHEN excluded.email = '' THEN contact.email ELSE excluded.email END,
			number = CASE WHEN excluded.number = '' THEN contact.number ELSE excluded.number END,
			language = CASE WHEN excluded.language = '' THEN contact.language ELSE excluded.language END
		RETURNING `+contactColumns,
		c.ID, c.CompanyID, c.WidgetID, c.VisitorID, c.Verified, c.Name, c.Email, c.Number, c.Language, db.Millis(now))
}

func (s *Store) insert(ctx context.Context, tx *db.Tx, o *Open) error {
	c := o.Conversation
	c.CompanyID, c.ContactID, c.OpenedAt, c.LastAt, c.StateAt = o.Contact.CompanyID, o.Contact.ID, o.Now, o.Now, o.Now
	turns := number(&c, append([]Turn{}, o.Greeting...))
	if _, err := tx.Exec(ctx, `INSERT INTO conversation (id, company_id, channel, widget_id, agent_id, contact_id, state, state_at, language, page, last_at, opened_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $8, $8)`, c.ID, c.CompanyID, c.Channel, c.WidgetID, c.AgentID, c.ContactID, string(c.State),
		db.Millis(o.Now), c.Language, c.Page); err != nil {
		return fmt.Errorf("write conversation: %w", err)
	}
	rows := turnRows()
	for i := range turns {
		addTurn(rows, c.ID, &turns[i])
	}
	if err := rows.Write(ctx, tx); err != nil {
		return err
	}
	if len(turns) > 0 {
		if err := updateRows(ctx, tx, []*changedRow{{stored: &c, have: &c}}); err != nil {
			return err
		}
	}
	o.Conversation, o.Made = c, true
	s.record(ctx, tx, &c, turns)
	if err := s.recordOutward(ctx, tx, nil, &c, turns); err != nil {
		return err
	}
	return nil
}
