package chats

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// PastBuild is some messages of one person's history with their turns, oldest first.
type PastBuild struct {
	SenderUID int64
	Known     []identity.Identity
	Contact   Contact // with the company and a new id; number and id of the person
	AgentID   string  // for the time after the contact writes again
	Language  string
	Rows      []PastRow
	Turns     []Turn // of Rows
	Files     []bool // whether the file of a turn is to be loaded

	Made bool // result: a conversation was created
}

// maxPastTurns bounds a conversation of the history. The next message begins another one.
const maxPastTurns = 10_000

// Build appends turns to a resolved conversation of the contact, without events and notices: to the one that was built
// before if nothing happened in it since and it is older, otherwise to a new one. Errors: ErrOvertaken if one of the
// messages is a turn already, or was erased.
func (s *Past) Build(ctx context.Context, b *PastBuild) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		b.Made = false
		first, last := b.Turns[0].At, b.Turns[len(b.Turns)-1].At
		o := &Open{Contact: b.Contact, Known: b.Known, Now: last}
		if err := s.chats.moved(ctx, tx, o, last); err != nil {
			return err
		}
		if err := lockIdentities(ctx, tx, []*Open{o}); err != nil {
			return err
		}
		contact, err := s.chats.contactOf(ctx, tx, o)
		if err != nil {
			return err
		}
		c, err := s.built(ctx, tx, b, contact, first)
		if err != nil {
			return err
		}
		if c == nil {
			if c, err = begin(ctx, tx, b, contact, first); err != nil {
				return err
			}
			b.Made = true
		}
		return s.append(ctx, tx, b, c, last)
	})
	return db.Wrap(err, "build a conversation of a history")
}

// built returns the conversation that was built last for the person, if it can be continued; nil if not.
func (s *Past) built(ctx context.Context, tx *db.Tx, b *PastBuild, contact *Contact, first time.Time) (*Conversation, error) {
	var id string
	var seq int64
	if err := tx.Row(ctx, []any{&id, &seq}, `SELECT conversation_id, seq FROM past_message WHERE conversation_id <> '' AND sender_uid = $1
		AND number = $2 AND company_id = $3 ORDER BY at DESC, seq DESC LIMIT 1`, b.SenderUID, b.Rows[0].Person,
		contact.CompanyID); err != nil {
		return nil, db.Wrap(db.Ignore(err), "find the conversation of a history")
	}
	lock := ""
	if !tx.SQLite() {
		lock = " FOR UPDATE"
	}
	return db.Find(ctx, tx, "conversation", scan, "SELECT "+columns+` FROM conversation WHERE id = $1 AND company_id = $2
		AND contact_id = $3 AND state = 'resolved' AND last_seq = $4 AND last_seq < $5 AND last_at <= $6`+lock, id, contact.CompanyID,
		contact.ID, seq, maxPastTurns, db.Millis(first))
}

// begin creates an empty conversation.
func begin(ctx context.Context, tx *db.Tx, b *PastBuild, contact *Contact, first time.Time) (*Conversation, error) {
	c := &Conversation{
		ID: carillon.NewID(first), CompanyID: contact.CompanyID, Channel: "whatsapp", AgentID: b.AgentID, ContactID: contact.ID,
		State: Resolved, StateAt: first, Language: b.Language, OpenedAt: first, LastAt: first, ResolvedAt: first,
	}
	_, err := tx.Exec(ctx, `INSERT INTO conversation (id, company_id, channel, widget_id, agent_id, contact_id, state, state_at, language,
		page, last_at, opened_at, resolved_at) VALUES ($1, $2, $3, '', $4, $5, $6, $7, $8, '', $7, $7, $7)`,
		c.ID, c.CompanyID, c.Channel, c.AgentID, c.ContactID, string(c.State), db.Millis(first), c.Language)
	if err != nil {
		return nil, db.Wrap(err, "write conversation")
	}
	// The address without an open window: only a template reaches the person.
	_, err = tx.Exec(ctx, `INSERT INTO reply_window (conversation_id, company_id, sender_uid, number, last_id, until_at, user_id)
		VALUES ($1, $2, $3, $4, '', 0, $5)`, c.ID, c.CompanyID, b.SenderUID, b.Contact.Number, b.Contact.UserID)
	return c, db.Wrap(err, "write the address of a conversation")
}

// append adds the turns to a conversation, and records them at their messages.
func (s *Past) append(ctx context.Context, tx *db.Tx, b *PastBuild, c *Conversation, last time.Time) error {
	before := *c
	turns := number(c, b.Turns)
	c.AskedAt, c.ReadSeq, c.StateAt, c.ResolvedAt, c.LastAt = time.Time{}, c.LastSeq, last, last, last
	rows := turnRows()
	for i := range turns {
		addTurn(rows, c.ID, &turns[i])
	}
	if err := rows.Write(ctx, tx); err != nil {
		return err
	}
	if err := updateRows(ctx, tx, []*changedRow{{stored: &before, have: c}}); err != nil {
		return err
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		fileAt := int64(0)
		if b.Files[i] {
			fileAt = db.Millis(r.At)
		}
		n, err := tx.Exec(ctx, `UPDATE past_message SET conversation_id = $4, seq = $5, file_at = $6,
			content = CASE WHEN CAST($6 AS BIGINT) > 0 OR absent THEN content ELSE '' END
			WHERE sender_uid = $1 AND provider_id = $2 AND company_id = $3 AND conversation_id = '' AND content = $7`,
			b.SenderUID, r.ProviderID, c.CompanyID, c.ID, turns[i].Seq, fileAt, r.Content)
		if err != nil {
			return fmt.Errorf("record turns of a history: %w", err)
		}
		if n == 0 {
			return ErrOvertaken
		}
	}
	if !b.Made {
		return nil
	}
	_, err := tx.Exec(ctx, "UPDATE past_import SET conversations = conversations + 1 WHERE sender = $1 AND company_id = $2", b.SenderUID,
		c.CompanyID)
	return err
}

// PersonNamed is the name of a person in the company's address book at the channel.
type PersonNamed struct {
	Known   []identity.Identity
	Contact Contact // with the company, a new id and the name; number and id of the person
	Removed bool    // no longer in the address book: the name stays until the channel reports another
}

// SetNames stores names from the company's address book at the channel.
func (s *Contacts) SetNames(ctx context.Context, all []PersonNamed, now time.Time) error {
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		opens := make([]*Open, len(all))
		for i, n := range all {
			opens[i] = &Open{Contact: n.Contact, Known: n.Known, Now: now}
		}
		if err := lockIdentities(ctx, tx, opens); err != nil {
			return err
		}
		for i, n := range all {
			if err := s.setName(ctx, tx, opens[i], n.Removed); err != nil {
				return err
			}
		}
		return nil
	}), "write names of contacts")
}

func (s *Contacts) setName(ctx context.Context, tx *db.Tx, o *Open, removed bool) error {
	if removed {
		found, err := owners(ctx, tx, s.d, o.Contact.CompanyID, o.Known)
		if err != nil {
			return err
		}
		for _, id := range found {
			if _, err := tx.Exec(ctx, "UPDATE contact SET named = FALSE WHERE id = $1 AND company_id = $2", id,
				o.Contact.CompanyID); err != nil {
				return err
			}
		}
		return nil
	}
	name := o.Contact.Name
	contact, err := s.chats.contactOf(ctx, tx, o)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE contact SET name = $3, named = TRUE WHERE id = $1 AND company_id = $2", contact.ID,
		contact.CompanyID, name)
	return err
}
