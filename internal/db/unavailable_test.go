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
