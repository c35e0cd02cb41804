package httpio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/share"
)

func echoLength(w http.ResponseWriter, r *http.Request) error {
	b, err := RawBody(r)
	if err != nil {
		return err
	}
	return JSON(w, http.StatusOK, len(b))
}

func newTestRouter(routes ...Route) *Router {
	return NewRouter(slog.New(slog.DiscardHandler), nil, routes...)
}

func TestEachRouteHasItsOwnBodyLimit(t *testing.T) {
	rt := newTestRouter(Route{Pattern: "POST /small", MaxBody: 10, Handle: echoLength}, Route{Pattern: "POST /usual", Handle: echoLength})
	for _, tt := range []struct {
		path   string
		size   int
		status int
	}{{"/small", 10, 200}, {"/small", 11, 413}, {"/usual", DefaultMaxBody, 200}, {"/usual", DefaultMaxBody + 1, 413}, {"/usual", 0, 200}} {
		for _, announced := range []bool{true, false} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.path, bytes.NewReader(make([]byte, tt.size)))
			if !announced {
				r.ContentLength = -1
			}
			rec := httptest.NewRecorder()
			rt.ServeHTTP(rec, r)
			if rec.Code != tt.status || tt.status == 200 && rec.Body.String() != fmt.Sprint(tt.size) {
				t.Errorf("%s with %d bytes, announced %v: %d %s", tt.path, tt.size, announced, rec.Code, rec.Body)
			}
		}
	}
	if n := rt.Bodies.Counts().Used; n != 0 {
		t.Errorf("%d bytes of the budget are still held", n)
	}
}

func TestBodiesBeyondTheBudgetAreShed(t *testing.T) {
	rt := newTestRouter(Route{Pattern: "POST /", Handle: echoLength})
	rt.Bodies = share.New(share.Bodies.Of(4 * 64 << 10))
	for size, status := range map[int]int{8 << 10: 200, 100 << 10: 503} {
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(make([]byte, size))))
		if rec.Code != status || status == 503 && (rec.Header().Get("Retry-After") == "" ||
			!strings.Contains(rec.Body.String(), `"error":"service_unavailable"`) ||
			!strings.Contains(rec.Body.String(), `"bound":"client"`)) {
			t.Errorf("%d bytes: %d %s, want %d", size, rec.Code, rec.Body, status)
		}
	}
	if n := rt.Bodies.Counts().Used; n != 0 {
		t.Errorf("%d bytes of the budget are still held", n)
	}
}

// Callers without a credential, and each company, have a share of the budget, so that one cannot block the others.
func TestStalledBodiesOfOneKindLeaveRoomForTheOthers(t *testing.T) {
	company := func(w http.ResponseWriter, r *http.Request) error {
		SetCompany(r.Context(), r.URL.Query().Get("company"))
		return echoLength(w, r)
	}
	rt := newTestRouter(
		Route{Pattern: "POST /auth", Access: "none", MaxBody: 16 << 10, Handle: echoLength},
		Route{Pattern: "POST /callback", Access: "provider", MaxBody: 4 << 20, Handle: echoLength},
		Route{Pattern: "POST /send", Access: "key", Handle: company})
	srv := httptest.NewServer(rt)
	t.Cleanup(srv.Close)
	stall := func(n int, path string, size int) {
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, size)
		for range n {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			go func() { _, _ = c.Write(append([]byte(head), make([]byte, size-1)...)) }()
		}
	}
	status := func(path string, size int) int {
		resp, err := http.Post(srv.URL+path, "application/json", bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	full := func(path string, size int) {
		for deadline := time.Now().Add(time.Minute); status(path, size) != 503; {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not full", path)
			}
		}
	}
	stall(1100, "/auth", 16<<10)
	stall(10, "/callback", 4<<20)
	stall(30, "/send?company=hostile", 1<<20)
	full("/auth", 16<<10)
	full("/callback", 4<<20)
	full("/send?company=hostile", 1<<20)
	for range 100 {
		if got := status("/send?company=ours", 100<<10); got != 200 {
			t.Fatalf("another company's send: %d", got)
		}
	}
	if c := rt.Bodies.Counts(); c.Used > c.Resource.Node*3/4 {
		t.Errorf("%d bytes are held", c.Used)
	}
}

// A company's visitors can use only their part of its budget, so they cannot block the company's own requests.
func TestBodiesOfVisitorsLeaveRoomForTheirCompany(t *testing.T) {
	company := func(w http.ResponseWriter, r *http.Request) error {
		SetCompany(r.Context(), "ours")
		return echoLength(w, r)
	}
	rt := newTestRouter(
		Route{Pattern: "POST /chat", Access: "chat", MaxBody: 32 << 10, Handle: company},
		Route{Pattern: "POST /send", Access: "key", Handle: company})
	rt.Bodies = share.New(share.Bodies.Of(256 << 10)) // 64 KiB per company, 32 KiB for its visitors and per client
	post := func(path, client string, body io.Reader) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
		r.RemoteAddr = client + ":1"
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, r)
		return rec.Code
	}
	var visitors sync.WaitGroup
	defer visitors.Wait()
	var bodies []*io.PipeWriter
	defer func() {
		for _, body := range bodies {
			_ = body.Close()
		}
	}()
	stall := func(client string) {
		from, to := io.Pipe()
		bodies = append(bodies, to)
		visitors.Go(func() { post("/chat", client, from) })
		_, _ = to.Write(make([]byte, 12<<10)) // 16 KiB are reserved for them
	}
	for n := range 2 {
		stall(fmt.Sprintf("192.0.2.%d", n+1))
	}
	if held := rt.Bodies.Counts().Used; held != 32<<10 {
		t.Fatalf("%d bytes are held by visitors", held)
	}
	if got := post("/chat", "192.0.2.3", strings.NewReader("hello")); got != http.StatusServiceUnavailable {
		t.Errorf("a visitor above the visitors' part: %d", got)
	}
	if got := post("/send", "192.0.2.1", bytes.NewReader(make([]byte, 20<<10))); got != http.StatusOK {
		t.Errorf("the company's send: %d", got)
	}
}

func TestAnAnnouncedLengthAllocatesLittle(t *testing.T) {
	rt := newTestRouter()
	rt.add(Route{Pattern: "POST /held", Handle: func(_ http.ResponseWriter, r *http.Request) error {
		_, err := RawBody(r)
		if n := rt.Bodies.Counts().Used; n > firstBuffer {
			t.Errorf("%d bytes are held for a body of which 3 arrived", n)
		}
		return err
	}})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/held", strings.NewReader("abc"))
	r.ContentLength = DefaultMaxBody
	rt.ServeHTTP(httptest.NewRecorder(), r)
}

// A client that writes its whole request before it reads must see the 413, not a reset connection.
func TestClientThatWritesFirstSeesThe413(t *testing.T) {
	srv := httptest.NewServer(newTestRouter(Route{Pattern: "POST /", Handle: echoLength}))
	t.Cleanup(srv.Close)
	const size = DefaultMaxBody + 6<<20
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("the status is %d", resp.StatusCode)
	}
}
