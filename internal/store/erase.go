package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/messages"
	"carillon/internal/store/people"
)

// An erasure has steps that can each be repeated: a crash between two of them leaves a part, which the next call
// erases. Waiting work is canceled first, and work in progress refuses the erasure, because its outcome would be
// written to deleted rows.

// Person finds everything that is stored about a person of a company.
func (s *Store) Person(ctx context.Context, companyID string, q people.Query) (*people.Person, error) {
	p, err := people.Find(ctx, s.DB, companyID, q)
	return p, db.Wrap(err, "find a person")
}

// Erasure is the result of an erasure.
type Erasure struct {
	Hash string // the person's hash in the change log
	Rows map[string]int
}

// Erase deletes everything stored about a person: the person's rows, and each mention in others. The change log keeps
// a hash of the person. Errors: conflict while a message or a call is in progress.
func (s *Store) Erase(ctx context.Context, p *people.Person, now time.Time) (*Erasure, error) {
	hash, err := s.hashOf(ctx, p)
	if err != nil {
		return nil, err
	}
	e := &Erasure{Hash: hash, Rows: map[string]int{}}
	if err := s.idle(ctx, p, now); err != nil {
		return nil, err
	}
	var solo []string // ids of notifications to delete entirely
	for _, seq := range p.Notifications {
		id, err := s.eraseNotification(ctx, p, seq, e, now)
		if err != nil {
			return nil, db.Wrap(err, "erase a notification")
		}
		if id != "" {
			solo = append(solo, id)
		}
	}
	m := p.Matcher(solo...)
	gone, err := s.Events.ForgetEvents(ctx, p.CompanyID, func(e *events.Event) bool {
		return m.Matches(e.Subject) || m.Matches(string(e.Payload))
	})
	if err != nil {
		return nil, err
	}
	e.Rows["event"] = len(gone)
	if err := s.eraseRetries(ctx, p.CompanyID, gone); err != nil {
		return nil, err
	}
	if err := p.Unquote(ctx, s.DB); err != nil {
		return nil, err
	}
	// Before the rows: a history that is being imported would bring them back.
	mentioned, err := people.EraseMentions(ctx, s.DB, p.CompanyID, m, "erased:"+hash)
	if err != nil {
		return nil, err
	}
	deleted, err := people.Delete(ctx, s.DB, p)
	if err != nil {
		return nil, err
	}
	noted, err := people.EraseNotes(ctx, s.DB, p)
	if err != nil {
		return nil, err
	}
	e.Rows["contact"] += noted
	for _, rows := range []map[string]int{deleted, mentioned} {
		for table, n := range rows {
			if n > 0 {
				e.Rows[table] += n
			}
		}
	}
	err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if tx.SQLite() {
			if _, err := tx.Exec(ctx, "INSERT INTO meta (name, value) VALUES ('erased', $1) ON CONFLICT (name) DO UPDATE SET value "+
				"= excluded.value", db.Millis(now)); err != nil {
				return err
			}
		}
		return audit.Record(ctx, tx, now, audit.Entry{
			CompanyID: p.CompanyID, Kind: audit.SomePerson, ID: hash, Action: audit.Erased, After: e.Rows,
		})
	})
	if err != nil {
		return nil, err
	}
	return e, s.Purges.CleanFile(ctx)
}

// hashOf identifies a person in the change log to holders of both the number and the company's key, or the master key
// if the company has none. It stays the same when the company gets a key.
func (s *Store) hashOf(ctx context.Context, p *people.Person) (string, error) {
	key, err := s.Config.Derived(ctx, p.CompanyID, configure.ErasedPeople)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key.Oldest())
	_, _ = mac.Write([]byte(p.CompanyID))
	for _, of := range [][]string{p.Keys, p.Contacts} {
		if len(of) > 0 {
			_, _ = mac.Write([]byte(slices.Min(of))) // numbers sort before ids, so both give the same hash
			break
		}
	}
	return hex.EncodeToString(mac.Sum(nil)[:12]), nil
}

