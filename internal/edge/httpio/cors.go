package httpio

import (
	"net/http"
	"slices"
	"strings"
)

// CORS is a route's policy for pages of other origins. Zero value: no origin is allowed and no header is written.
type CORS struct {
	AnyOrigin bool
	// Allow reports whether a page of the origin may call the route. It must be fast and must not read the body.
	Allow func(r *http.Request, origin string) bool
	// Methods are the methods listed in preflight responses; nil for those of the path.
	Methods []string
}

const (
	corsHeaders = "Authorization, Content-Type, Last-Event-ID"
	corsMaxAge  = "600" // seconds that a browser caches a preflight response
)

func (c CORS) enabled() bool { return c.AnyOrigin || c.Allow != nil }

// write sets the headers that let the page read the response. Errors carry them too.
func (c CORS) write(h http.Header, r *http.Request) {
	if c.AnyOrigin {
		h.Set("Access-Control-Allow-Origin", "*")
		return
	}
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" && c.Allow(r, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
	}
}

// preflight responds to a CORS preflight request. It requires no credential, because browsers send none.
func preflight(c CORS, methods []string) Handler {
	if c.Methods != nil {
		methods = c.Methods
	}
	allowed := strings.Join(append(slices.Clone(methods), http.MethodOptions), ", ")
	return func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		c.write(h, r)
		if h.Get("Access-Control-Allow-Origin") != "" {
			h.Set("Access-Control-Allow-Methods", allowed)
			h.Set("Access-Control-Allow-Headers", corsHeaders)
			h.Set("Access-Control-Max-Age", corsMaxAge)
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// preflights returns the OPTIONS routes of all paths that allow other origins. The routes of one path share one
// policy.
func preflights(routes []Route) []Route {
	methods, policies := map[string][]string{}, map[string]CORS{}
	var paths []string
	for _, route := range routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if !route.CORS.enabled() || method == http.MethodOptions {
			continue
		}
		if methods[path] == nil {
			paths = append(paths, path)
		}
		methods[path], policies[path] = append(methods[path], method), route.CORS
	}
	all := make([]Route, 0, len(paths))
	for _, path := range paths {
		all = append(all, Route{
			Pattern: http.MethodOptions + " " + path, Access: "none", Handle: preflight(policies[path], methods[path]),
		})
	}
	return all
}
