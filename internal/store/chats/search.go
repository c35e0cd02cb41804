package chats

import (
	"cmp"
	"context"
	"slices"

	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// Found is a contact that was found, with their latest conversation.
type Found struct {
	ID, Name, Email, Number, Username string
	ConversationID                    string // empty if there is none
}

// maxSearched is the number of contacts that a search reads, those seen last: parts of names have no index.
const maxSearched = 2000

// noNumber is a pattern that matches no number, not even an empty one.
const noNumber = "-"

// foundSQL begins a query for contacts that were found.
const foundSQL = `SELECT recent.id, recent.name, recent.email, recent.number, recent.username, COALESCE((SELECT c.id FROM conversation AS c
	WHERE c.contact_id = recent.id AND c.company_id = $1 ORDER BY c.contact_id DESC, c.opened_at DESC LIMIT 1), '') FROM `

// Search returns up to limit of a company's contacts: first those with exactly the key or the e-mail address, then, of
// those seen last, those with the text in their name, e-mail address or user name, in any case, or with the digits in
// their number. A key that is zero and empty digits match nobody.
func (s *Contacts) Search(ctx context.Context, companyID, text string, key identity.Key, digits string, limit int) ([]Found, error) {
	exact, err := s.found(ctx, foundSQL+`(SELECT id, name, email, number, username FROM contact
		WHERE company_id = $1 AND id IN (SELECT contact_id FROM contact_identity WHERE company_id = $1 AND value = $2)
		UNION ALL SELECT id, name, email, number, username FROM contact
		WHERE company_id = $1 AND email <> '' AND LOWER(email) = LOWER($3)) AS recent LIMIT $4`,
		companyID, cmp.Or(key.String(), noNumber), text, limit)
	if err != nil {
		return nil, err
	}
	like, numbers := "%"+likeEscaper.Replace(text)+"%", noNumber
	if digits != "" {
		numbers = "%" + digits + "%"
	}
	recent, err := s.found(ctx, foundSQL+`(SELECT id, name, email, number, username FROM contact WHERE company_id = $1
			ORDER BY company_id DESC, seen_at DESC LIMIT $2) AS recent
		WHERE LOWER(recent.name) LIKE LOWER($3) ESCAPE '\' OR LOWER(recent.email) LIKE LOWER($3) ESCAPE '\'
			OR LOWER(recent.username) LIKE LOWER($3) ESCAPE '\' OR recent.number LIKE $4
		LIMIT $5`, companyID, maxSearched, like, numbers, limit)
	var all []Found
	for _, f := range append(exact, recent...) {
		if len(all) < limit && !slices.ContainsFunc(all, func(e Found) bool { return e.ID == f.ID }) {
			all = append(all, f)
		}
	}
	return all, err
}

func (s *Contacts) found(ctx context.Context, query string, args ...any) ([]Found, error) {
	return db.Collect(ctx, s.d, "contacts", func(scan db.Scan) (f Found, err error) {
		err = scan(&f.ID, &f.Name, &f.Email, &f.Number, &f.Username, &f.ConversationID)
		return f, err
	}, query, args...)
}
