package httpio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/share"
)

// Handler writes the response of a request, or returns the error to respond with.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one row of the route map.
type Route struct {
	Pattern    string // as net/http has them: `POST /functions/v1/notify`
	Access     string // the credential it takes: none, key:<scope>, customer (a key as customer_id), chat, user, company, panel, provider
	Permission string // what the role of the caller must allow, for routes of the panel
	CORS       CORS
	MaxBody    int64 // bytes; 0: DefaultMaxBody
	Stream     bool  // the response is a stream of events
	Page       bool  // a page for every path below it: another method of a path that nothing else serves is a 404
	Probe      bool  // asked every few seconds, by machines: logged for debugging only
	Handle     Handler
}

// Response describes a finished request for metrics and traces: nothing of its query, its headers or its body.
type Response struct {
	Pattern  string // of the route; "unknown" where there is none
	Status   int
	Code     string // of the error; "" where there is none
	Duration time.Duration
	Stream   bool // it lasted as long as the client listened
}

// Refusal is a request of a company that was responded to with an error, with its secrets.
type Refusal struct {
	RequestID, CompanyID, KeyID string
	Status                      int
	Code, Message               string
	Body                        []byte // as far as it was read
	BodyRead                    bool
	Response                    []byte
	Took                        time.Duration
}

// Observer is called after every response: metrics, traces.
type Observer func(ctx context.Context, r Response)

// Router serves routes with exact paths: a trailing or doubled slash is a JSON 404, never a redirect, which would repeat
// the key in the query.
type Router struct {
	// Refused is called after each response that is an error and whose request named a company by its access key, unless the
	// client has left: what the company is to see of it. It must not keep the slices.
	Refused func(r *http.Request, x Refusal)
	// Proxies are the trusted reverse proxies, by which a client's address is found.
	Proxies []netip.Prefix
	// Bodies and Streams bound what its requests hold.
	Bodies, Streams *share.Share
	// Slow is from how long on a request is logged although it succeeded; DefaultSlow unless it is set.
	Slow time.Duration

	mux      *http.ServeMux
	routes   []Route
	literal  map[string][]string // the methods of each path without a wildcard
	kinds    map[string]Route    // by pattern
	refusals refusals
	closing  chan struct{} // closed when streams must end
	streams  sync.WaitGroup
	close    func()
	log      *slog.Logger
	observe  Observer
	newID    func() string
}

// DefaultSlow is from how long on a request is slow.
const DefaultSlow = time.Second

// NewRouter builds a router.
func NewRouter(log *slog.Logger, observe Observer, routes ...Route) *Router {
	routes = append(slices.Clip(routes), preflights(routes)...)
	rt := &Router{
		Slow: DefaultSlow,
		mux:  http.NewServeMux(), routes: routes, literal: map[string][]string{}, kinds: map[string]Route{},
		Bodies: share.New(share.Bodies), Streams: share.New(share.EventStreams), closing: make(chan struct{}),
		log: log, observe: observe, newID: carillon.NewRequestID,
	}
	rt.close = sync.OnceFunc(func() { close(rt.closing) })
	for _, route := range routes {
		rt.add(route)
	}
	rt.mux.HandleFunc("/", rt.unknown)
	return rt
}

func (rt *Router) add(route Route) {
	if method, path, _ := strings.Cut(route.Pattern, " "); !strings.Contains(path, "{") {
		rt.literal[path] = append(rt.literal[path], method)
	}
	if route.MaxBody == 0 {
		route.MaxBody = DefaultMaxBody
	}
	rt.kinds[route.Pattern] = route
	rt.mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) {
		st := stateOf(r.Context())
		st.maxBody, st.access = route.MaxBody, route.Access
		if route.CORS.enabled() && r.Method != http.MethodOptions {
			route.CORS.write(w.Header(), r)
		}
		if route.Stream {
			rt.streams.Add(1)
			defer rt.streams.Done()
		}
		if route.Stream && r.Method == http.MethodHead { // GET patterns match it, and it has no body to stream
			w.WriteHeader(http.StatusOK)
			return
		}
		err := route.Handle(w, r)
		if rec, ok := w.(*recorder); err != nil && ok && rec.status != 0 {
			st.err = err // too late for the client, not for the log
		} else if err != nil {
			Error(w, r, err)
		}
	})
}

// CloseStreams ends every stream, so that clients move to another node: before the server waits for requests to end.
func (rt *Router) CloseStreams() { rt.close() }

