package tools

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/resource"
	"carillon/internal/base/secret"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

const (
	ours, theirs = "ours", "theirs"
	secretValue  = "s3cr3t/va+lue"
)

// base is the database of all tests: two companies, each with a secret for this machine.
var base *store.Store

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "tools")
		if err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(dir)
		if base, err = openBase(dir); err != nil {
			log.Print(err)
			return 1
		}
		defer base.Close()
		return m.Run()
	}())
}

func openBase(dir string) (*store.Store, error) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: dir, MasterKey: [32]byte{1}})
	if err != nil {
		return nil, err
	}
	for _, company := range []string{ours, theirs} {
		err := s.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: company}, time.Now())
		})
		_, put := s.Resources.PutResource(ctx, company, secret.Kind(), &secret.Secret{
			Name: "shop_key", Hosts: []string{"127.0.0.1"}, Value: secretValue + company,
		})
		_, elsewhere := s.Resources.PutResource(ctx, company, secret.Kind(), &secret.Secret{
			Name: "bank_key", Hosts: []string{"bank.example.com"}, Value: "for-the-bank-alone",
		})
		if err := errors.Join(err, put, elsewhere); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// world is a Box whose log a test reads.
type world struct {
	*Box
	t     *testing.T
	log   *bytes.Buffer
	calls map[string]int // by kind and status
	mu    sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, log: &bytes.Buffer{}, calls: map[string]int{}}
	client := NewClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")})
	t.Cleanup(client.Close)
	w.Box = New(Options{Resources: base.Resources, Client: client, Observer: w, Log: slog.New(slog.NewTextHandler(w.log, nil))})
	return w
}

func (w *world) Called(kind string, status agent.Status, _ time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[kind+" "+string(status)]++
}

// put stores a tool of a company, and returns it.
func put(t *testing.T, company string, x *Tool) *Tool {
	t.Helper()
	if err := x.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := base.Resources.PutResource(t.Context(), company, Kind(), x); err != nil {
		t.Fatal(err)
	}
	return x
}

// request is a request for a response of our agent with the tools.
func request(all ...*Tool) *agent.Request {
	a := &agent.Agent{ID: "a", Name: "Ann", Language: "en"}
	for _, x := range all {
		a.ServerTools = append(a.ServerTools, x.ID)
	}
	return &agent.Request{CompanyID: ours, CompanyName: "Ours", ConversationID: "c", Agent: a, Language: "en", Turn: 7}
}

// run calls the only tool of a request.
func (w *world) run(r *agent.Request, arguments map[string]any) agent.Ran {
	w.t.Helper()
	offered, err := w.Usable(w.t.Context(), r)
	if err != nil || len(offered) != 1 {
		w.t.Fatalf("offered %+v, %v", offered, err)
	}
	ran, err := w.Run(w.t.Context(), r, &offered[0], r.NewCall(&offered[0], arguments, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	if all := ran.Text + ran.Say + ran.Reason + w.log.String(); strings.Contains(all, "s3cr3t") {
		w.t.Errorf("a secret is in %s", all)
	}
	return ran
}

// serve runs a server on this machine, and counts its requests.
func serve(t *testing.T, h http.HandlerFunc) (url string, requests func() []*http.Request) {
	t.Helper()
	var mu sync.Mutex
	var all []*http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		kept := r.Clone(context.WithoutCancel(r.Context()))
		kept.Body = io.NopCloser(bytes.NewReader(body))
		all = append(all, kept)
		mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func answer(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

func validated(x resource.Resource) string {
	if err := x.Validate(); err != nil {
		return err.Error()
	}
	return ""
}
