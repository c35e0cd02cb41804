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
	const silent, full = "The database does not answer", "The database takes no writes"
	for name, c := range map[string]struct {
		err  error
		want string // reason of the 503; "" for another error
	}{
		"the server ended the session": {&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, silent},
		"it has no room":               {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "53100"}, full},
		"it became a standby":          {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "25006"}, full},
		"a proxy leads to a standby":   {errStandby, full},
		"the connection was closed":    {pgconn.ErrConnClosed, silent},
		"half an answer":               {io.ErrUnexpectedEOF, silent},
		"a connection that is no more": {driver.ErrBadConn, silent},
		"a wrong statement":            {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "42601"}, ""},
		"the caller left":              {context.Canceled, ""},
		"anything else":                {errors.New("x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := errors.AsType[*carillon.Error](Unavailable(fmt.Errorf("write: %w", c.err)))
			if ok != (c.want != "") || ok && (got.Code != carillon.ServiceUnavailable || got.Details[0].Value != c.want) {
				t.Errorf("%v becomes %v", c.err, got)
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
