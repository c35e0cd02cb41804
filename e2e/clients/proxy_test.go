package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// proxy runs between client and program and injects the faults of a scenario.
type proxy struct {
	program string
	server  *httptest.Server
	stop    chan struct{}

	mu     sync.Mutex
	faults []string
	seen   []seen
}

// seen is a request that the proxy received.
type seen struct {
	Method  string `json:"method"`
	Path    string `json:"path"`    // below /functions/v1/
	Address bool   `json:"address"` // the address contained the key
}

func newProxy(t *testing.T, program string) *proxy {
	t.Helper()
	p := &proxy{program: program, stop: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_next", p.next)
	mux.HandleFunc("GET /_seen", p.requests)
	mux.HandleFunc("POST /_hook", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/functions/v1/", p.pass)
	p.server = httptest.NewServer(mux)
	t.Cleanup(func() { close(p.stop); p.server.Close() })
	return p
}

// next begins another scenario.
func (p *proxy) next(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults, p.seen = nil, nil
	if err := json.NewDecoder(r.Body).Decode(&p.faults); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (p *proxy) requests(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = json.NewEncoder(w).Encode(append([]seen{}, p.seen...))
}

// fault returns the first remaining fault that matches a request, and removes it.
func (p *proxy) fault(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := seen{r.Method, strings.TrimPrefix(r.URL.Path, "/functions/v1/"), r.URL.Query().Has("access_key")}
	p.seen = append(p.seen, s)
	for i, f := range p.faults {
		if at, what, _ := strings.Cut(f, ": "); s.is(at) {
			p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
			return what
		}
	}
	return "pass"
}

// is reports whether a request matches a pattern such as "GET notify/*".
func (s seen) is(pattern string) bool {
	method, path, _ := strings.Cut(pattern, " ")
	if method != s.Method {
		return false
	}
	want, got := strings.Split(path, "/"), strings.Split(s.Path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != "*" && want[i] != got[i] {
			return false
		}
	}
	return true
}

func (p *proxy) pass(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Connection", "close") // net/http automatically repeats requests that fail on a reused connection
	what, n, _ := strings.Cut(p.fault(r), " ")
	switch what {
	case "pass":
		p.forward(w, r, body)
	case "lost":
		p.forward(httptest.NewRecorder(), r, body)
		panic(http.ErrAbortHandler)
	case "500-after":
		p.forward(httptest.NewRecorder(), r, body)
		refuse(w, 500, "internal_error", `{"reason":"The log has more under this request id"}`, 0)
	case "drop":
		panic(http.ErrAbortHandler)
	case "stall":
		select {
		case <-r.Context().Done():
		case <-p.stop:
		}
	case "429":
		after, _ := strconv.Atoi(n)
		refuse(w, 429, "rate_limit_exceeded", `{"limit":600,"window":"60s","reset_time":"2030-01-01T00:00:00Z"}`, after)
	case "503":
		refuse(w, 503, "service_unavailable", `{"reason":"Overloaded"}`, 0)
	case "500":
		refuse(w, 500, "internal_error", `{"reason":"The log has more under this request id"}`, 0)
	case "409":
		refuse(w, 409, "idempotency_in_progress", `{"field":"Idempotency-Key","reason":"Still running"}`, 1)
	case "401":
		refuse(w, 401, "unauthorized", `{"reason":"expired"}`, 0)
	case "408", "502", "504":
		page(w, what)
	case "504-after":
		p.forward(httptest.NewRecorder(), r, body)
		page(w, "504")
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><h1>Welcome to this network</h1></html>")
	case "redirect":
		w.Header().Set("Location", p.server.URL+"/functions/v1/elsewhere")
		w.WriteHeader(http.StatusFound)
	default:
		http.Error(w, "the table has a fault that the proxy does not know: "+what, http.StatusTeapot)
	}
}

// page writes an error page like those that proxies generate.
func page(w http.ResponseWriter, status string) {
	code, _ := strconv.Atoi(status)
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, "<html><h1>%d %s</h1></html>", code, http.StatusText(code))
}

func refuse(w http.ResponseWriter, status int, code, details string, after int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	retry := ""
	if after > 0 {
		retry = fmt.Sprintf(`,"retry_after":%d`, after)
	}
	_, _ = fmt.Fprintf(w, `{"error":%q,"message":"By the test","details":%s%s,"request_id":"req_Zm9vYmFyYmF6cXV4MDEyMw"}`, code,
		details, retry)
}

func (p *proxy) forward(w http.ResponseWriter, r *http.Request, body []byte) {
	to, err := http.NewRequestWithContext(r.Context(), r.Method, p.program+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	to.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		if name != "Connection" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}
