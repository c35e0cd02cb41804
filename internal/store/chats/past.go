package chats

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/store/db"
)

// Past reads and writes the history of numbers that were used in the channel's own app: its parts as received, the messages
// in them until they are turns, and the state of the imports. Its methods are safe for concurrent use.
type Past struct {
	d     *db.DB
	chats *Store
}

// NewPast returns the history in a database's conversations.
func NewPast(s *Store) *Past { return &Past{s.d, s} }

// PastPart is a received part of a sender's history.
type PastPart struct {
	SenderUID  int64
	Digest     string
	CompanyID  string
	Kind       string
	Content    string
	Tries      int
	ReceivedAt time.Time
}

// PastImport is the state of a sender's import. Times are zero if it did not happen.
type PastImport struct {
	SenderUID     int64
	CompanyID     string
	AskedAt       time.Time // when the company asked for the conversations
	ContactsAt    time.Time // when it asked for the contacts
	Phase         int
	Progress      int
	Refused       bool
	Messages      int64
	Conversations int64
	Names         int64
	ReceivedAt    time.Time // last part
	DueAt         time.Time // zero if nothing is left to do
}

// Receive stores parts and returns the number of new ones. A part stored before is left unchanged.
func (s *Past) Receive(ctx context.Context, all []PastPart) (n int, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		for _, p := range all {
			made, err := tx.Exec(ctx, `INSERT INTO past_part (sender_uid, digest, company_id, kind, content, due_at, received_at)
				VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (sender_uid, digest) DO NOTHING`,
				p.SenderUID, p.Digest, p.CompanyID, p.Kind, p.Content, db.Millis(p.ReceivedAt))
			if err != nil {
				return err
			}
			if made == 0 {
				continue
			}
			n++
			if _, err := tx.Exec(ctx, `INSERT INTO past_import (sender, company_id, received_at, due_at)
				SELECT uid, company_id, $3, $3 FROM sender WHERE uid = $1 AND company_id = $2
				ON CONFLICT (sender) DO UPDATE SET received_at = excluded.received_at,
				due_at = CASE WHEN past_import.due_at = 0 OR past_import.node = '' THEN excluded.due_at ELSE past_import.due_at END`,
				p.SenderUID, p.CompanyID, db.Millis(p.ReceivedAt)); err != nil {
				return err
			}
		}
		return nil
	})
	return n, db.Wrap(err, "store parts of a history")
}

const importColumns = `sender, company_id, asked_at, contacts_at, phase, progress, refused, messages, conversations, names, received_at,
	due_at`

func scanImport(scan db.Scan) (*PastImport, error) {
	var x PastImport
	var asked, contacts, received, due int64
	err := scan(&x.SenderUID, &x.CompanyID, &asked, &contacts, &x.Phase, &x.Progress, &x.Refused, &x.Messages, &x.Conversations, &x.Names,
		&received, &due)
	x.AskedAt, x.ContactsAt, x.ReceivedAt, x.DueAt = db.Instant(asked), db.Instant(contacts), db.Instant(received), db.Instant(due)
	return &x, err
}

// Import returns the state of a sender's import; the zero value if there is none.
func (s *Past) Import(ctx context.Context, companyID string, senderUID int64) (PastImport, error) {
	x, err := db.Find(ctx, s.d, "import", scanImport, "SELECT "+importColumns+" FROM past_import WHERE sender = $1 AND company_id = $2",
		senderUID, companyID)
	if err != nil || x == nil {
		return PastImport{SenderUID: senderUID, CompanyID: companyID}, err
	}
	return *x, nil
}

// Asked records that the channel accepted a company's request for a sender's conversations or contacts.
func (s *Past) Asked(ctx context.Context, companyID string, senderUID int64, contacts bool, now time.Time) error {
	column := "asked_at"
	if contacts {
		column = "contacts_at"
	}
	_, err := s.d.Exec(ctx, "INSERT INTO past_import (sender, company_id, "+column+`) SELECT uid, company_id, $3 FROM sender
		WHERE uid = $1 AND company_id = $2 ON CONFLICT (sender) DO UPDATE SET `+column+" = excluded."+column+", refused = FALSE",
		senderUID, companyID, db.Millis(now))
	return db.Wrap(err, "record a request for a history")
}

