package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	"carillon"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestDatabaseThatIsAwayIsNoFaultOfTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		away bool
	}{
		"the server ended the session": {&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, true},
		"it has no room":               {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "53100"}, true},
		"the connection was closed":    {pgconn.ErrConnClosed, true},
		"half an answer":               {io.ErrUnexpectedEOF, true},
		"a connection that is no more": {driver.ErrBadConn, true},
		"a wrong statement":            {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "42601"}, false},
		"the caller left":              {context.Canceled, false},
		"anything else":                {errors.New("x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			told, ok := errors.AsType[*carillon.Error](Unavailable(fmt.Errorf("write: %w", c.err)))
			if ok != c.away || ok && told.Code != carillon.ServiceUnavailable {
				t.Errorf("%v is told as %v", c.err, told)
			}
		})
	}
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                {nil, false},
		"half an answer":         {io.ErrUnexpectedEOF, true},
		"a busy service":         {Overloaded("busy", nil), true},
		"a deadlock":             {&pgconn.PgError{Code: "40P01"}, true},
		"a lock":                 {&pgconn.PgError{Code: "55P03"}, true},
		"no room on the disk":    {&pgconn.PgError{Code: "53100"}, true},
		"a text that is no text": {&pgconn.PgError{Code: "22021"}, false},
		"an index row too long":  {&pgconn.PgError{Code: "54000"}, false},
		"a broken rule":          {&pgconn.PgError{Code: "23514"}, false},
		"a refusal of ours":      {carillon.InConflict("x"), false},
		"anything else":          {errors.New("x"), false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("store: %w", err)
		}
		if got := Transient(err); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
