package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/calls"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/people"
	"carillon/internal/store/rank"
	"carillon/internal/store/stats"
)

// An erasure works in steps that can each be done again: a crash between two of them leaves a part, and the next call erases the rest. What
// waits is canceled first, and what is under way refuses the erasure, for its outcome would be written to rows that are gone.

// Person finds everything that is stored about a person of a company.
func (s *Store) Person(ctx context.Context, companyID string, q people.Query) (*people.Person, error) {
	p, err := people.Find(ctx, s.DB, companyID, q)
	return p, db.Wrap(err, "find a person")
}

// Erasure is the result of an erasure.
type Erasure struct {
	Hash string // the person's, in the record of changes
	Rows map[string]int
}

// Erase deletes everything that is stored about a person: the rows that are the person's, and each mention in others. The record of changes
// has a hash of the person. Errors: conflict while a message or a call is under way.
func (s *Store) Erase(ctx context.Context, p *people.Person, now time.Time) (*Erasure, error) {
	hash, err := s.hashOf(p)
	if err != nil {
		return nil, err
	}
	e := &Erasure{Hash: hash, Rows: map[string]int{}}
	if err := s.idle(ctx, p, now); err != nil {
		return nil, err
	}
	var solo []string // ids of notifications that go whole
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
	gone, err := s.ForgetEvents(ctx, p.CompanyID, func(e *events.Event) bool { return m.Matches(e.Subject) || m.Matches(string(e.Payload)) })
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
	deleted, err := people.Delete(ctx, s.DB, p)
	if err != nil {
		return nil, err
	}
	noted, err := people.EraseNotes(ctx, s.DB, p)
	if err != nil {
		return nil, err
	}
	e.Rows["contact"] += noted
	mentioned, err := people.EraseMentions(ctx, s.DB, p.CompanyID, m, "erased:"+hash)
	if err != nil {
		return nil, err
	}
	for _, rows := range []map[string]int{deleted, mentioned} {
		for table, n := range rows {
			if n > 0 {
				e.Rows[table] += n
			}
		}
	}
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if tx.SQLite() {
			if _, err := tx.Exec(ctx, "INSERT INTO meta (name, value) VALUES ('erased', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value", db.Millis(now)); err != nil {
				return err
			}
		}
		return tx.Record(ctx, now, audit.Entry{CompanyID: p.CompanyID, Kind: audit.SomePerson, ID: hash, Action: audit.Erased, After: e.Rows})
	})
	if err != nil {
		return nil, err
	}
	return e, s.CleanFile(ctx)
}

// hashOf identifies a person in the record of changes to those who know the number and the master key.
func (s *Store) hashOf(p *people.Person) (string, error) {
	key, err := s.Derive("erased people")
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(p.CompanyID))
	for _, of := range [][]string{p.Keys, p.Contacts} {
		if len(of) > 0 {
			_, _ = mac.Write([]byte(slices.Min(of))) // numbers sort before ids: both give the same hash
			break
		}
	}
	return hex.EncodeToString(mac.Sum(nil)[:12]), nil
}

// idle cancels what waits to be sent to a person, and refuses while something is under way.
func (s *Store) idle(ctx context.Context, p *people.Person, now time.Time) error {
	for _, seq := range p.Notifications {
		err := s.Update(ctx, func(ctx context.Context, tx *Tx) error { return cancelPerson(ctx, tx.Tx, p, seq, now) })
		s.stats.Touch(seq, err)
		if err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
	}
	keys := s.List(p.Keys)
	var n int
	err := s.Row(ctx, []any{&n}, "SELECT (SELECT COUNT(*) FROM message WHERE id "+s.In(2)+" AND q > 0) + (SELECT COUNT(*) FROM call WHERE company_id = $1 AND q > 0 AND number "+
		s.In(3)+") + (SELECT COUNT(*) FROM incoming_call WHERE company_id = $1 AND under_way AND number "+s.In(3)+")", p.CompanyID, s.List(p.Messages), keys)
	if err != nil {
		return db.Wrap(err, "look for what is under way")
	}
	if n > 0 {
		return carillon.InConflict("A message or a call of this person is under way; try again when it has ended")
	}
	return nil
}

