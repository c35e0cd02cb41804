package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
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

// provision applies the set-up files and, with --demo, the demo, before anything is served.
func (a *App) provision(ctx context.Context) error {
	o := ProvisionOptions()
	if a.cfg.Demo {
		demo, facts, err := config.Demo(o)
		if err != nil {
			return err
		}
		a.ready.DemoFacts = &facts
		if _, err := a.apply(ctx, demo); err != nil {
			return fmt.Errorf("set up the demo: %w", err)
		}
	}
	if len(a.cfg.Provision) == 0 {
		return nil
	}
	p, err := config.ReadProvision(a.cfg.Provision, o)
	if err != nil {
		return err
	}
	_, err = a.apply(ctx, p)
	return err
}

func (a *App) apply(ctx context.Context, p *config.Provision) (store.Summary, error) {
	summary, err := a.store.Apply(ctx, p, a.auth.KeepPassword)
	if err != nil {
		return nil, err
	}
	warnUnbuilt(ctx, a.log, p)
	warnOf(ctx, a.log, undeliverable(a.hookServers, p))
	a.log.InfoContext(ctx, "applied set-up", "summary", summary.String())
	return summary, nil
}

// warn logs what makes this start unsafe.
func warn(ctx context.Context, log *slog.Logger, cfg config.Config, addr net.Addr) {
	if cfg.MasterKeyOpen() {
		log.WarnContext(ctx, "other users of the machine can read the master key; restrict its file with chmod 600")
	}
	if host, _, err := net.SplitHostPort(addr.String()); err == nil && cfg.Demo && !net.ParseIP(host).IsLoopback() {
		log.WarnContext(ctx, "the demo, whose password and key are public, listens on a public address", "address", addr.String())
	}
}

// ProvisionOptions returns how set-up files are read: with the checks of the providers' settings and all kinds of
// resources.
func ProvisionOptions() config.ProvisionOptions {
	return config.ProvisionOptions{
		CheckSettings: map[string]func(json.RawMessage) error{"whatsapp": whatsapp.CheckSettings, "sip": sip.CheckSettings}, Kinds: kinds(),
	}
}

// kinds returns the kinds of resources; each refers only to kinds before it.
func kinds() []resource.Kind {
	return []resource.Kind{knowledge.Kind(), agent.Kind(), widget.Kind(), secret.Kind(), flow.Kind(), hook.Kind()}
}

// engineOf returns the database engine that the settings select.
func engineOf(cfg config.Config) string {
	if cfg.DatabaseURL == "" {
		return "sqlite"
	}
	return "postgres"
}

// announce logs that requests are served, and writes the ready file.
func (a *App) announce(ctx context.Context) error {
	a.log.InfoContext(ctx, "ready", "address", a.ready.BaseURL, "engine", a.store.DB.Engine(), "version", a.ready.Version,
		"node", a.queue.ID(), "time_zones", schedule.Current().Version)
	if a.cfg.ReadyFile != "" {
		if err := a.ready.WriteFile(a.cfg.ReadyFile); err != nil {
			return err
		}
	}
	return nil
}

// printFirstSteps prints how to begin; none says that there is no account yet.
func (a *App) printFirstSteps(token string, none bool) {
	to, ready := a.o.Stdout, a.ready
	if none {
		_, _ = fmt.Fprintf(to, firstSteps, ready.BaseURL, ready.PanelURL, token, token, ready.BaseURL)
	}
	if d := ready.DemoFacts; d != nil {
		_, _ = fmt.Fprintf(to, demoSteps, ready.BaseURL, ready.DemoURL, ready.PanelURL, d.Email, d.Password, d.AccessKey,
			ready.BaseURL, d.AccessKey, demoBody(d), reach(a.cfg.ReadyFile, ready.BaseURL, d.AccessKey),
			ready.BaseURL, d.AccessKey, demoCall(d))
	}
}

// reach are the flags by which a command finds this program; none where it looks by itself.
func reach(readyFile, address, key string) string {
	switch {
	case readyFile == "":
		return " --url " + address + " --key " + key
	case filepath.Clean(readyFile) != filepath.Clean(config.DefaultReadyFile):
		return " --ready-file " + readyFile
	}
	return ""
}

const firstSteps = `
  Carillon is running at %s. Nobody can sign in yet. Make the first owner, with a password of your own, at

    %s

  with the token %s, or by the command

    carillon users add --first --token %s --email you@example.org --company "Your company" --url %s

  The token works once, for 24 hours; until there is an owner, each start makes another one. Each command then names the next.
`

const demoSteps = `
  Carillon is running        %s
  A page with chat and voice %s
  Panel                      %s
  Sign in with               %s   %s
  Access key                 %s

  Send a message to the sandbox:

    curl -s '%s/functions/v1/notify?access_key=%s' -H 'Content-Type: application/json' -d '%s'

  and watch it being delivered:

    bin/carillon notifications watch <notification_id>%s

  Have the agent call the sandbox's telephone, which rings, answers and presses keys:

    curl -s '%s/functions/v1/notify/voice?access_key=%s' -H 'Content-Type: application/json' -d '%s'

  and look at the call in the panel, under Calls.

`

func demoBody(d *config.DemoFacts) string {
	return `{"contact":{"number":"34600111222","name":"Ana"},"recipient_id":"` + d.Sender + `","name_template":"` + d.Template +
		`","language_template":"en","notification_type":"utility","campaign_name":"first steps","components_push":{"body_text_0":"{{name}}"}}`
}

func demoCall(d *config.DemoFacts) string {
	return `{"contact":{"number":"34600110018","first_name":"Ana"},"recipient_id":"demo-line","agent_id":"` + d.AgentID +
		`","notification_type":"transactional","campaign_name":"first steps"}`
}
