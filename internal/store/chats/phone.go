package chats

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Phone is the state of a sandbox phone besides its messages.
type Phone struct {
	CompanyID   string
	SenderUID   int64
	Number      string
	Unreachable bool
	ReadAt      time.Time // time until which the company has read the phone's messages; zero for none
	TypingUntil time.Time
}

// maxUnreachable bounds the unreachable phones of a company.
const maxUnreachable = 100

// Phones are the phones of the sandbox.
type Phones struct{ d *db.DB }

// NewPhones returns the phones of a database.
func NewPhones(d *db.DB) *Phones { return &Phones{d} }

// Phone returns the state of a phone of a company's sender; an unknown phone has the zero state.
func (s *Phones) Phone(ctx context.Context, companyID string, senderUID int64, number string) (*Phone, error) {
	p, err := db.Find(ctx, s.d, "phone", scanPhone,
		"SELECT "+phoneColumns+" FROM sandbox_phone WHERE sender_uid = $1 AND number = $2 AND company_id = $3",
		senderUID, number, companyID)
	if p == nil && err == nil {
		p = &Phone{CompanyID: companyID, SenderUID: senderUID, Number: number}
	}
	return p, err
}

const phoneColumns = "company_id, sender_uid, number, unreachable, read_at, typing_until"

func scanPhone(scan db.Scan) (*Phone, error) {
	var p Phone
	var read, typing int64
	err := scan(&p.CompanyID, &p.SenderUID, &p.Number, &p.Unreachable, &read, &typing)
	p.ReadAt, p.TypingUntil = db.Instant(read), db.Instant(typing)
	return &p, err
}

// SetUnreachable records whether a phone is unreachable. Errors: limit_exceeded if a company has too many unreachable
// phones.
func (s *Phones) SetUnreachable(ctx context.Context, companyID string, senderUID int64, number string, unreachable bool,
	now time.Time,
) error {
	return db.Wrap(s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if unreachable {
			var n int
			if err := tx.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM sandbox_phone WHERE company_id = $1 AND unreachable AND NOT "+
				"(sender_uid = $2 AND number = $3)",
				companyID, senderUID, number); err != nil {
				return err
			}
			if n >= maxUnreachable {
				return &carillon.Error{Code: carillon.LimitExceeded, Message: "Too many phones are unreachable", Details: carillon.Details{
					{Key: "limit", Value: maxUnreachable}, {Key: "used", Value: n},
				}}
			}
		}
		_, err := tx.Exec(ctx,
			`INSERT INTO sandbox_phone (company_id, sender_uid, number, unreachable, changed_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (sender_uid, number) DO UPDATE SET unreachable = excluded.unreachable, changed_at = excluded.changed_at
			WHERE sandbox_phone.company_id = excluded.company_id`, companyID, senderUID, number, unreachable, db.Millis(now))
		return err
	}), "write phone")
}

// MarkPhone records that a company has read a phone's messages up to now. A later end of its typing indicator replaces
// the previous one; the zero time keeps it.
func (s *Phones) MarkPhone(ctx context.Context, companyID string, senderUID int64, number string, now, typingUntil time.Time) error {
	_, err := s.d.Exec(ctx,
		`INSERT INTO sandbox_phone (company_id, sender_uid, number, read_at, typing_until, changed_at) VALUES ($1, $2, $3, $4, $5, $4)
		ON CONFLICT (sender_uid, number) DO UPDATE SET read_at = excluded.read_at, changed_at = excluded.changed_at,
			typing_until = CASE WHEN excluded.typing_until > sandbox_phone.typing_until
				THEN excluded.typing_until ELSE sandbox_phone.typing_until END
		WHERE sandbox_phone.company_id = excluded.company_id`, companyID, senderUID, number, db.Millis(now), db.Millis(typingUntil))
	return db.Wrap(err, "write phone")
}

// Unreachable returns at most `most` unreachable phones of all companies.
func (s *Phones) Unreachable(ctx context.Context, most int) ([]*Phone, error) {
	return db.Collect(ctx, s.d, "phones", scanPhone,
		"SELECT "+phoneColumns+" FROM sandbox_phone WHERE unreachable AND company_id > '' ORDER BY company_id LIMIT $1", most)
}
