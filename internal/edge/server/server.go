// Package server listens for HTTP: it bounds connections, gives slow clients a limit of time, and ends requests in order.
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

// Time limits of a connection, for clients that send or read slowly.
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
	Connections int // their bound; 0: none
	PerAddress  int // the bound of one address; default a quarter of Connections
	Proxies     []netip.Prefix
	Router      *httpio.Router
	Tracing     *tracing.Tracing // nil: off
	OpsAddr     string           // private; "": Ops is not served
	Ops         http.Handler
	Log         *slog.Logger
}

// Server serves the public address and the private one of the operator.
type Server struct {
	router   *httpio.Router
	listener *connections
	public   *http.Server
	ops      *http.Server // nil: there is none
}

// Listen opens the public address. Requests wait until Serve.
func Listen(ctx context.Context, o Options) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf(
			"another program listens on %s already: choose another address with --addr (make run ADDR=127.0.0.1:8081)", o.Addr)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("listen on %s: ports below 1024 need a privilege: choose another address with --addr: %w", o.Addr, err)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", o.Addr, err)
	}
	s := &Server{
		router:   o.Router,
		listener: limitConnections(l, o.Connections, cmp.Or(o.PerAddress, o.Connections/4), o.Proxies, o.Log),
		public:   newServer(traced(o.Router, o.Tracing), o.Log),
	}
	s.public.ConnState = s.listener.state
	if o.OpsAddr != "" {
		s.ops = newServer(o.Ops, o.Log)
		s.ops.Addr, s.ops.WriteTimeout = o.OpsAddr, opsWriteTimeout
	}
	return s, nil
}

// traced begins a span with each request.
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

// Addr is the public address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the public address for clients on this machine.
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

// Connections returns the open connections, and those closed or refused at a bound, by reason.
func (s *Server) Connections() (open int, evicted map[string]int) { return s.listener.counts() }

// Serve serves the public address until Finish.
func (s *Server) Serve() error { return IgnoreClosed(s.public.Serve(s.listener)) }

// ServeOps serves the private address, where there is one, until CloseOps.
func (s *Server) ServeOps() error {
	if s.ops == nil {
		return nil
	}
	return IgnoreClosed(s.ops.ListenAndServe())
}

// CloseOps ends the requests of the private address.
func (s *Server) CloseOps() error {
	if s.ops == nil {
		return nil
	}
	return s.ops.Close()
}

// Finish accepts no more requests and waits for those in progress, until ctx ends or for as long as `first`. Longer requests go on;
// the returned channel receives their result.
func (s *Server) Finish(ctx context.Context, first time.Duration) <-chan error {
	ended := make(chan error, 1)
	s.router.CloseStreams() // first: they would use up the time, and their clients can reconnect to another node
	soon := make(chan struct{})
	go func() {
		defer close(soon)
		err := s.public.Shutdown(ctx)
		if err != nil {
			err = errors.Join(fmt.Errorf("finish requests: %w", err), s.public.Close())
		}
		if closing := s.listener.Close(); !errors.Is(closing, net.ErrClosed) { // open where nothing was served
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

// IgnoreClosed returns the error of a server that did not end because it was closed.
func IgnoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// WithinFiles returns the bound of connections, lowered to half of the files that the process may have open: the rest is for the
// database, for telephone calls and for requests to others. 0 is no bound.
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
