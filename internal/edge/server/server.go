// Package server listens for HTTP. It limits connections, applies timeouts to slow clients, and shuts down gracefully.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"carillon/internal/base/tracing"
	"carillon/internal/edge/httpio"
)

// Timeouts for clients that send or read slowly.
const (
	ReadHeaderTimeout = 5 * time.Second
	IdleTimeout       = 2 * time.Minute
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	opsWriteTimeout   = 2 * time.Minute // a CPU profile takes long
	maxHeader         = 32 << 10
)

// Options configure a Server.
type Options struct {
	Addr        string
	Listener    net.Listener // an open one for Addr, of another Server; nil opens the address
	Connections int          // maximum number; 0 means no limit
	PerAddress  int          // maximum per address; default a quarter of Connections
	Proxies     []netip.Prefix
	Router      *httpio.Router
	Tracing     *tracing.Tracing // nil disables tracing
	OpsAddr     string           // private; empty disables Ops
	Ops         http.Handler
	Log         *slog.Logger
	Wrap        func(http.Handler) http.Handler // around all public requests, in tests; may be nil
}

// Server serves the public address and the operator's private one.
type Server struct {
	router   *httpio.Router
	listener *connections
	public   *http.Server
	ops      *http.Server // nil if there is no private address
}

// Listen opens the public address. Connections wait until Serve.
func Listen(ctx context.Context, o Options) (*Server, error) {
	l, err := o.Listener, error(nil)
	if l == nil {
		var lc net.ListenConfig
		l, err = lc.Listen(ctx, "tcp", o.Addr)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf(
			"another program listens on %s already: choose another address with --addr (make run ADDR=127.0.0.1:8081)", o.Addr)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("listen on %s: ports below 1024 need a privilege: choose another address with --addr: %w", o.Addr, err)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", o.Addr, err)
	}
	public := traced(o.Router, o.Tracing)
	if o.Wrap != nil {
		public = o.Wrap(public)
	}
	s := &Server{
		router:   o.Router,
		listener: limitConnections(l, o.Connections, cmp.Or(o.PerAddress, o.Connections/4), o.Proxies, o.Log),
		public:   newServer(public, o.Log),
	}
	s.public.ConnState = s.listener.state
	if o.OpsAddr != "" {
		s.ops = newServer(o.Ops, o.Log)
		s.ops.Addr, s.ops.WriteTimeout = o.OpsAddr, opsWriteTimeout
	}
	return s, nil
}

// traced starts a span for each request.
func traced(next http.Handler, t *tracing.Tracing) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(t.Request(r.Context(), r.Method, r.Header)))
	})
}

func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: ReadHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: IdleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
}

// Addr returns the public address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL returns the public address for clients on this machine.
func (s *Server) URL() string {
	addr := s.Addr().String()
	if host, port, err := net.SplitHostPort(addr); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		addr = net.JoinHostPort(host, port)
	}
	return "http://" + addr
}

// Connections returns the number of open connections, and the numbers closed or refused at a limit, by reason.
func (s *Server) Connections() (open int, evicted map[string]int) { return s.listener.counts() }

// Serve serves the public address until Finish.
func (s *Server) Serve() error { return IgnoreClosed(s.public.Serve(s.listener)) }

// ServeOps serves the private address, if there is one, until CloseOps.
func (s *Server) ServeOps() error {
	if s.ops == nil {
		return nil
	}
	return IgnoreClosed(s.ops.ListenAndServe())
}

// CloseOps closes the private address and its requests.
func (s *Server) CloseOps() error {
	if s.ops == nil {
		return nil
	}
	return s.ops.Close()
}

// Finish stops accepting requests and waits for those in progress, for at most first. Longer requests continue until
// ctx ends; the returned channel then receives the result.
func (s *Server) Finish(ctx context.Context, first time.Duration) <-chan error {
	ended := make(chan error, 1)
	s.router.CloseStreams() // first, because streams would use up the time, and their clients can reconnect to another node
	soon := make(chan struct{})
	go func() {
		defer close(soon)
		err := s.public.Shutdown(ctx)
		if err != nil {
			err = errors.Join(fmt.Errorf("finish requests: %w", err), s.public.Close())
		}
		if closing := s.listener.Close(); !errors.Is(closing, net.ErrClosed) { // still open if Serve was never called
			err = errors.Join(err, closing)
		}
		s.router.AwaitStreams(ctx)
		ended <- err
	}()
	t := time.NewTimer(first)
	defer t.Stop()
	select {
	case <-soon:
	case <-t.C:
	}
	return ended
}

// IgnoreClosed returns err unless it only means that the server was closed.
func IgnoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// WithinFiles lowers the connection limit to half of the files that the process may open. The rest is for the
// database, telephone calls and outgoing requests. 0 means no limit.
func WithinFiles(ctx context.Context, log *slog.Logger, most int) int {
	return within(ctx, log, most, descriptors())
}

func within(ctx context.Context, log *slog.Logger, most, open int) int {
	if open == 0 || most > 0 && most <= open/2 {
		return most
	}
	log.WarnContext(ctx, "take fewer connections than max-connections: the limit of open files is too low", "max_connections", most,
		"open_files", open, "connections", open/2)
	return open / 2
}
