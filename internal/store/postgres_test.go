package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

func openPostgres(t testing.TB) *store.Store {
	t.Helper()
	// A commit takes its time on a busy machine.
	return open(t, store.Options{DatabaseURL: storetest.PatientPostgres(t), CommitTimeout: 2 * time.Minute})
}

func TestPostgresConforms(t *testing.T) {
	t.Parallel()
	conforms(t, openPostgres)
}

func TestAnotherNodesCachesFollow(t *testing.T) {
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	one, other := open(t, o), open(t, o)
	k := &accounts.AccessKey{CompanyID: "ours", Label: "l", Key: "ck_secret", Scopes: []string{"*"}}
	change(t, one, func(ctx context.Context, tx *configure.Tx) error {
		if err := accounts.PutCompany(ctx, tx, &carillon.Company{ID: "ours", Name: "Ours"}, time.Now()); err != nil {
			return err
		}
		return accounts.PutKey(ctx, tx, k, time.Now())
	})
	revoked := func() bool {
		got, err := other.Keys.AccessKey(t.Context(), k.Key)
		if err != nil {
			t.Fatal(err)
		}
		return got != nil && !got.RevokedAt.IsZero()
	}
	if got, err := other.Keys.AccessKey(t.Context(), k.Key); err != nil || got == nil || revoked() {
		t.Fatal(got, err)
	}
	change(t, one, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.RevokeKey(ctx, tx, "ours", k.ID, time.Now())
	})
	if k, err := one.Keys.AccessKey(t.Context(), k.Key); err != nil || k.RevokedAt.IsZero() {
		t.Error("the node that wrote it does not know:", err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(time.Minute) // one second, and a margin for a busy machine
	defer late.Stop()
	for !revoked() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal("the revoked key is still good on the other node")
		}
	}
}

func TestLongTextsAreCompressedFast(t *testing.T) {
	db := openPostgres(t).DB.Pool()
	var knows bool
	var want string
	err := db.QueryRowContext(t.Context(), `SELECT 'lz4' = ANY (enumvals), current_setting(name) FROM pg_settings
		WHERE name = 'default_toast_compression'`).Scan(&knows, &want)
	if errors.Is(err, sql.ErrNoRows) {
		return // a server before PostgreSQL 14, which knows one compression
	}
	if err != nil || knows != (want == "lz4") {
		t.Errorf("it compresses with %q; it knows lz4: %v; %v", want, knows, err)
	}
}

func TestTextsAreComparedByteByByte(t *testing.T) {
	rows, err := openPostgres(t).DB.Pool().QueryContext(t.Context(),
		`SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'text' AND table_name <> 'goose_db_version' AND collation_name IS DISTINCT FROM 'C'`)
	if err != nil {
		t.Fatal(err)
	}
	if columns := lines(t, rows); columns != "" {
		t.Errorf("compared by the database's language:\n%s", columns)
	}
}

// A flush needs neither BEGIN nor COMMIT, and checks its own assumptions about messages whose ends have events.
func TestEventsAreStoredWithTheFlush(t *testing.T) {
	r := newRig(t, openPostgres(t))
	f := r.fence(t)
	r.follow(t, ours, eventtable.Notifications)
	var mu sync.Mutex
	var asked []string
	during := func(do func()) string {
		asked = nil
		r.DB.Watch(func(query string, _ []any) {
			mu.Lock()
			defer mu.Unlock()
			for _, begin := range []string{"BEGIN", "COMMIT", "INSERT INTO notification", "WITH topic"} {
				if strings.HasPrefix(query, begin) {
					asked = append(asked, begin)
				}
			}
		})
		defer r.DB.Watch(nil)
		do()
		return strings.Join(asked, ", ")
	}
	var a *messages.Accept
	if got := during(func() { a = r.accepted(t, 4) }); got != "INSERT INTO notification, WITH topic" {
		t.Errorf("accepting asks %s", got)
	}
	for n, x := range []struct {
		what, want string
		before     func(b *work.Batch)
		lost       int
	}{
		{"a result", "WITH topic", func(*work.Batch) {}, 0},
		{"a result without the shard", "WITH topic, BEGIN, WITH topic, COMMIT", func(b *work.Batch) { b.Fences[0].Epoch++ }, 1},
		{"a result after its receipt", "WITH topic, BEGIN, COMMIT", func(*work.Batch) {
			r.receive(t, r.receipt(a, 2, carillon.StateSent))
		}, 0},
		{"a result that does not say whose it is", "BEGIN, WITH topic, COMMIT", func(b *work.Batch) {
			b.Results[0].Outcome = messages.Outcome{Rank: rank.Sent}
		}, 0},
	} {
		r.start(t, f, a, n)
		b := &work.Batch{Fences: []work.Fence{f}, Results: []work.Result{r.sent(a, n)}, Now: r.now}
		x.before(b)
		if got := during(func() { r.deliver(t, b) }); got != x.want || len(b.Lost) != x.lost {
			t.Errorf("%s asks %s, not %s; %d shards are lost", x.what, got, x.want, len(b.Lost))
		}
	}
	r.wantEvents(t, eventtable.Notifications, "notification.accepted", "message.sent sending", "message.sent sending",
		"message.sent sending", "message.sent sending")
}
