package db

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// dialect holds all that differs between the engines in the schema's text.
type dialect struct {
	name   string
	goose  goose.Dialect
	schema *strings.Replacer // fills the placeholders of migrations
	sqlite bool
}

func sqliteDialect() dialect {
	return dialect{
		name: "sqlite", goose: goose.DialectSQLite3, sqlite: true,
		schema: strings.NewReplacer("{without_rowid}", " WITHOUT ROWID", "{integer_key}", "INTEGER PRIMARY KEY", "{hot}", ""),
	}
}

func postgresDialect() dialect {
	return dialect{
		name: "postgres", goose: goose.DialectPostgres,
		// Texts are compared byte by byte, as on SQLite: names come in one order whatever the database's language, and no
		// update of the system's rules of collation spoils an index.
		schema: strings.NewReplacer(" TEXT", ` TEXT COLLATE "C"`, "{without_rowid}", "", "{integer_key}", "BIGINT PRIMARY KEY", "{hot}",
			" WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01)"),
	}
}

// retryable reports whether a transaction failed only because another one went first: a deadlock or a serialization
// failure on PostgreSQL. Such a transaction is run again.
func retryable(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && (pe.Code == "40P01" || pe.Code == "40001")
}

// lockTimeout reports whether a statement waited too long for another transaction's rows: a node that stopped while it
// held them, until the database ends its session.
func lockTimeout(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "55P03"
}

// Duplicate reports whether err is a violated UNIQUE or primary key on either engine.
func Duplicate(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pe.Code == "23505"
	}
	var se interface{ Code() int }
	return errors.As(err, &se) && (se.Code() == 2067 || se.Code() == 1555)
}

// fatal reports whether the server ended the connection with this error, which then says nothing about the statement.
func fatal(pe *pgconn.PgError) bool {
	return pe.SeverityUnlocalized == "FATAL" || pe.SeverityUnlocalized == "PANIC"
}
