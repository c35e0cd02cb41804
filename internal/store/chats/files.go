package chats

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// FilePartSize is the size of all parts of a file except the last.
const FilePartSize = 256 << 10

// StoredFile describes a file.
type StoredFile struct {
	ID             string
	CompanyID      string
	ConversationID string // empty for media of notifications
	SentBy         string // contact, teammate or access key
	Name           string
	Type           string // media type of the content
	Size           int64
	SHA256         string // hexadecimal
	CreatedAt      time.Time
	ExpiresAt      time.Time // zero if it expires with its conversation
}

// FileRoom bounds the stored files.
type FileRoom struct {
	Company      int64 // bytes per company
	Conversation int   // files per conversation
}

// Files is the SQL of the files in conversations and notifications. Their bytes are in the database, so that every node
// and every backup has them (docs/adr/0023), in parts, to keep writes short. Its methods are safe for concurrent use.
type Files struct{ d *db.DB }

// NewFiles returns the store of a database.
func NewFiles(d *db.DB) *Files { return &Files{d} }

// Begin stores a file with its first part; whole means that there are no more parts. Errors: limit_exceeded, not_found
// if the conversation is missing.
func (s *Files) Begin(ctx context.Context, f *StoredFile, first []byte, whole bool, room FileRoom) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.fits(ctx, tx, f, room); err != nil {
			return err
		}
		if f.ConversationID != "" {
			var one int
			err := tx.Row(ctx, []any{&one}, "SELECT 1 FROM conversation WHERE id = $1 AND company_id = $2", f.ConversationID, f.CompanyID)
			if err != nil {
				return db.Absent(err, "Conversation")
			}
		}
		if _, err := tx.Exec(ctx,
			`INSERT INTO file (id, company_id, conversation_id, sent_by, name, type, size, sha256, whole, created_at, expires_at)
			VALUES ($1, $2, NULLIF($3, ''), $4, $5, $6, $7, $8, $9, $10, $11)`, f.ID, f.CompanyID, f.ConversationID, f.SentBy,
			f.Name, f.Type, f.Size,
			f.SHA256, whole, db.Millis(f.CreatedAt), db.Millis(f.ExpiresAt)); err != nil {
			return db.Wrap(err, "write file")
		}
		return addFilePart(ctx, tx, f.ID, 0, first)
	})
}

// fits checks that a file's size, as far as known, is within the bounds.
func (s *Files) fits(ctx context.Context, tx *db.Tx, f *StoredFile, room FileRoom) error {
	var used int64
	if err := tx.Row(ctx, []any{&used}, "SELECT COALESCE(SUM(size), 0) FROM file WHERE company_id = $1", f.CompanyID); err != nil {
		return db.Wrap(err, "add up files")
	}
	if used+f.Size > room.Company {
		return filesFull("The company has no room for more files", room.Company, used)
	}
	if f.ConversationID == "" {
		return nil
	}
	var n int64
	if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM file WHERE conversation_id = $1", f.ConversationID); err != nil {
		return db.Wrap(err, "count files")
	}
	if n >= int64(room.Conversation) {
		return filesFull("The conversation has too many files", int64(room.Conversation), n)
	}
	return nil
}

func filesFull(message string, limit, used int64) error {
	return &carillon.Error{
		Code: carillon.LimitExceeded, Message: message, Details: carillon.Details{{Key: "limit", Value: limit}, {Key: "used", Value: used}},
	}
}

func addFilePart(ctx context.Context, tx *db.Tx, id string, part int, bytes []byte) error {
	_, err := tx.Exec(ctx, "INSERT INTO file_part (file_id, part, bytes) VALUES ($1, $2, $3)", id, part, bytes)
	return db.Wrap(err, "write a part of a file")
}

// Append stores the next part.
func (s *Files) Append(ctx context.Context, id string, part int, bytes []byte) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return addFilePart(ctx, tx, id, part, bytes) })
}

// Replace replaces a part.
func (s *Files) Replace(ctx context.Context, id string, part int, bytes []byte) error {
	_, err := s.d.Exec(ctx, "UPDATE file_part SET bytes = $1 WHERE file_id = $2 AND part = $3", bytes, id, part)
	return db.Wrap(err, "write a part of a file again")
}

// Finish stores the final size and digest of a file. Errors: limit_exceeded.
func (s *Files) Finish(ctx context.Context, f *StoredFile, room FileRoom) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.fits(ctx, tx, &StoredFile{CompanyID: f.CompanyID, Size: f.Size}, room); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "UPDATE file SET type = $1, name = $2, size = $3, sha256 = $4, whole = TRUE WHERE id = $5 AND "+
			"company_id = $6",
			f.Type, f.Name, f.Size, f.SHA256, f.ID, f.CompanyID)
		if err == nil && n == 0 { // its conversation was deleted meanwhile
			return carillon.Absent("File")
		}
		return db.Wrap(err, "finish file")
	})
}

const fileColumns = "id, company_id, COALESCE(conversation_id, ''), sent_by, name, type, size, sha256, created_at, expires_at"

func scanFile(row db.Scan) (*StoredFile, error) {
	var f StoredFile
	var created, expires int64
	err := row(&f.ID, &f.CompanyID, &f.ConversationID, &f.SentBy, &f.Name, &f.Type, &f.Size, &f.SHA256, &created, &expires)
	f.CreatedAt, f.ExpiresAt = db.Instant(created), db.Instant(expires)
	return &f, err
}

// Find returns a complete file of any company. Errors: not_found.
func (s *Files) Find(ctx context.Context, id string) (*StoredFile, error) {
	f, err := db.Find(ctx, s.d, "file", scanFile, "SELECT "+fileColumns+" FROM file WHERE id = $1 AND whole", id)
	if err == nil && f == nil {
		return nil, carillon.Absent("File")
	}
	return f, err
}

// Keep returns a complete file of a conversation whose sender is about to show it, and removes its expiry. Errors:
// not_found.
func (s *Files) Keep(ctx context.Context, companyID, conversationID, sentBy, id string) (*StoredFile, error) {
	return db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (*StoredFile, error) {
		f, err := db.Find(ctx, tx, "file", scanFile,
			`UPDATE file SET expires_at = 0 WHERE id = $1 AND company_id = $2 AND conversation_id = $3
			AND sent_by = $4 AND whole RETURNING `+fileColumns, id, companyID, conversationID, sentBy)
		if err == nil && f == nil {
			return nil, carillon.Absent("File")
		}
		return f, err
	})
}

// Part returns a part of a file. Errors: not_found.
func (s *Files) Part(ctx context.Context, id string, part int) (bytes []byte, err error) {
	err = s.d.Row(ctx, []any{&bytes}, "SELECT bytes FROM file_part WHERE file_id = $1 AND part = $2", id, part)
	return bytes, db.Absent(err, "File")
}

// Drop deletes a file that could not be stored completely.
func (s *Files) Drop(ctx context.Context, id string) error {
	_, err := s.d.Exec(ctx, "DELETE FROM file WHERE id = $1 AND NOT whole", id)
	return db.Wrap(err, "delete file")
}
