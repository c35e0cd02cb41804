package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

func TestOpenWaitsForAServerThatComesUpLate(t *testing.T) {
	away := &pgconn.ConnectError{Config: &pgconn.Config{}}
	for name, c := range map[string]struct {
		wait, up, stop time.Duration // the server is up, or the context ends, after
		refusal        error
		took           time.Duration
		err            string
		lines          []string
	}{
		"it is up": {wait: time.Minute},
		"it comes up": {
			wait: time.Minute, up: 20 * time.Second, took: 20 * time.Second,
			lines: []string{"waiting for the database", "the database answers\" after=20s"},
		},
		"it does not come up": {
			wait: time.Minute, up: time.Hour, took: time.Minute, err: "reach the database", lines: []string{"waiting for the database"},
		},
		"nobody waits": {up: time.Hour, err: "reach the database"},
		"the program is stopped": {
			wait: time.Minute, up: time.Hour, stop: 1500 * time.Millisecond, took: 1500 * time.Millisecond,
			err: "wait for the database: context canceled", lines: []string{"waiting for the database"},
		},
		"the password is wrong": {wait: time.Minute, up: time.Hour, refusal: &pgconn.PgError{Code: "28P01"}, err: "28P01"},
		"there is no such one": {
			wait: time.Minute, up: time.Hour, refusal: fmt.Errorf("connect: %w", &pgconn.PgError{Code: "3D000"}), err: "3D000",
		},
		"it is a standby": {
			wait: time.Minute, up: 20 * time.Second, refusal: errStandby, took: 20 * time.Second,
			lines: []string{"the server is a standby", "the database answers"},
		},
		"a pooler shares sessions": {wait: time.Minute, up: time.Hour, refusal: errPooled, err: "transaction mode"},
		"it is starting": {
			wait: time.Minute, up: 3 * time.Second, refusal: &pgconn.PgError{Code: "57P03"}, took: 3 * time.Second,
			lines: []string{"waiting for the database", "after=3s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.stop > 0 {
					time.AfterFunc(c.stop, cancel)
				}
				var out strings.Builder
				begin := time.Now()
				err := awaitServer(ctx, slog.New(slog.NewTextHandler(&out, nil)), c.wait, connectTimeout, func(context.Context) error {
					switch {
					case time.Since(begin) >= c.up:
						return nil
					case c.refusal != nil:
						return c.refusal
					}
					return away
				})
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %s", took)
				}
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("error %v", err)
				}
				if c.stop > 0 && !errors.Is(err, context.Canceled) {
					t.Errorf("the stop is not to be seen in %v", err)
				}
				text := out.String()
				if strings.Count(text, "\n") != len(c.lines) {
					t.Errorf("the log:\n%s", text)
				}
				for _, line := range c.lines {
					if !strings.Contains(text, line) {
						t.Errorf("%q is not in the log:\n%s", line, text)
					}
				}
			})
		})
	}
}

// startingServer refuses connections as a server that starts, n times, and then as one that does not know the password.
func startingServer(t *testing.T, n int) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			server := pgproto3.NewBackend(c, c)
			if _, err := server.ReceiveStartupMessage(); err == nil {
				code := "57P03"
				if n--; n < 0 {
					code = "28P01"
				}
				server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: code, Message: "no"})
				_ = server.Flush()
			}
			_ = c.Close()
		}
	}()
	return "postgres://carillon:s3cret@" + l.Addr().String() + "/x?sslmode=disable"
}

func TestOpenTriesAServerAgainUntilItRefusesForGood(t *testing.T) {
	var out strings.Builder
	_, err := Open(t.Context(), Options{
		URL: startingServer(t, 1), Migrations: migrations, Wait: time.Minute, Logger: slog.New(slog.NewTextHandler(&out, nil)),
	})
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "28P01" || strings.Contains(err.Error()+out.String(), "s3cret") {
		t.Errorf("%v, %v", err, &out)
	}
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "waiting for the database") {
		t.Errorf("the log:\n%s", text)
	}
	if _, err := Open(t.Context(), Options{URL: startingServer(t, 1), Migrations: migrations}); !errors.As(err, &pe) || pe.Code != "57P03" {
		t.Errorf("without a wait: %v", err)
	}
}
