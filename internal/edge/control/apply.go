package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

// maxBundle limits the size of a set-up bundle on the control socket.
const maxBundle = 64 << 20

// Applied is the response to a set-up: its summary, or the reason why it was not applied.
type Applied struct {
	Summary  store.Summary   `json:"summary,omitempty"`
	Warnings config.Problems `json:"warnings,omitempty"` // parts that do not work with the running program's settings
	Problems config.Problems `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// applySetUp validates and applies the bundle in the request.
func (c *Control) applySetUp(w http.ResponseWriter, r *http.Request) {
	c.applying.Lock()
	defer c.applying.Unlock()
	var bundle config.Bundle
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBundle)).Decode(&bundle); err != nil {
		http.Error(w, fmt.Sprintf("a running program reads set-ups of at most %d bytes: apply the files one by one", maxBundle),
			http.StatusBadRequest)
		return
	}
	p, err := bundle.Provision(c.Read)
	var response Applied
	if err == nil {
		response.Warnings = c.Warn(p)
		response.Summary, err = c.Apply(r.Context(), p)
	}
	if err != nil {
		problems, ok := errors.AsType[config.Problems](err)
		if response.Problems = problems; !ok {
			response.Error = err.Error()
			c.Log.WarnContext(r.Context(), "apply a set-up", "error", err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(response) // the client may have disconnected
}

// Apply sends a set-up to the program running on the data folder. running is false if no program responds.
func Apply(ctx context.Context, dir string, bundle *config.Bundle) (done Applied, running bool, err error) {
	c, release, err := client(dir)
	if err != nil {
		return Applied{}, false, nil
	}
	defer release()
	body, err := json.Marshal(bundle)
	if err != nil {
		return Applied{}, false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/apply", bytes.NewReader(body))
	if err != nil {
		return Applied{}, false, err
	}
	response, err := c.Do(r)
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return Applied{}, false, nil
	}
	if err != nil {
		return Applied{}, true, fmt.Errorf("pass the set-up to the running program: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	done, err = readApplied(response)
	return done, true, err
}

func readApplied(response *http.Response) (a Applied, err error) {
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
