package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"carillon/internal/edge/widget"
)

// Time limits of a connection, for clients that send or read slowly.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeader         = 32 << 10
)

// listen opens the listener. Requests are served once the parts run.
func (a *App) listen(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", a.cfg.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s already: choose another address with --addr (make run ADDR=127.0.0.1:8081)", a.cfg.Addr)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("listen on %s: ports below 1024 need a privilege: choose another address with --addr: %w", a.cfg.Addr, err)
	case err != nil:
		return fmt.Errorf("listen on %s: %w", a.cfg.Addr, err)
	}
	a.ready.BaseURL, a.ready.WidgetURL, a.ready.Version = a.cfg.BaseURL, a.cfg.WidgetURL, Version()
	if a.ready.BaseURL == "" {
		a.ready.BaseURL = "http://" + reachable(l.Addr())
	}
	if a.ready.WidgetURL == "" {
		a.ready.WidgetURL = a.ready.BaseURL
	}
	a.ready.PanelURL = a.ready.BaseURL + "/panel"
	if a.ready.DemoFacts != nil {
		a.ready.DemoURL = demoURL(a.ready.BaseURL, a.ready.WidgetURL)
	}
	perAddress := cmp.Or(a.cfg.ConnectionsEach, a.cfg.MaxConnections/4)
	a.listener = limitConnections(l, a.cfg.MaxConnections, perAddress, a.cfg.TrustedProxies, a.log)
	return nil
}

// withinDescriptors returns the bound of connections, lowered to half of the files that the process may have open: the rest is for the
// database, for telephone calls and for requests to others. 0 is no bound.
func withinDescriptors(ctx context.Context, log *slog.Logger, most, open int) int {
	if open == 0 || most > 0 && most <= open/2 {
		return most
	}
	log.WarnContext(ctx, "take fewer connections than max-connections: the limit of open files is too low", "max_connections", most,
		"open_files", open, "connections", open/2)
	return open / 2
}

// demoURL is the address of the demo's page. A chat lives on the sites of others, so the page is under another name of this
// machine than the chat, where the program is reached by one.
func demoURL(base, pages string) string {
	if base == pages {
		base = strings.Replace(base, "//127.0.0.1:", "//localhost:", 1)
	}
	return base + widget.DemoPath
}

// reachable returns the listener's address for clients on this machine.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

func (a *App) serve() {
	a.server = newServer(a.tracing.Handler(a.router), a.log)
	a.server.ConnState = a.listener.state
	a.rest.Go(func() { a.report(ignoreClosed(a.server.Serve(a.listener))) })
	if a.cfg.OpsAddr == "" {
		return
	}
	a.ops = newServer(opsHandler(a.metrics), a.log)
	a.ops.Addr, a.ops.WriteTimeout = a.cfg.OpsAddr, 2*time.Minute // a CPU profile takes long
	a.rest.Go(func() { a.report(ignoreClosed(a.ops.ListenAndServe())) })
}

func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// opsHandler serves metrics and profiles on the private address.
func opsHandler(m *metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// Version returns the program's version, which the build sets.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && version == "devel" {
			return "devel-" + s.Value[:12]
		}
	}
	return version
}
