package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"carillon"
)

func waiting(body string) *work {
	return &work{kind: workAccept, accept: &Accept{Notification: Notification{Body: body}}}
}

func refusedWith(t *testing.T, err error, atLeast int) {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) || e.Code != carillon.ServiceUnavailable || e.RetryAfter < atLeast {
		t.Errorf("told %v, want service_unavailable with Retry-After of %d s or more", err, atLeast)
	}
}

func TestTheBacklogIsBoundedByBytes(t *testing.T) {
	b := backlog{most: 1000}
	big := waiting(strings.Repeat("x", 1<<20))
	for i := range 65 {
		if err := b.enter(big); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	refusedWith(t, b.enter(big), 1)
	if err := b.enter(&work{kind: workStart}); err != nil {
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
		b.note(3 * time.Second)
	}
	if err := b.enter(waiting("")); err != nil {
		t.Errorf("the first to come: %v", err)
	}
	refusedWith(t, b.enter(waiting("")), 3)
	for range 40 {
		b.note(time.Millisecond)
	}
	if err := b.enter(waiting("")); err != nil {
		t.Errorf("when commits are quick again: %v", err)
	}
}

func TestACrowdOfRequestsLeavesRoomForOwnWrites(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), MaxWaiting: 4})
	if err != nil {
		t.Fatal(err)
	}
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = s.Update(context.WithoutCancel(t.Context()), func(context.Context, *Tx) error {
			close(begun)
			<-release
			return nil
		})
	})
	<-begun
	told := make(chan error, 12)
	for range 12 {
		all.Go(func() {
			now := time.Now()
			told <- s.Accept(context.WithoutCancel(t.Context()), &Accept{
				Notification: Notification{ID: s.NewNotificationID(now), CompanyID: "c", Channel: carillon.Messaging, SenderUID: 1, Total: 1, Open: 1, CreatedAt: now, DueAt: now},
				Messages:     []NewMessage{{Number: "34600111222"}}, Quota: Quota{Day: "2027-01-15", Charge: 1},
			})
		})
	}
	for range 8 {
		refusedWith(t, <-told, 1)
	}
	refusedWith(t, s.Full(), 1)
	own := make(chan error, 1)
	all.Go(func() {
		own <- s.Update(context.WithoutCancel(t.Context()), func(context.Context, *Tx) error { return nil })
	})
	close(release)
	for range 4 {
		if err := <-told; err != nil {
			t.Errorf("a request that waited: %v", err)
		}
	}
	if err := <-own; err != nil {
		t.Errorf("a write of the program's own: %v", err)
	}
	all.Wait()
	if err := s.Full(); err != nil {
		t.Errorf("when all is stored: %v", err)
	}
	if used, err := s.Used(t.Context(), "c", "2027-01-15"); err != nil || used != 4 {
		t.Errorf("%d were stored, want 4; %v", used, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
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
		refusedWith(t, unavailable(fmt.Errorf("look up: %w", err)), 1)
	}
	for _, err := range []error{
		sql.ErrNoRows, context.Canceled, &pgconn.PgError{Code: "23505"}, &pgconn.PgError{Code: "42P01"}, sqliteCode(19), sqliteCode(1),
		carillon.Absent("Notification"), nil,
	} {
		if got := unavailable(err); got != err { //nolint:errorlint // the very same
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestCalmWaitsForAGapAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{accepts: &committer{backlog: backlog{most: 8}}}
		took := func(most time.Duration) time.Duration {
			begin := time.Now()
			s.Calm(t.Context(), most)
			return time.Since(begin)
		}
		if d := took(time.Hour); d != 0 {
			t.Errorf("nothing waits: it took %s", d)
		}
		w := waiting("")
		if err := s.accepts.enter(w); err != nil {
			t.Fatal(err)
		}
		if d := took(time.Second); d != time.Second {
			t.Errorf("a request waits all the while: it took %s, want 1 s", d)
		}
		time.AfterFunc(100*calmLook+calmLook/2, func() { s.accepts.leave(w) })
		if d := took(time.Hour); d != 101*calmLook {
			t.Errorf("a request waits for %s: it took %s", 100*calmLook+calmLook/2, d)
		}
		if n := s.Came(); n != 1 {
			t.Errorf("%d requests came, want 1", n)
		}
	})
}