// Due returns at most `most` imports that can continue, longest due first, of all companies except those in
// `without`.
func (s *Past) Due(ctx context.Context, now time.Time, most int, without []string) ([]*PastImport, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "imports", scanImport, "SELECT "+importColumns+" FROM past_import WHERE due_at > 0 AND due_at <= $1"+
		db.Here+others+
		" ORDER BY due_at LIMIT $2", args...)
}

// Claim reserves a due import for a node until an instant. Of concurrent claims, only one returns true.
func (s *Past) Claim(ctx context.Context, x *PastImport, node string, now, until time.Time) (bool, error) {
	n, err := s.d.Exec(ctx, `UPDATE past_import SET due_at = $1, node = $5
		WHERE sender = $2 AND company_id = $3 AND due_at > 0 AND due_at <= $4`+db.Here,
		db.Millis(until), x.SenderUID, x.CompanyID, db.Millis(now), node)
	return n > 0, db.Wrap(err, "claim an import")
}

// Release gives a claimed import back until next; zero means that nothing is left to do. An import that got more parts since
// `seen` is due immediately.
func (s *Past) Release(ctx context.Context, x *PastImport, seen, now, next time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE past_import SET due_at = CASE WHEN received_at > $3 THEN CAST($4 AS BIGINT) ELSE $5 END, node = ''
		WHERE sender = $1 AND company_id = $2`, x.SenderUID, x.CompanyID, db.Millis(seen), db.Millis(now), db.Millis(next))
	return db.Wrap(err, "release an import")
}

// Recover makes the claimed imports of dead nodes due. alone means that this process is the only user of the database, so
// all of them are.
func (s *Past) Recover(ctx context.Context, now time.Time, alone bool) error {
	query := "UPDATE past_import SET due_at = $1, node = '' WHERE due_at > 0 AND due_at > $1 AND node <> ''"
	if !alone {
		query += " AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.id = past_import.node)"
	}
	_, err := s.d.Exec(ctx, query, db.Millis(now))
	return db.Wrap(err, "recover imports")
}

// NextPart returns the oldest unread part of a sender; nil if there is none.
func (s *Past) NextPart(ctx context.Context, companyID string, senderUID int64) (*PastPart, error) {
	return db.Find(ctx, s.d, "part", func(scan db.Scan) (*PastPart, error) {
		var p PastPart
		var received int64
		err := scan(&p.SenderUID, &p.Digest, &p.CompanyID, &p.Kind, &p.Content, &p.Tries, &received)
		p.ReceivedAt = db.Instant(received)
		return &p, err
	}, `SELECT sender_uid, digest, company_id, kind, content, tries, received_at FROM past_part
		WHERE due_at > 0 AND sender_uid = $1 AND company_id = $2 ORDER BY received_at LIMIT 1`, senderUID, companyID)
}

// TryPart counts an attempt to read a part.
func (s *Past) TryPart(ctx context.Context, p *PastPart) error {
	_, err := s.d.Exec(ctx, "UPDATE past_part SET tries = tries + 1 WHERE sender_uid = $1 AND digest = $2 AND company_id = $3",
		p.SenderUID, p.Digest, p.CompanyID)
	return db.Wrap(err, "count an attempt")
}

// PartResult is the result of reading a part.
type PartResult struct {
	Phase    int
	Progress int // -1 if the part does not say
	Refused  bool
	Names    int
}

// EndPart drops the content of a part that was read, and records its result.
func (s *Past) EndPart(ctx context.Context, p *PastPart, r PartResult) error {
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE past_part SET content = '', due_at = 0
			WHERE sender_uid = $1 AND digest = $2 AND company_id = $3`, p.SenderUID, p.Digest, p.CompanyID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE past_import SET phase = CASE WHEN phase < $3 THEN $3 ELSE phase END,
			progress = CASE WHEN progress < $4 THEN $4 ELSE progress END, refused = refused OR $5, names = names + $6
			WHERE sender = $1 AND company_id = $2`, p.SenderUID, p.CompanyID, r.Phase, r.Progress, r.Refused, r.Names)
		return err
	}), "end a part")
}

// PastRow is a message of the history that is not a turn yet, or that has a file to load.
type PastRow struct {
	SenderUID      int64
	ProviderID     string
	CompanyID      string
	Person         string // number, or the channel's id
	At             time.Time
	Content        string // JSON, defined by the caller
	Absent         bool   // the message had a file that the channel has not named
	ConversationID string
	Seq            int64
	Tries          int // at its file
}

// Stage stores messages of a part that is not read completely yet, and returns the number of new ones. Messages that were
// received before are skipped. A message whose file was absent gets the file.
func (s *Past) Stage(ctx context.Context, p *PastPart, all []PastRow, now time.Time) (n int, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = 0
		var unread int
		if err := tx.Row(ctx, []any{&unread}, "SELECT COUNT(*) FROM past_part WHERE due_at > 0 AND sender_uid = $1 AND digest = $2 "+
			"AND company_id = $3 AND content = $4", p.SenderUID, p.Digest, p.CompanyID, p.Content); err != nil {
			return err
		}
		if unread == 0 { // somebody else read it, or a person was erased from it
			return ErrOvertaken
		}
		for _, r := range all {
			made, err := stage(ctx, tx, &r, now)
			if err != nil {
				return err
			}
			n += made
		}
		_, err := tx.Exec(ctx, "UPDATE past_import SET messages = messages + $3 WHERE sender = $1 AND company_id = $2", p.SenderUID,
			p.CompanyID, n)
		return err
	})
	return n, db.Wrap(err, "store messages of a history")
}

func stage(ctx context.Context, tx *db.Tx, r *PastRow, now time.Time) (int, error) {
	if !r.Absent {
		n, err := tx.Exec(ctx, `UPDATE past_message SET content = $4, absent = FALSE,
			file_at = CASE WHEN conversation_id <> '' THEN CAST($5 AS BIGINT) ELSE 0 END
			WHERE sender_uid = $1 AND provider_id = $2 AND company_id = $3 AND absent`,
			r.SenderUID, r.ProviderID, r.CompanyID, r.Content, db.Millis(now))
		if err != nil || n > 0 {
			return 0, err
		}
	}
	n, err := tx.Exec(ctx, `INSERT INTO past_message (sender_uid, provider_id, company_id, number, at, content, absent, received_at)
		SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT), $7,
			CAST($8 AS BIGINT)
		WHERE NOT EXISTS (SELECT 1 FROM inbound_message WHERE sender_uid = $1 AND provider_id = $2)
		ON CONFLICT (sender_uid, provider_id) DO NOTHING`,
		r.SenderUID, r.ProviderID, r.CompanyID, r.Person, db.Millis(r.At), r.Content, r.Absent, db.Millis(now))
	return int(n), err
}

// Absent returns the messages among ids whose files were absent, by id.
func (s *Past) Absent(ctx context.Context, companyID string, senderUID int64, ids []string) (map[string]PastRow, error) {
	found := map[string]PastRow{}
	if len(ids) == 0 {
		return found, nil
	}
	all, err := db.Collect(ctx, s.d, "messages without files", scanPastRow, "SELECT "+pastRowColumns+` FROM past_message
		WHERE sender_uid = $1 AND company_id = $2 AND absent AND provider_id `+s.d.In(3), senderUID, companyID, s.d.List(ids))
	for _, r := range all {
		found[r.ProviderID] = r
	}
	return found, err
}

const pastRowColumns = "sender_uid, provider_id, company_id, number, at, content, absent, conversation_id, seq, tries"

func scanPastRow(scan db.Scan) (r PastRow, err error) {
	var at int64
	err = scan(&r.SenderUID, &r.ProviderID, &r.CompanyID, &r.Person, &at, &r.Content, &r.Absent, &r.ConversationID, &r.Seq, &r.Tries)
	r.At = db.Instant(at)
	return r, err
}

// Unbuilt returns at most `most` messages of one person that are not turns yet, oldest first; none if all are.
func (s *Past) Unbuilt(ctx context.Context, companyID string, senderUID int64, most int) ([]PastRow, error) {
	var person string
	if err := s.d.Row(ctx, []any{&person}, `SELECT number FROM past_message WHERE conversation_id = '' AND sender_uid = $1
		AND company_id = $2 ORDER BY number LIMIT 1`, senderUID, companyID); err != nil {
		return nil, db.Wrap(db.Ignore(err), "find messages of a history")
	}
	return db.Collect(ctx, s.d, "messages of a history", scanPastRow, "SELECT "+pastRowColumns+` FROM past_message
		WHERE conversation_id = '' AND sender_uid = $1 AND number = $2 AND company_id = $3 ORDER BY at, provider_id LIMIT $4`,
		senderUID, person, companyID, most)
}

// NextFile returns the message whose file is to be loaded next; nil if none is due.
func (s *Past) NextFile(ctx context.Context, companyID string, senderUID int64, now time.Time) (*PastRow, error) {
	return db.Find(ctx, s.d, "file of a history", func(scan db.Scan) (*PastRow, error) {
		r, err := scanPastRow(scan)
		return &r, err
	}, "SELECT "+pastRowColumns+` FROM past_message WHERE file_at > 0 AND file_at <= $3 AND sender_uid = $1 AND company_id = $2
		ORDER BY file_at LIMIT 1`, senderUID, companyID, db.Millis(now))
}

// FileDue returns when the next file of a sender is to be loaded; zero if there is none.
func (s *Past) FileDue(ctx context.Context, companyID string, senderUID int64) (time.Time, error) {
	var at int64
	err := s.d.Row(ctx, []any{&at}, `SELECT COALESCE(MIN(file_at), 0) FROM past_message WHERE file_at > 0 AND sender_uid = $1
		AND company_id = $2`, senderUID, companyID)
	return db.Instant(at), db.Wrap(err, "find files of a history")
}

// DelayFile puts the next attempt to load a file off.
func (s *Past) DelayFile(ctx context.Context, r *PastRow, due time.Time) error {
	_, err := s.d.Exec(ctx, `UPDATE past_message SET file_at = $4, tries = tries + 1
		WHERE sender_uid = $1 AND provider_id = $2 AND company_id = $3`, r.SenderUID, r.ProviderID, r.CompanyID, db.Millis(due))
	return db.Wrap(err, "put a file off")
}

// EndFile replaces the turn of a message by one with its file, or with the reason why it is missing. The turn keeps its seq, time and
// client id. Nothing happens if the conversation is gone.
func (s *Past) EndFile(ctx context.Context, r *PastRow, t *Turn) error {
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE turn SET author = $1, kind = $2, text = $3, payload = $4 WHERE conversation_id = $5 AND seq = $6
			AND EXISTS (SELECT 1 FROM conversation AS c WHERE c.id = $5 AND c.company_id = $7)`, string(t.Author), t.Kind, t.Text,
			extraText(&t.Extra), r.ConversationID, r.Seq, r.CompanyID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE past_message SET content = '', file_at = 0 WHERE sender_uid = $1 AND provider_id = $2
			AND company_id = $3`, r.SenderUID, r.ProviderID, r.CompanyID)
		return err
	}), "store a file of a history")
}

// Drop forgets everything that is not imported of a removed sender.
func (s *Past) Drop(ctx context.Context, x *PastImport) error {
	for _, query := range []string{
		"UPDATE past_part SET content = '', due_at = 0 WHERE sender_uid = $1 AND company_id = $2",
		"DELETE FROM past_message WHERE sender_uid = $1 AND company_id = $2",
		"UPDATE past_import SET due_at = 0, node = '' WHERE sender = $1 AND company_id = $2",
	} {
		if _, err := s.d.Exec(ctx, query, x.SenderUID, x.CompanyID); err != nil {
			return fmt.Errorf("drop a history: %w", err)
		}
	}
	return nil
}