// idle cancels everything that waits to be sent to a person, and fails if something is in progress.
func (s *Store) idle(ctx context.Context, p *people.Person, now time.Time) error {
	for _, seq := range p.Notifications {
		if err := s.Notifications.CancelTo(ctx, p.CompanyID, seq, p.Keys, now); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	}
	keys := s.DB.List(p.Keys)
	var n int
	err := s.DB.Row(ctx, []any{&n}, "SELECT (SELECT COUNT(*) FROM message WHERE id "+s.DB.In(2)+
		" AND q > 0) + (SELECT COUNT(*) FROM call WHERE company_id = $1 AND q > 0 AND number "+
		s.DB.In(3)+") + (SELECT COUNT(*) FROM incoming_call WHERE company_id = $1 AND under_way AND number "+s.DB.In(3)+")",
		p.CompanyID, s.DB.List(p.Messages), keys)
	if err != nil {
		return db.Wrap(err, "look for what is under way")
	}
	if n > 0 {
		return carillon.InConflict("A message or a call of this person is under way; try again when it has ended")
	}
	return nil
}

// eraseNotification deletes a notification to the person alone, and returns its id; from one with several recipients
// only the person's part is erased.
func (s *Store) eraseNotification(ctx context.Context, p *people.Person, seq carillon.Seq, e *Erasure, now time.Time) (id string,
	err error,
) {
	n, err := s.Notifications.Load(ctx, seq)
	switch {
	case carillon.IsCode(err, carillon.NotFound):
		return "", nil
	case err != nil:
		return "", err
	case n.CompanyID != p.CompanyID:
		return "", fmt.Errorf("notification %s is another company's", n.ID)
	case n.Total > 1:
		e.Rows["message"] += 1
		return "", s.erasePart(ctx, p, n)
	}
	gone, err := s.Purges.Delete(ctx, n, p.Keys, now)
	if err == nil && gone == 0 {
		err = carillon.InConflict("A message or a call of this person is under way; try again when it has ended")
	}
	e.Rows["notification"] += gone
	return n.ID, err
}

// erasePart erases one of several recipients: in the request, the message and the search index.
func (s *Store) erasePart(ctx context.Context, p *people.Person, n *messages.Notification) error {
	seq := carillon.SeqOf(n.ID)
	body, err := people.WithoutContacts(n.Body, func(i int) bool { return p.Has(seq, i) })
	if err != nil {
		return err
	}
	keys := s.DB.List(p.Keys)
	return s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE notification SET body = $1 WHERE seq = $2 AND company_id = $3", body, int64(seq),
			p.CompanyID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE message SET number = $1, detail = NULL, clicked_at = NULL, clicks = 0
			WHERE id BETWEEN $2 AND $3 AND number `+tx.DB().In(4),
			carillon.ErasedNumber, int64(seq.Message(0)), int64(seq.LastMessage()), keys); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE call SET number = $1, detail = '' WHERE id BETWEEN $2 AND $3 AND number "+tx.DB().In(4),
			carillon.ErasedNumber, int64(seq.Message(0)), int64(seq.LastMessage()), keys); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DELETE FROM search WHERE company_id = $1 AND field = 'number' AND seq = $2 AND value "+
			tx.DB().In(3), p.CompanyID, int64(seq), keys)
		return err
	})
}

// eraseRetries deletes waiting deliveries of deleted events.
func (s *Store) eraseRetries(ctx context.Context, companyID string, gone []events.Key) error {
	for _, key := range gone {
		if _, err := s.DB.Exec(ctx, "DELETE FROM hook_retry WHERE company_id = $1 AND topic = $2 AND seq = $3", companyID,
			key.Topic, key.Seq); err != nil {
			return db.Wrap(err, "delete deliveries")
		}
	}
	return nil
}
