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

// noNumber is a pattern that matches no number, not even an empty one.
const noNumber = "-"

// Search returns up to limit of a company's contacts, of those seen last. It matches a text with names, e-mail addresses
// and user names, in any case, and digits with numbers. Empty digits match no number.
func (s *Contacts) Search(ctx context.Context, companyID, text, digits string, limit int) ([]Found, error) {
	like, numbers := "%"+likeEscaper.Replace(text)+"%", noNumber
	if digits != "" {
		numbers = "%" + digits + "%"
	}
	return db.Collect(ctx, s.d, "contacts", func(scan db.Scan) (f Found, err error) {
		err = scan(&f.ID, &f.Name, &f.Email, &f.Number, &f.Username, &f.ConversationID)
		return f, err
	}, `SELECT recent.id, recent.name, recent.email, recent.number, recent.username, COALESCE((SELECT c.id FROM conversation AS c
			WHERE c.contact_id = recent.id AND c.company_id = $1 ORDER BY c.contact_id DESC, c.opened_at DESC LIMIT 1), '')
		FROM (SELECT id, name, email, number, username FROM contact WHERE company_id = $1
			ORDER BY company_id DESC, seen_at DESC LIMIT $2) AS recent
		WHERE LOWER(recent.name) LIKE LOWER($3) ESCAPE '\' OR LOWER(recent.email) LIKE LOWER($3) ESCAPE '\'
			OR LOWER(recent.username) LIKE LOWER($3) ESCAPE '\' OR recent.number LIKE $4 LIMIT $5`,
		companyID, maxSearched, like, numbers, limit)
}
