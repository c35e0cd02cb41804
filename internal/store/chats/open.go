package chats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// Open finds or creates the contact and its newest conversation.
type Open struct {
	Contact      Contact      // found by Known, or by company, widget, visitor and Verified; its id and non-empty fields are used
	Conversation Conversation // template of a new conversation
	Greeting     []Turn       // first turns of a new conversation
	// Anew creates a conversation even if a resolved one could be reopened.
	Anew bool
	// Always creates a conversation unconditionally: a call has its own.
	Always bool
	// Keep is the time for which a resolved conversation can be reopened.
	Keep time.Duration
	Now  time.Time
	// At is the time when the person wrote the message; zero if it is unknown or not a message. It precedes Now.
	At time.Time

	// Known are identities of the contact: a line or a channel's id of a person, or both if the channel says that they
	// are the same person's. Without it the contact is a widget's, found by its visitor id.
	Known []identity.Identity
	// Became are the person's new identities according to the channel, replacing Known.
	Became []identity.Identity
	// Shared is a number that the person gave as their own. A number of another contact stays with that contact.
	Shared string

	Made bool
}

// Open stores an Open, and sets its Contact and Conversation to those found or created.
func (s *Store) Open(ctx context.Context, o *Open) error { return s.opens.Commit(ctx, s.d, o) }

// shared is the line of the number that the person gave.
func (o *Open) shared() []identity.Identity {
	if o.Shared == "" {
		return nil
	}
	return []identity.Identity{{Kind: identity.Line, Key: identity.Number(o.Shared)}}
}

func (s *Store) applyOpens(ctx context.Context, tx *db.Tx, opens []*Open, _ bool) error {
	if err := lockIdentities(ctx, tx, opens); err != nil {
		return err
	}
	slices.SortStableFunc(opens, func(a, b *Open) int { return strings.Compare(a.Contact.key(), b.Contact.key()) }) // in lock order
	for _, o := range opens {
		if err := s.applyOpen(ctx, tx, o); err != nil {
			return err
		}
	}
	return nil
}

// key returns the key by which a contact is found.
func (c *Contact) key() string {
	return c.CompanyID + "/" + c.WidgetID + "/" + strconv.FormatBool(c.Verified) + "/" + c.VisitorID
}

