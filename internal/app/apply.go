package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/config"
	"carillon/internal/store"
)

// Apply applies the set-up files that the settings name; it neither listens nor delivers. On SQLite the program that runs on
// the data folder applies them, where there is one.
func Apply(ctx context.Context, cfg config.Config, log *slog.Logger) (store.Summary, error) {
	if err := useZones(cfg); err != nil {
		return nil, err
	}
	// Read the files first, to report mistakes in them without a database.
	bundle, p, err := config.ReadBundle(cfg.Provision, ProvisionOptions())
	if err != nil {
		return nil, err
	}
	var done applied
	running := false
	if cfg.DatabaseURL == "" {
		done, running, err = passOn(ctx, cfg.Data, bundle)
	}
	if !running {
		done.Warnings = undeliverable(newHookServers(cfg.MediaAllowPrivate), p)
		done.Summary, err = applyAlone(ctx, cfg, p, log)
	}
	if err != nil {
		return nil, err
	}
	warnUnbuilt(ctx, log, p)
	warnOf(ctx, log, done.Warnings)
	return done.Summary, nil
}

// applyAlone opens the database itself.
func applyAlone(ctx context.Context, cfg config.Config, p *config.Provision, log *slog.Logger) (summary store.Summary, err error) {
	if err := cfg.CheckFolder(); err != nil {
		return nil, err
	}
	key, err := cfg.MasterKey()
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, store.Options{Dir: cfg.Data, DatabaseURL: cfg.DatabaseURL.Reveal(), MasterKey: key, Logger: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	passwords := auth.New(st, limit.New(st.Rates, log), authOptions(cfg, 0, log, nil))
	if summary, err = st.Apply(ctx, p, passwords.KeepPassword); err == nil {
		warnOfNumbers(ctx, st, log)
	}
	return summary, err
}

// maxBundle bounds a set-up on the control socket.
const maxBundle = 64 << 20

// applied is the response to a set-up: its summary, or why it was not applied.
type applied struct {
	Summary  store.Summary   `json:"summary,omitempty"`
	Warnings config.Problems `json:"warnings,omitempty"` // of what the settings of the program that applied it do not allow
	Problems config.Problems `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// applySetUp validates the bundle in the request and applies it.
func (c *control) applySetUp(w http.ResponseWriter, r *http.Request) {
	c.applying.Lock()
	defer c.applying.Unlock()
	var bundle config.Bundle
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBundle)).Decode(&bundle); err != nil {
		http.Error(w, fmt.Sprintf("a running program reads set-ups of at most %d bytes: apply the files one by one", maxBundle), http.StatusBadRequest)
		return
	}
	p, err := bundle.Provision(ProvisionOptions())
	var response applied
	if err == nil {
		response.Warnings = c.warn(p)
		response.Summary, err = c.apply(r.Context(), p)
	}
	if err != nil {
		problems, ok := errors.AsType[config.Problems](err)
		if response.Problems = problems; !ok {
			response.Error = err.Error()
			c.log.WarnContext(r.Context(), "apply a set-up", "error", err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(response) // the client may be gone
}

// passOn has the program that runs on the data folder apply a set-up; running is false when none responds.
func passOn(ctx context.Context, dir string, bundle *config.Bundle) (done applied, running bool, err error) {
	c, release, err := controlClient(dir)
	if err != nil {
		return applied{}, false, nil
	}
	defer release()
	body, err := json.Marshal(bundle)
	if err != nil {
		return applied{}, false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/apply", bytes.NewReader(body))
	if err != nil {
		return applied{}, false, err
	}
	response, err := c.Do(r)
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return applied{}, false, nil
	}
	if err != nil {
		return applied{}, true, fmt.Errorf("pass the set-up to the running program: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	done, err = readApplied(response)
	return done, true, err
}

func readApplied(response *http.Response) (a applied, err error) {
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return a, fmt.Errorf("the running program refused: %s", bytes.TrimSpace(text))
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxBundle)).Decode(&a); err != nil {
		return a, fmt.Errorf("read the running program's response: %w", err)
	}
	switch {
	case len(a.Problems) > 0:
		return a, a.Problems
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}
