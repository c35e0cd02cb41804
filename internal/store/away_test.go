package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/storetest"
)

// relay stands between a store and its database, and can be cut or frozen.
type relay struct {
	net.Listener
	network, to string
	frozen      sync.RWMutex // held while nothing passes

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

// pass passes on nothing while the relay is frozen.
func (r *relay) pass(to io.Writer, b []byte) error {
	r.frozen.RLock()
	defer r.frozen.RUnlock()
	_, err := to.Write(b)
	return err
}

func (r *relay) copy(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if fault := r.pass(to, b[:n]); fault != nil || err != nil {
			_ = to.Close()
			return
		}
	}
}

func (r *relay) run() {
	for {
		c, err := r.Accept()
		if err != nil {
			return
		}
		d, err := net.Dial(r.network, r.to)
		r.mu.Lock()
		if r.cut || err != nil {
			r.mu.Unlock()
			_ = c.Close()
			if d != nil {
				_ = d.Close()
			}
			continue
		}
		r.open = append(r.open, c, d)
		r.mu.Unlock()
		go r.copy(d, c)
		go r.copy(c, d)
	}
}

func (r *relay) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	for _, c := range r.open {
		_ = c.Close()
	}
	r.open = nil
}

func TestANodeWithoutItsDatabaseSaysSo(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	to, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	r.network, r.to = pgconn.NetworkAddress(to.Host, to.Port)
	go r.run()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	q.Set("connect_timeout", "20") // also the bound of a look-up
	u.Host, u.RawQuery = l.Addr().String(), q.Encode()
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	accept := func() error {
		a := keyed(&carillon.Sender{CompanyID: "ours", UID: 1}, carillon.NewID(time.Now()), "h", 1, 100)
		return s.Notifications.Accept(t.Context(), a)
	}
	asked := map[string]func() error{
		"a key's look-up": func() error { _, err := s.Keys.AccessKey(t.Context(), "ck_nobody"); return err },
		"a list": func() error {
			_, _, err := s.Notifications.List(t.Context(), "ours", messages.Filter{Limit: 1}, time.Now())
			return err
		},
		"an accept": accept,
		"a change": func() error {
			return s.Config.Update(t.Context(), func(context.Context, *configure.Tx) error { return nil })
		},
	}
	for request, ask := range asked {
		if err := ask(); err != nil {
			t.Errorf("%s, while the database is there: %v", request, err)
		}
	}
	r.set(true)
	// A look-up that found nobody stays in the caches until the next look at the generation fails, in half a second.
	hung := time.Now().Add(2 * time.Minute)
	for request, ask := range asked {
		err := ask()
		for ; err == nil && time.Now().Before(hung); err = ask() {
			<-time.After(20 * time.Millisecond)
		}
		var e *carillon.Error
		if !errors.As(err, &e) || e.Code != carillon.ServiceUnavailable || e.RetryAfter < 1 {
			t.Errorf("%s, without the database: %v", request, err)
		}
	}
	r.set(false)
	for err = accept(); err != nil && time.Now().Before(hung); err = accept() {
		<-time.After(20 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("when the database is back: %v", err)
	}
	asked["a key's response"] = func() error {
		_, err := s.Notifications.LookupIdempotent(t.Context(), "ours", "notify", "k", "h", time.Now())
		return err
	}
	delete(asked, "a key's look-up") // may be in a cache
	r.frozen.Lock()
	var waiting sync.WaitGroup
	for request, ask := range asked { // none has a deadline
		waiting.Go(func() {
			if err := ask(); !carillon.IsCode(err, carillon.ServiceUnavailable) {
				t.Errorf("%s, while the database is frozen: %v", request, err)
			}
		})
	}
	waiting.Wait()
	r.frozen.Unlock()
	if err := errors.Join(s.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	r.set(true)
}
