package app

import (
	"context"
	"runtime/debug"
	"strings"

	"carillon/internal/base/content"
	"carillon/internal/base/tracing"
	"carillon/internal/edge/ops"
	"carillon/internal/edge/server"
	"carillon/internal/edge/widget"
)

// listen opens the listener. Requests are served only after the parts are running.
func (a *App) listen(ctx context.Context, p *parts, tracer *tracing.Tracing) (err error) {
	a.server, err = server.Listen(ctx, server.Options{
		Addr: a.cfg.Addr, Listener: a.o.listener, Connections: a.cfg.MaxConnections, PerAddress: a.cfg.ConnectionsEach,
		Proxies: a.cfg.TrustedProxies, Router: a.router, Tracing: tracer, OpsAddr: a.cfg.OpsAddr, Ops: a.metrics.Handler(),
		Log: a.log, Wrap: a.o.Wrap,
	})
	if err != nil {
		return err
	}
	a.metrics.Read(&ops.Sources{
		Store: a.store, Queue: p.queue, Hub: p.hub, Hooks: p.hooks, Auth: p.auth, SIP: p.sip, Unheard: &p.unheard, Shares: a.shares,
		Readiness: a.readiness, Connections: a.server.Connections, Data: a.cfg.Data,
	})
	a.ready.BaseURL, a.ready.WidgetURL, a.ready.Version = a.cfg.BaseURL, a.cfg.WidgetURL, Version()
	if a.ready.BaseURL == "" {
		a.ready.BaseURL = a.server.URL()
	}
	if a.ready.WidgetURL == "" {
		a.ready.WidgetURL = a.ready.BaseURL
	}
	a.store.Templates.CountClicks(a.ready.BaseURL + content.LinkPath)
	a.ready.PanelURL = a.ready.BaseURL + "/panel"
	if a.ready.DemoFacts != nil {
		a.ready.DemoURL = demoURL(a.ready.BaseURL, a.ready.WidgetURL)
	}
	return nil
}

// demoURL returns the address of the demo page. In practice a chat is embedded in other sites, so the page uses
// another host name of this machine than the chat if the program is reached by only one.
func demoURL(base, pages string) string {
	if base == pages {
		base = strings.Replace(base, "//127.0.0.1:", "//localhost:", 1)
	}
	return base + widget.DemoPath
}

func (a *App) serve() {
	a.served = true
	a.rest.Go(func() { a.report(a.server.Serve()) })
	a.rest.Go(func() { a.report(a.server.ServeOps()) })
}

// Version returns the program's version, as set by the build.
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
