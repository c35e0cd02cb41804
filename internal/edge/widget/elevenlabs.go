package widget

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"carillon"
	"carillon/internal/agent"
)

// Client sends requests to addresses given by companies. *egress.Client implements it.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

const (
	elevenLabs        = "https://api.elevenlabs.io" // default if the agent has no base URL
	elevenLabsTimeout = 8 * time.Second             // for requesting a signed address
)

// atElevenLabs reports whether an agent runs at ElevenLabs.
func atElevenLabs(a *agent.Agent) bool {
	return a != nil && a.Engine == "elevenlabs" && a.ElevenLabs != nil
}

// signAtElevenLabs returns a signed address at ElevenLabs, whose agent then talks with the visitor. The conversation
// does not pass through Carillon. Errors: service_unavailable.
func (g signer) signAtElevenLabs(ctx context.Context, a *agent.Agent, s signing) (*Signed, error) {
	address, err := g.ask(ctx, a.ElevenLabs)
	if err != nil {
		return nil, upstream(err)
	}
	now := time.Now()
	return g.responseFor(address, now.Add(addressAge).Truncate(time.Second).UTC(), s, now)
}

func (g signer) ask(ctx context.Context, e *agent.ElevenLabs) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, elevenLabsTimeout)
	defer cancel()
	q := url.Values{"agent_id": {e.AgentID}, "include_conversation_id": {"true"}}
	base := cmp.Or(e.BaseURL, elevenLabs)
	//nolint:gosec // the client checks addresses
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/convai/conversation/get-signed-url?"+q.Encode(), nil)
	if err != nil {
		return "", fmt.Errorf("ask ElevenLabs for an address: %w", err)
	}
	r.Header.Set("xi-api-key", e.APIKey)
	r.Header.Set("Accept", "application/json")
	resp, err := g.engines.Do(r)
	if err != nil {
		return "", fmt.Errorf("ask ElevenLabs for an address: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask ElevenLabs for an address: status %d", resp.StatusCode)
	}
	var body struct {
		SignedURL string `json:"signed_url"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return "", fmt.Errorf("read the address from ElevenLabs: %w", err)
	}
	if u, err := url.Parse(body.SignedURL); err != nil || u.Scheme != "wss" && u.Scheme != "ws" || u.Host == "" {
		return "", fmt.Errorf("read the address from ElevenLabs: no address of a socket")
	}
	return body.SignedURL, nil
}

func upstream(err error) error {
	return &carillon.Error{
		Code: carillon.UpstreamUnavailable, Message: "The voice service is not available", Err: err, RetryAfter: 5,
		Details: carillon.Details{
			{Key: "service", Value: "elevenlabs"}, {Key: "estimated_recovery", Value: carillon.FormatTime(time.Now().Add(time.Minute))},
		},
	}
}

// socketsOf returns the additional CSP sources that a page connects to: those of the service that runs the agent.
func socketsOf(a *agent.Agent) string {
	if !atElevenLabs(a) {
		return ""
	}
	origin := originOf(cmp.Or(a.ElevenLabs.BaseURL, elevenLabs))
	return " " + origin + " " + socketOf(origin)
}