func (s *Store) applyOpen(ctx context.Context, tx *db.Tx, o *Open) error {
	contact, err := s.contactOf(ctx, tx, o)
	if err != nil {
		return err
	}
	o.Contact, o.Made = *contact, false
	have, err := db.Find(ctx, tx, "conversation", scan,
		"SELECT "+columns+` FROM conversation WHERE contact_id = $1 AND company_id = $2 AND channel <> 'phone'
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

// contactOf finds or creates the contact of an open, and updates its fields.
func (s *Store) contactOf(ctx context.Context, tx *db.Tx, o *Open) (*Contact, error) {
	if len(o.Known)+len(o.Became) == 0 {
		return upsertContact(ctx, tx, o.Contact, o.Now)
	}
	id, claims, err := s.claim(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	present := o.Known
	if len(o.Became) > 0 {
		present = o.Became
	}
	o.Contact.WidgetID, o.Contact.Verified = "", true
	for _, x := range present {
		o.Contact.Verified = o.Contact.Verified && x.Kind != identity.Caller
	}
	for _, x := range o.shared() {
		if owner := claims.owned[x]; owner == "" || owner == id {
			o.Contact.Number, present = cmp.Or(o.Contact.Number, o.Shared), append(slices.Clip(present), x)
		}
	}
	var contact *Contact
	if id != "" {
		contact, err = touchContact(ctx, tx, id, o.Contact, o.Now)
	} else {
		o.Contact.VisitorID = visitorFor(o.Contact.Number, present)
		contact, err = upsertContact(ctx, tx, o.Contact, o.Now)
	}
	switch {
	case err != nil:
		return nil, err
	case contact == nil: // deleted meanwhile, together with its identities
		return s.contactOf(ctx, tx, o)
	}
	if err := claims.give(ctx, contact.ID, present...); err != nil {
		return nil, err
	}
	return contact, claims.remember(ctx, contact.ID, o)
}

// visitorFor returns the visitor id of a new contact: its number, by which programs before schema 37 find it, or else
// its id.
func visitorFor(number string, known []identity.Identity) string {
	if number != "" {
		return visitorOf(number)
	}
	return string(known[0].Kind) + ":" + known[0].Scope + "/" + known[0].Key.String()
}

// touchContact updates the other fields of a contact, and locks its row as upsertContact does; nil if it is gone.
func touchContact(ctx context.Context, tx *db.Tx, id string, c Contact, now time.Time) (*Contact, error) {
	return db.Find(ctx, tx, "contact", scanContact, `UPDATE contact SET seen_at = CASE WHEN seen_at < $1 THEN $1 ELSE seen_at END,
		name = CASE WHEN $2 = '' OR named THEN name ELSE $2 END,
		email = CASE WHEN $3 = '' THEN email ELSE $3 END, number = CASE WHEN $4 = '' THEN number ELSE $4 END,
		language = CASE WHEN $5 = '' THEN language ELSE $5 END, user_id = CASE WHEN $6 = '' THEN user_id ELSE $6 END,
		username = CASE WHEN $7 = '' THEN username ELSE $7 END WHERE id = $8 AND company_id = $9 RETURNING `+contactColumns,
		db.Millis(now), c.Name, c.Email, c.Number, c.Language, c.UserID, c.Username, id, c.CompanyID)
}

// upsertContact locks the contact's row, so that two sessions of a visitor create only one conversation.
func upsertContact(ctx context.Context, tx *db.Tx, c Contact, now time.Time) (*Contact, error) {
	return db.Find(ctx, tx, "contact", scanContact, `INSERT INTO contact (`+contactColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12)
		ON CONFLICT (company_id, widget_id, verified, visitor_id) DO UPDATE SET seen_at = excluded.seen_at,
			name = CASE WHEN excluded.name = '' THEN contact.name ELSE excluded.name END,
			email = CASE WHEN excluded.email = '' THEN contact.email ELSE excluded.email END,
			number = CASE WHEN excluded.number = '' THEN contact.number ELSE excluded.number END,
			language = CASE WHEN excluded.language = '' THEN contact.language ELSE excluded.language END,
			user_id = CASE WHEN excluded.user_id = '' THEN contact.user_id ELSE excluded.user_id END,
			username = CASE WHEN excluded.username = '' THEN contact.username ELSE excluded.username END
		RETURNING `+contactColumns,
		c.ID, c.CompanyID, c.WidgetID, c.VisitorID, c.Verified, c.Name, c.Email, c.Number, c.Language, db.Millis(now), c.UserID, c.Username)
}

func (s *Store) insert(ctx context.Context, tx *db.Tx, o *Open) error {
	c := o.Conversation
	c.CompanyID, c.ContactID, c.OpenedAt, c.LastAt, c.StateAt = o.Contact.CompanyID, o.Contact.ID, o.Now, o.Now, o.Now
	if c.State.Waits() {
		c.WaitingAt = o.Now // the notice follows the contact's first message
	}
	turns := number(&c, append([]Turn{}, o.Greeting...))
	if _, err := tx.Exec(ctx,
		`INSERT INTO conversation (id, company_id, channel, widget_id, agent_id, contact_id, state, state_at, language, page,
				last_at, opened_at, waiting_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $8, $8, $11)`, c.ID, c.CompanyID, c.Channel, c.WidgetID, c.AgentID, c.ContactID,
		string(c.State),
		db.Millis(o.Now), c.Language, c.Page, db.Millis(c.WaitingAt)); err != nil {
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
	s.record(ctx, tx, &c, turns, nil)
	if err := s.recordOutward(ctx, tx, nil, &c, turns, nil); err != nil {
		return err
	}
	return nil
}
