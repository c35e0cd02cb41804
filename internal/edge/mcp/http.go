package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

const (
	maxCallers  = 1000            // cached keys
	rememberFor = 5 * time.Minute // how long a key's permissions are cached
	maxBody     = 1 << 20
	maxHeader   = 16 << 10
	readWithin  = 30 * time.Second
	drainWithin = 20 * time.Second
)

// Handler serves MCP over streamable HTTP. Each client sends its own access key as Authorization: Bearer. There are no
// sessions: every request is independent. Requests from pages of other sites, and for hosts other than the given ones,
// are refused before their key is checked.
type Handler struct {
	c     *client.Client
	o     Options
	next  http.Handler
	hosts []string

	mu      sync.Mutex
	callers map[[sha256.Size]byte]*caller
}

type caller struct {
	server *sdk.Server
	until  time.Time
}

type callerKey struct{}

// NewHandler returns a handler for an installation. hosts lists the names, without a port, that clients may use.
func NewHandler(c *client.Client, o Options, hosts []string) *Handler {
	o.Files = false // the files would be the server's, not the client's
	h := &Handler{c: c, o: o, hosts: hosts, callers: map[[sha256.Size]byte]*caller{}}
	streamable := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		s, _ := r.Context().Value(callerKey{}).(*sdk.Server)
		return s
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true,
	}) // ServeHTTP checks the host
	h.next = http.NewCrossOriginProtection().Handler(streamable)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.serves(r.Host) {
		refuse(w, http.StatusForbidden, "The server was not started for this host")
		return
	}
	kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	if !strings.EqualFold(kind, "Bearer") || key == "" || len(key) > 256 {
		refuse(w, http.StatusUnauthorized, "Send an access key: Authorization: Bearer ck_…")
		return
	}
	s, err := h.serverFor(r.Context(), key)
	switch {
	case errors.Is(err, client.Unauthorized):
		refuse(w, http.StatusUnauthorized, "The access key is not valid")
		return
	case errors.Is(err, client.ServiceUnavailable):
		refuse(w, http.StatusServiceUnavailable, "The program or the company is not available now: try again later")
		return
	case errors.Is(err, client.Forbidden):
		refuse(w, http.StatusForbidden, "The company is suspended")
		return
	case err != nil:
		refuse(w, http.StatusBadGateway, "The program does not respond")
		return
	}
	r = r.Clone(context.WithValue(r.Context(), callerKey{}, s))
	if r.Method == http.MethodPost && acceptsJSON(r.Header.Values("Accept")) {
		r.Header.Set("Accept", "application/json, text/event-stream") // the library requires both, and always responds in JSON
	}
	h.next.ServeHTTP(w, r)
}

// acceptsJSON reports whether the Accept headers allow JSON. A client without the header accepts everything.
func acceptsJSON(values []string) bool {
	if len(values) == 0 {
		return true
	}
	for value := range strings.SplitSeq(strings.Join(values, ","), ",") {
		kind, _, _ := strings.Cut(value, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "application/*", "*/*":
			return true
		}
	}
	return false
}

// serves reports whether clients may use a host name. This blocks pages whose own domain resolves to this machine (DNS
// rebinding).
func (h *Handler) serves(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(h.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

func refuse(w http.ResponseWriter, status int, why string) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="carillon"`)
	}
	http.Error(w, why, status)
}

// serverFor returns the server of a key. The key's scopes are cached for rememberFor; a key revoked in the meantime is
// refused by each call.
func (h *Handler) serverFor(ctx context.Context, key string) (*sdk.Server, error) {
	digest, now := sha256.Sum256([]byte(key)), time.Now()
	h.mu.Lock()
	known := h.callers[digest]
	h.mu.Unlock()
	if known != nil && now.Before(known.until) {
		return known.server, nil
	}
	found, err := h.c.KeyOf(ctx, key)
	if err != nil {
		return nil, err
	}
	x := &caller{New(h.c.With(client.WithKey(key)), found, h.o), now.Add(rememberFor)}
	h.mu.Lock()
	defer h.mu.Unlock()
	for d, c := range h.callers {
		if len(h.callers) >= maxCallers || now.After(c.until) {
			delete(h.callers, d)
		}
	}
	h.callers[digest] = x
	return x.server, nil
}

// Serve serves until ctx ends, and then drains open requests.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: readWithin, ReadTimeout: readWithin, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeader,
	}
	stopped := make(chan error, 1)
	go func() { // the context has ended, so draining needs its own
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin)
		defer cancel()
		stopped <- s.Shutdown(drain)
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
