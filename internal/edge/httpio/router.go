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

// Handler writes the response to a request, or returns an error for Router to write.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one row of the route map.
type Route struct {
	Pattern    string // in net/http syntax: `POST /functions/v1/notify`
	Access     string // the accepted credential: none, key:<scope>, customer (a key as customer_id), chat, user, company, panel, provider
	Permission string // permission that the caller's role needs, for routes of the panel
	CORS       CORS
	MaxBody    int64 // bytes; 0 means DefaultMaxBody
	Stream     bool  // the response is an event stream
	Page       bool  // a page for every path below it: an unsupported method on an otherwise unserved path is a 404
	Probe      bool  // polled every few seconds by machines, so logged at debug level only
	Shape      Shape
	Handle     Handler
}

// Response describes a finished request for metrics and traces. It contains nothing of its query, headers or body.
type Response struct {
	Pattern  string // the route's pattern; "unknown" if no route matched
	Status   int
	Code     string // error code; empty on success
	Duration time.Duration
	Stream   bool // an event stream, whose duration depends on the client
}

// Refusal is a company's request that got an error response, including its secrets.
type Refusal struct {
	RequestID, CompanyID, KeyID string
	Status                      int
	Code, Message               string
	Body                        []byte // request body, as far as it was read
	BodyRead                    bool
	Response                    []byte
	Took                        time.Duration
}

// Observer is called after every response, for metrics and traces.
type Observer func(ctx context.Context, r Response)

// Router serves routes with exact paths. A trailing or doubled slash is a JSON 404, never a redirect, which would
// repeat the access key in the query.
type Router struct {
	// Refused is called after each error response to a request with a company's access key, unless the client has
	// disconnected. Its data is shown to the company. It must not retain the slices.
	Refused func(r *http.Request, x Refusal)
	// Proxies are the trusted reverse proxies, needed to find a client's address.
	Proxies []netip.Prefix
	// Bodies and Streams limit the resources held by requests.
	Bodies, Streams *share.Share
	// Slow is the duration from which a successful request is logged; default DefaultSlow.
	Slow time.Duration

	mux      *http.ServeMux
	routes   []Route
	literal  map[string][]string // methods of each path without a wildcard
	kinds    map[string]Route    // by pattern
	refusals refusals
	closing  chan struct{} // closed when streams must end
	streams  sync.WaitGroup
	close    func()
	log      *slog.Logger
	observe  Observer
	newID    func() string
}

// DefaultSlow is the default of Router.Slow.
const DefaultSlow = time.Second

// NewRouter returns a router for the routes.
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
		if route.Stream && r.Method == http.MethodHead { // GET patterns also match HEAD, which has no body to stream
			w.WriteHeader(http.StatusOK)
			return
		}
		err := route.Handle(w, r)
		if rec, ok := w.(*recorder); err != nil && ok && rec.status != 0 {
			st.err = err // too late for the response, but not for the log
		} else if err != nil {
			Error(w, r, err)
		}
	})
}

// CloseStreams ends every stream, so that clients move to another node. It is called before the server waits for
// requests to end.
func (rt *Router) CloseStreams() { rt.close() }

// AwaitStreams waits until all streams have ended, including WebSockets, whose connections the server no longer
// tracks. It is called once no more requests arrive.
func (rt *Router) AwaitStreams(ctx context.Context) {
	done := make(chan struct{})
	go func() { defer close(done); rt.streams.Wait() }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Routes returns the route map, for tests.
func (rt *Router) Routes() []Route { return rt.routes }

// ServeHTTP serves one request and logs a line without its query string, headers and body. Only some refusals are
// logged.
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
		rt.unknown(rec, r) // prevents matching a route such as GET /notify/{id}: /notify/voice accepts only POST
	default:
		rt.mux.ServeHTTP(rec, r)
	}
}

// clean reports whether a path is in canonical form. A page may have a trailing slash, because people type it.
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

// exchange holds the data of one request in a single allocation.
type exchange struct {
	state    state
	recorder recorder
	ids      [1]string // value of X-Request-Id
}

func (rt *Router) finish(rec *recorder, r *http.Request, st *state, begin time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
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

// level returns the log level of a request: debug for probes and for requests that neither failed nor were slow. A
// response due to a maintenance window is not an error.
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

// unknown responds if no route matches: 405 with Allow if another method would match, otherwise 404.
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

// allowed returns the methods of the request's path. For a path with literal routes, wildcard routes do not count.
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

// recorder records the status of a response.
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

// Unwrap gives http.ResponseController access to the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