// AwaitStreams waits until streams have ended, also those on connections that the server does not know any more: sockets. It is
// called when no more requests come.
func (rt *Router) AwaitStreams(ctx context.Context) {
	done := make(chan struct{})
	go func() { defer close(done); rt.streams.Wait() }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Routes is the route map, for tests that walk it.
func (rt *Router) Routes() []Route { return rt.routes }

// ServeHTTP serves one request and logs a line about it: no query string, no header, no body. Of refusals only some have one.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	x := &exchange{state: state{id: rt.newID(), maxBody: DefaultMaxBody, router: rt}, recorder: recorder{ResponseWriter: w}}
	st, rec := &x.state, &x.recorder
	r = r.WithContext(context.WithValue(r.Context(), stateKey, st))
	x.ids[0] = st.id
	w.Header()["X-Request-Id"] = x.ids[:]
	defer rt.finish(rec, r, st, begin)
	switch methods, exact := rt.literal[r.URL.Path]; {
	case !strings.HasPrefix(r.URL.Path, "/") || !rt.clean(r):
		Error(rec, r, carillon.Absent("Route"))
	case exact && !slices.Contains(methods, r.Method) && !(r.Method == http.MethodHead && slices.Contains(methods, http.MethodGet)):
		rt.unknown(rec, r) // not the id of a route such as GET /notify/{id}: /notify/voice takes POST alone
	default:
		rt.mux.ServeHTTP(rec, r)
	}
}

// clean reports whether a path is written as routes are. People type a page's address with a slash at its end.
func (rt *Router) clean(r *http.Request) bool {
	p := path.Clean(r.URL.Path)
	if p == r.URL.Path {
		return true
	}
	if p+"/" != r.URL.Path {
		return false
	}
	_, pattern := rt.mux.Handler(r)
	return rt.kinds[pattern].Page
}

// exchange is what one request needs, in one allocation.
type exchange struct {
	state    state
	recorder recorder
	ids      [1]string // the value of X-Request-Id
}

func (rt *Router) finish(rec *recorder, r *http.Request, st *state, begin time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
			panic(p)
		}
		st.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		if rec.status == 0 {
			Error(rec, r, st.err)
		}
	}
	if st.held > 0 {
		rt.Bodies.Sub(st.holder, st.held)
	}
	took := time.Since(begin)
	pattern := r.Pattern
	if pattern == "/" || pattern == "" {
		pattern = "unknown"
	}
	if rt.observe != nil {
		rt.observe(r.Context(), Response{pattern, rec.status, st.code, took, rt.kinds[r.Pattern].Stream})
	}
	if rt.Refused != nil && rec.status >= 400 && rec.status != clientLeft && st.company != "" && st.key != "" {
		rt.Refused(r, Refusal{st.id, st.company, st.key, rec.status, st.code, st.message, st.body, st.read, st.refusal, took})
	}
	level := rt.level(r.Pattern, rec.status, st.err, took)
	if !rt.log.Enabled(r.Context(), level) {
		return
	}
	leftOut := 0
	if refused := rec.status >= 400 && rec.status < 500; refused && level == slog.LevelInfo {
		var logged bool
		if logged, leftOut = rt.refusals.log(st.company, st.code); !logged {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("request_id", st.id), slog.String("route", pattern), slog.Int("status", rec.status),
		slog.String("took", took.Round(time.Microsecond).String()), slog.String("company", st.company),
	}
	if st.err != nil {
		attrs = append(attrs, slog.Any("error", st.err))
	}
	if leftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", leftOut))
	}
	rt.log.LogAttrs(r.Context(), level, "responded", attrs...)
}

// level is that of a request's line: requests that neither failed nor were slow are logged for debugging only, and so are
// probes. A window of maintenance is no fault.
func (rt *Router) level(pattern string, status int, err error, took time.Duration) slog.Level {
	e, _ := errors.AsType[*carillon.Error](err)
	switch {
	case rt.kinds[pattern].Probe:
		return slog.LevelDebug
	case status >= 500 && (e == nil || e.Details.Find("maintenance_window") == nil):
		return slog.LevelError
	case status >= 400, took >= rt.Slow && !rt.kinds[pattern].Stream:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// unknown responds where no route matches: 405 with Allow where another method would do, else 404.
func (rt *Router) unknown(w http.ResponseWriter, r *http.Request) {
	allowed := rt.allowed(r)
	if len(allowed) == 0 {
		Error(w, r, carillon.Absent("Route"))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	Error(w, r, &carillon.Error{Code: carillon.MethodNotAllowed, Message: "Method not allowed", Details: carillon.Details{
		{Key: "reason", Value: "This route takes " + strings.Join(allowed, ", ")},
	}})
}

// allowed lists the methods that the request's path takes; a path that routes name letter for letter is theirs alone.
func (rt *Router) allowed(r *http.Request) []string {
	var allowed []string
	methods, exact := rt.literal[r.URL.Path]
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		if exact {
			if slices.Contains(methods, method) {
				allowed = append(allowed, method)
			}
			continue
		}
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := rt.mux.Handler(probe); pattern != "/" && pattern != "" && !rt.kinds[pattern].Page {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// recorder keeps the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
