package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"carillon"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unavailable converts the errors of a database that is unreachable, full or refuses access to the caller's 503: the
// request is valid and may be repeated. Other errors are returned unchanged.
func Unavailable(err error) error {
	var known *carillon.Error
	if err == nil || errors.As(err, &known) || !away(err) {
		return err
	}
	reason := "The database does not answer"
	if noRoom(err) || readOnly(err) {
		reason = "The database takes no writes"
	}
	return Overloaded(reason, &awayError{err})
}

// awayError marks a 503 caused by the database.
type awayError struct{ error }

func (e *awayError) Unwrap() error { return e.error }

// Away reports whether an error was caused by an unreachable database.
func Away(err error) bool {
	_, marked := errors.AsType[*awayError](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, refused := errors.AsType[*refusal](err)
	return marked || connecting || refused
}

// Transient reports whether a retry may succeed: the database is away or busy, a concurrent transaction interfered, or
// the time was over. All other errors would repeat.
func Transient(err error) bool {
	if err == nil {
		return false
	}
	return Away(err) || away(err) || isOverloaded(err) || retryable(err) || lockTimeout(err) || errors.Is(err, context.Canceled)
}

// readOnly reports whether a server refused a write because it is a standby, as after a failover behind a proxy, or
// whether the server itself was refused.
func readOnly(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	_, refused := errors.AsType[*refusal](err)
	return ok && pe.Code == "25006" || refused
}

func away(err error) bool {
	if readOnly(err) {
		return true
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 53 no resources: disk, memory, connections; 57P shut down or starting; 58 system error
		return fatal(pe) || len(pe.Code) == 5 && (pe.Code[:2] == "53" || pe.Code[:3] == "57P" || pe.Code[:2] == "58")
	}
	var se interface{ Code() int }
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case 5, 6, 10, 13, 14: // SQLITE_BUSY, LOCKED, IOERR, FULL, CANTOPEN
			return true
		}
	}
	if errors.Is(err, context.Canceled) {
		return false // the caller left
	}
	var connect *pgconn.ConnectError
	var network net.Error // a timeout is one too
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone)
}
