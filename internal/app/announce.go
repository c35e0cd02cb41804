package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"

	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/site"
	"carillon/internal/agent/tools"
	"carillon/internal/agent/trial"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
	"carillon/internal/base/schedule"
	"carillon/internal/base/secret"
	"carillon/internal/call/sip"
	"carillon/internal/edge/widget"
	"carillon/internal/event/hook"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/talk/flow"
)

// provision applies the set-up files and, with --demo, the demo, before the program accepts requests.
func (a *App) provision(ctx context.Context, p *parts) error {
	o := ProvisionOptions()
	if a.cfg.Demo {
		demo, facts, err := config.Demo(o)
		if err != nil {
			return err
		}
		a.ready.DemoFacts = &facts
		if _, err := a.apply(ctx, p, demo); err != nil {
			return fmt.Errorf("set up the demo: %w", err)
		}
	}
	if len(a.cfg.Provision) == 0 {
		return nil
	}
	set, err := config.ReadProvision(a.cfg.Provision, o)
	if err != nil {
		return err
	}
	_, err = a.apply(ctx, p, set)
	return err
}

func (a *App) apply(ctx context.Context, p *parts, set *config.Provision) (store.Summary, error) {
	summary, err := a.store.Apply(ctx, set, p.auth.KeepPassword)
	if err != nil {
		return nil, err
	}
	warnUnbuilt(ctx, a.log, set)
	warnOf(ctx, a.log, hook.Unreached(p.hookServers, set))
	a.log.InfoContext(ctx, "applied set-up", "summary", summary.String())
	return summary, nil
}

// warn logs conditions that make this start unsafe.
func warn(ctx context.Context, log *slog.Logger, cfg config.Config, addr net.Addr) {
	if cfg.MasterKeyOpen() {
		log.WarnContext(ctx, "other users of the machine can read the master key; restrict its file with chmod 600")
	}
	if host, _, err := net.SplitHostPort(addr.String()); err == nil && cfg.Demo && !net.ParseIP(host).IsLoopback() {
		log.WarnContext(ctx, "the demo, whose password and key are public, listens on a public address", "address", addr.String())
	}
}

// ProvisionOptions returns the options for reading set-up files: the settings checks of the providers and all kinds of
// resources.
func ProvisionOptions() config.ProvisionOptions {
	return config.ProvisionOptions{
		CheckSettings: map[string]func(json.RawMessage) error{"whatsapp": whatsapp.CheckSettings, "sip": sip.CheckSettings}, Kinds: kinds(),
	}
}

// kinds returns the kinds of resources. Each refers only to kinds before it.
func kinds() []resource.Kind {
	return []resource.Kind{
		knowledge.Kind(), secret.Kind(), site.Kind(), tools.Kind(), agent.Kind(), widget.Kind(), flow.Kind(), hook.Kind(), trial.Kind(),
	}
}

// engineOf returns the database engine that the settings select.
func engineOf(cfg config.Config) string {
	if cfg.DatabaseURL == "" {
		return "sqlite"
	}
	return "postgres"
}

// announce logs that the program serves requests, and writes the ready file.
func (a *App) announce(ctx context.Context, node string) error {
	a.log.InfoContext(ctx, "ready", "address", a.ready.BaseURL, "engine", a.store.DB.Engine(), "version", a.ready.Version,
		"node", node, "time_zones", schedule.Current().Version)
	if a.cfg.ReadyFile != "" {
		if err := a.ready.WriteFile(a.cfg.ReadyFile); err != nil {
			return err
		}
	}
	return nil
}