// cancelPerson cancels the person's part of a notification as far as it has not begun.
func cancelPerson(ctx context.Context, tx *db.Tx, p *people.Person, seq carillon.Seq, now time.Time) error {
	n, err := tx.Exec(ctx, "UPDATE notification SET total = total WHERE seq = $1 AND company_id = $2 AND open > 0", int64(seq), p.CompanyID) // locks it
	if err != nil || n == 0 {
		return err
	}
	first, last := int64(seq.Message(0)), int64(seq.LastMessage())
	if _, err := tx.Exec(ctx, "UPDATE message SET q = 0, rank = $1, reason = $2, ended_at = $3 WHERE id BETWEEN $4 AND $5 AND q + 0 = 1 AND number "+tx.DB().In(6),
		int(rank.Canceled), string(carillon.ReasonCanceled), db.Millis(now), first, last, tx.DB().List(p.Keys)); err != nil {
		return err
	}
	_, _, calling, err := calls.Cancel(ctx, tx, seq, now)
	if err != nil {
		return err
	}
	var open int
	if err := tx.Row(ctx, []any{&open}, "SELECT COUNT(*) FROM message WHERE id BETWEEN $1 AND $2 AND "+stillOpen, first, last); err != nil {
		return err
	}
	ended := int64(0)
	if open += calling; open == 0 {
		ended = db.Millis(now)
	}
	_, err = tx.Exec(ctx, "UPDATE notification SET open = $1, done_at = $2 WHERE seq = $3", open, ended, int64(seq))
	return err
}

// eraseNotification deletes a notification to the person alone, and returns its id; of one to several only the person's part is erased.
func (s *Store) eraseNotification(ctx context.Context, p *people.Person, seq carillon.Seq, e *Erasure, now time.Time) (id string, err error) {
	n, err := s.LoadNotification(ctx, seq)
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
	all := []doomed{{seq: seq, campaign: n.Campaign, doneAt: db.Millis(n.DoneAt), messages: n.Total, numbers: p.Keys}}
	var gone Purged
	counts := stats.NewGone()
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		counts, gone = stats.NewGone(), Purged{}
		return purge(ctx, tx, &gone, p.CompanyID, all, db.Millis(now)+1, counts)
	})
	s.stats.TouchGone(counts, err)
	if err == nil && gone.Notifications == 0 {
		err = carillon.InConflict("A message or a call of this person is under way; try again when it has ended")
	}
	e.Rows["notification"] += gone.Notifications
	return n.ID, err
}

// erasePart erases one recipient of several: in the request, in the message and in the search.
func (s *Store) erasePart(ctx context.Context, p *people.Person, n *Notification) error {
	seq := carillon.SeqOf(n.ID)
	body, err := people.WithoutContacts(n.Body, func(i int) bool { return p.Has(seq, i) })
	if err != nil {
		return err
	}
	keys := s.List(p.Keys)
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE notification SET body = $1 WHERE seq = $2 AND company_id = $3", body, int64(seq), p.CompanyID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE message SET number = $1, detail = NULL WHERE id BETWEEN $2 AND $3 AND number "+tx.DB().In(4),
			carillon.ErasedNumber, int64(seq.Message(0)), int64(seq.LastMessage()), keys); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DELETE FROM search WHERE company_id = $1 AND field = 'number' AND seq = $2 AND value "+tx.DB().In(3), p.CompanyID, int64(seq), keys)
		return err
	})
}

// eraseRetries deletes the deliveries that wait for events that are gone.
func (s *Store) eraseRetries(ctx context.Context, companyID string, gone []events.Key) error {
	for _, key := range gone {
		if _, err := s.Exec(ctx, "DELETE FROM hook_retry WHERE company_id = $1 AND topic = $2 AND seq = $3", companyID, key.Topic, key.Seq); err != nil {
			return db.Wrap(err, "delete deliveries")
		}
	}
	return nil
}

// CleanFile writes SQLite's file again after an erasure, because a page may keep the bytes of rows that were deleted. Writes wait meanwhile:
// some ten seconds a gigabyte. A program that ended before does it at its next start.
func (s *Store) CleanFile(ctx context.Context) error {
	if !s.SQLite() {
		return nil
	}
	var at int64
	if err := db.Ignore(s.Row(ctx, []any{&at}, "SELECT value FROM meta WHERE name = 'erased'")); err != nil || at == 0 {
		return db.Wrap(err, "look for erasures")
	}
	err := s.OnWriter(context.WithoutCancel(ctx), func(ctx context.Context, conn *sql.Conn) error {
		// The copy is on disk: there may be no memory for it.
		if _, err := conn.ExecContext(ctx, "PRAGMA temp_store = FILE"); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "VACUUM")
		if _, restored := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY"); err == nil {
			err = restored
		}
		if err != nil {
			return err
		}
		return emptyLog(ctx, conn)
	})
	if err != nil {
		return db.Wrap(err, "clean the file")
	}
	// An erasure that came meanwhile has left a mark of its own.
	_, err = s.Exec(context.WithoutCancel(ctx), "DELETE FROM meta WHERE name = 'erased' AND value = $1", at)
	return db.Wrap(err, "clean the file")
}

// maxLogWait is the longest wait for readers and checkpoints of the write-ahead log before it is emptied.
const maxLogWait = 30 * time.Second

// emptyLog empties the write-ahead log, which has the pages from before.
func emptyLog(ctx context.Context, conn *sql.Conn) error {
	for end := time.Now().Add(maxLogWait); ; {
		var busy, pages, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		if time.Now().After(end) {
			return errors.New("the write-ahead log is being read")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
