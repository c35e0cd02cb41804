package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"carillon"
)

func waiting(bytes int) *write { return &write{kind: &Kind[int]{}, bytes: int64(bytes)} }

func refusedWith(t *testing.T, err error, atLeast int) {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) || e.Code != carillon.ServiceUnavailable || e.RetryAfter < atLeast {
		t.Errorf("got %v, want service_unavailable with Retry-After of %d s or more", err, atLeast)
	}
}

func TestTheBacklogIsBoundedByBytes(t *testing.T) {
	b := backlog{most: 1000}
	big := waiting(1 << 20)
	for i := range 65 {
		if err := b.enter(big); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	refusedWith(t, b.enter(big), 1)
	if err := b.enter(&write{kind: &Kind[int]{Background: true}}); err != nil {
		t.Errorf("a write of the program's own: %v", err)
	}
	b.leave(big)
	if err := b.enter(big); err != nil {
		t.Errorf("after one was stored: %v", err)
	}
}

func TestTheBacklogIsBoundedByTheWait(t *testing.T) {
	b := backlog{most: 4096}
	for range 40 {
		b.observe(3 * time.Second)
	}
	if err := b.enter(waiting(0)); err != nil {
		t.Errorf("the first to come: %v", err)
	}
	refusedWith(t, b.enter(waiting(0)), 3)
	for range 40 {
		b.observe(time.Millisecond)
	}
	if err := b.enter(waiting(0)); err != nil {
		t.Errorf("when commits are quick again: %v", err)
	}
}

type sqliteCode int

func (c sqliteCode) Error() string { return fmt.Sprint("code ", int(c)) }
func (c sqliteCode) Code() int     { return int(c) }

func TestADatabaseThatIsAwayIsA503(t *testing.T) {
	for _, err := range []error{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, io.ErrUnexpectedEOF, sql.ErrConnDone, context.DeadlineExceeded,
		&pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}, &pgconn.PgError{Code: "57P03"}, &pgconn.PgError{Code: "53100"},
		&pgconn.PgError{Code: "53300"}, sqliteCode(13), sqliteCode(5), sqliteCode(5 | 1<<8), sqliteCode(10 | 3<<8),
	} {
		refusedWith(t, Unavailable(fmt.Errorf("look up: %w", err)), 1)
	}
	for _, err := range []error{
		sql.ErrNoRows, context.Canceled, &pgconn.PgError{Code: "23505"}, &pgconn.PgError{Code: "42P01"}, sqliteCode(19), sqliteCode(1),
		carillon.Absent("Notification"), nil,
	} {
		if got := Unavailable(err); got != err { //nolint:errorlint // the very same
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestWaitIdleWaitsForAGapAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &DB{Commits: Commits{foreground: &committer{backlog: backlog{most: 8}}}}
		s.Commits.background = s.Commits.foreground
		took := func(most time.Duration) time.Duration {
			begin := time.Now()
			s.Commits.WaitIdle(t.Context(), most)
			return time.Since(begin)
		}
		if d := took(time.Hour); d != 0 {
			t.Errorf("nothing waits: it took %s", d)
		}
		w := waiting(0)
		if err := s.Commits.foreground.enter(w); err != nil {
			t.Fatal(err)
		}
		if d := took(time.Second); d != time.Second {
			t.Errorf("a request waits all the while: it took %s, want 1 s", d)
		}
		time.AfterFunc(100*idleCheck+idleCheck/2, func() { s.Commits.foreground.leave(w) })
		if d := took(time.Hour); d != 101*idleCheck {
			t.Errorf("a request waits for %s: it took %s", 100*idleCheck+idleCheck/2, d)
		}
		if n := s.Commits.Operations(); n != 1 {
			t.Errorf("%d operations came, want 1", n)
		}
	})
}
