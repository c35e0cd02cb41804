package db

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// dialect holds the engines' differences in the texts of the schema and of queries.
type dialect struct {
	name         string
	goose        goose.Dialect
	schema       *strings.Replacer // replaces the placeholders of migrations
	sqlite       bool
	in, elements string // see In and Elements
}

func sqliteDialect() dialect {
	return dialect{
		name: "sqlite", goose: goose.DialectSQLite3, sqlite: true,
		schema: strings.NewReplacer("{without_rowid}", " WITHOUT ROWID", "{integer_key}", "INTEGER PRIMARY KEY", "{bytes}", "BLOB",
			"{hot}", "", "{on_postgres}", "-- "),
		in: "IN (SELECT value FROM json_each($%d))", elements: "json_each($%d)",
	}
}

func postgresDialect() dialect {
	return dialect{
		name: "postgres", goose: goose.DialectPostgres,
		// Texts are compared byte by byte, as on SQLite: names have the same order for every language of the database,
		// and an update of the system's collation rules damages no index.
		schema: strings.NewReplacer(" TEXT", ` TEXT COLLATE "C"`, "{without_rowid}", "", "{integer_key}", "BIGINT PRIMARY KEY",
			"{bytes}", "BYTEA", "{hot}",
			" WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01)", "{on_postgres}", ""),
		in: "= ANY($%d)", elements: "jsonb_array_elements($%d::jsonb)",
	}
}

// In returns the condition that a column is in the list of parameter n.
func (d *dialect) In(n int) string { return fmt.Sprintf(d.in, n) }

// List returns a slice of numbers or texts as the argument for In.
func (d *dialect) List(values any) any {
	if d.sqlite {
		return JSON(values)
	}
	return values
}

// Elements returns a table of one column, `value`, with the elements of the JSON array in parameter n (JSON).
func (d *dialect) Elements(n int) string { return fmt.Sprintf(d.elements, n) }

// JSON returns a slice of numbers and texts, or of slices of them, as the argument for Elements.
func JSON(values any) string {
	text, _ := json.Marshal(values) // numbers and texts
	return storableJSON(string(text))
}

// retryable reports whether a transaction failed only because of a concurrent one: a deadlock or a serialization
// failure on PostgreSQL. Such a transaction is run again.
func retryable(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && (pe.Code == "40P01" || pe.Code == "40001")
}

// lockTimeout reports whether a statement waited too long for rows of another transaction, such as that of a node that
// stopped, until the database ends its session.
func lockTimeout(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "55P03"
}

// Duplicate reports whether err is a violation of UNIQUE or a primary key on either engine.
func Duplicate(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pe.Code == "23505"
	}
	var se interface{ Code() int }
	return errors.As(err, &se) && (se.Code() == 2067 || se.Code() == 1555)
}

// fatal reports whether the server ended the connection with this error, which then does not concern the statement.
func fatal(pe *pgconn.PgError) bool {
	return pe.SeverityUnlocalized == "FATAL" || pe.SeverityUnlocalized == "PANIC"
}
