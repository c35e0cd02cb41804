package chats

import (
	"context"

	"carillon/internal/store/db"
)

// Found is a contact that was found, with their latest conversation.
type Found struct {
	ID, Name, Email, Number, Username string
	ConversationID                    string // empty if there is none
}

// maxSearched is the number of contacts that a search reads, those seen last: names have no index for parts of them.
const maxSearched = 2000

// Search returns up to limit of the contacts of a company seen last whose name, e-mail address or user name contains a
// text, in any case, or whose number contains digits. Empty digits match no number.
func (s *Contacts) Search(ctx context.Context, companyID, text, digits string, limit int) ([]Found, error) {
	like, numbers := "%"+likeEscaper.Replace(text)+"%", ""
	if digits != "" {
		numbers = "%" + digits + "%"
	}
	return db.Collect(ctx, s.d, "contacts", func(scan db.Scan) (f Found, err error) {
		err = scan(&f.ID, &f.Name, &f.Email, &f.Number, &f.Username, &f.ConversationID)
		return f, err
	}, `SELECT k.id, k.name, k.email, k.number, k.username, COALESCE((SELECT c.id FROM conversation AS c
			WHERE c.contact_id = k.id AND c.company_id = $1 ORDER BY c.contact_id DESC, c.opened_at DESC LIMIT 1), '')
		FROM (SELECT id, name, email, number, username FROM contact WHERE company_id = $1
			ORDER BY company_id DESC, seen_at DESC LIMIT $2) AS k
		WHERE LOWER(k.name) LIKE LOWER($3) ESCAPE '\' OR LOWER(k.email) LIKE LOWER($3) ESCAPE '\'
			OR LOWER(k.username) LIKE LOWER($3) ESCAPE '\' OR k.number LIKE $4 LIMIT $5`,
		companyID, maxSearched, like, numbers, limit)
}
