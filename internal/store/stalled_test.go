package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestSessionThatStopsInTheMiddleOfAFlushIsEnded(t *testing.T) {
	dsn := storetest.Postgres(t)
	open(t, store.Options{DatabaseURL: dsn})
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c.RuntimeParams["application_name"] = "carillon"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	f := conn.Frontend()
	f.SendParse(&pgproto3.Parse{Query: "UPDATE meta SET value = value WHERE name = 'generation'"})
	f.SendBind(&pgproto3.Bind{})
	f.SendExecute(&pgproto3.Execute{}) // and no Sync: the row stays locked
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := conn.ReceiveMessage(ctx)
		var ended *pgconn.PgError
		switch {
		case errors.As(err, &ended) && ended.Code == "57P01": // terminated by a command of an administrator
			return
		case err != nil:
			t.Fatal(err)
		}
		if m, ok := m.(*pgproto3.ErrorResponse); ok && m.Code == "57P01" {
			return
		}
	}
}
