package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// rankByBM25 ranks the articles by the full-text search of SQLite, as a yardstick; English words by their stems.
func (m *measurement) rankByBM25(ctx context.Context, s *set) (err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // another connection would open another database
	words := "unicode61 remove_diacritics 2"
	if s.language == "en" {
		words = "porter " + words
	}
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE article USING fts5(text, tokenize='`+words+`')`); err != nil {
		return err
	}
	for i, a := range s.articles {
		if _, err := db.ExecContext(ctx, `INSERT INTO article (rowid, text) VALUES ($1, $2)`, i, a.Text); err != nil {
			return err
		}
	}
	for i := range s.questions {
		q := &s.questions[i]
		found, err := bm25(ctx, db, q.text)
		if err != nil {
			return err
		}
		q.bm25 = slices.Index(found, q.article)
	}
	return nil
}

func bm25(ctx context.Context, db *sql.DB, question string) (found []int, err error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	query := `"` + strings.Join(words, `" OR "`) + `"`
	rows, err := db.QueryContext(ctx, `SELECT rowid FROM article WHERE article MATCH $1 ORDER BY bm25(article) LIMIT $2`, query, first5)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		found = append(found, id)
	}
	return found, rows.Err()
}
