package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/client"
)

type keysCommand struct {
	Create keysCreate       `cmd:"" help:"Create an API key and show it."`
	List   listCommand[key] `cmd:"" help:"List the company's API keys."`
	Revoke keysRevoke       `cmd:"" help:"Revoke an API key."`
}

// key is an API key as the panel returns it.
type key struct {
	ID        string   `json:"id"`
	Label     string   `json:"label"`
	Key       string   `json:"key,omitempty"`
	Prefix    string   `json:"prefix"`
	Scopes    []string `json:"scopes"`
	IsActive  bool     `json:"is_active"`
	ExpiresAt *string  `json:"expires_at"`
	RevokedAt *string  `json:"revoked_at"`
	LastUsed  *string  `json:"last_used"`
	CreatedAt *string  `json:"created_at"`
}

type keysCreate struct {
	Label   string        `required:"" help:"What the key is for."`
	Scope   []string      `placeholder:"SCOPE" help:"Scope of the key, as notify:send; may be repeated; else all."`
	Expires time.Duration `placeholder:"DURATION" help:"Time until it expires, as 720h; else never."`
	memberFlags
}

// Run creates a key and shows it.
func (k *keysCreate) Run(ctx context.Context, env *environment) error {
	if k.Expires < 0 {
		return usage("--expires must lie in the future")
	}
	c, err := k.open(ctx, env)
	if err != nil {
		return err
	}
	body := map[string]any{"label": k.Label}
	if len(k.Scope) > 0 {
		body["scopes"] = k.Scope
	}
	if k.Expires > 0 {
		body["expires_at"] = time.Now().Add(k.Expires).UTC().Format(time.RFC3339)
	}
	var made key
	call := k.panel(http.MethodPost, "keys")
	call.Body, call.Out = body, &made
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if k.JSON {
		return writeJSON(env.Stdout, made)
	}
	if _, err = fmt.Fprintf(env.Stdout, "%s\n", made.Key); err != nil {
		return err
	}
	const where = "those who may see keys find it with POST /functions/v1/api_keys"
	_, _ = fmt.Fprintf(env.Stderr, "key %s (%s) made; %s\n", made.ID, made.Label, where)
	if len(k.Scope) == 0 {
		k.suggest(ctx, env, c, made.Key)
	}
	return nil
}

// suggest prints the next command for a new company: adding a sender, or creating a template for the existing one.
func (k *keysCreate) suggest(ctx context.Context, env *environment, c *client.Client, key string) {
	all, err := listOf[senderState](ctx, c, &k.administered)
	if err != nil {
		return // the key is already created; the suggestion is optional
	}
	i := slices.IndexFunc(all, func(x senderState) bool { return x.Channel == "messaging" })
	if i < 0 {
		env.next(false, "senders add --number 15550100100 --provider sandbox --default"+k.sameFlags(k.credentials))
		return
	}
	env.next(false, "templates create --name hello --lang en --category UTILITY --content 'Hello {{1}}' --submit --wait"+
		option("from", all[i].Number)+option("key", key)+k.server.sameFlags())
}

func (key) list() (path string, columns []string) {
	return "keys", []string{"ID", "LABEL", "KEY", "SCOPES", "STATE", "LAST USED"}
}

func (k key) rows() [][]string {
	return [][]string{{k.ID, k.Label, k.Prefix + "…", strings.Join(k.Scopes, " "), stateOfKey(k), text(k.LastUsed, "never")}}
}

func stateOfKey(k key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case !k.IsActive:
		return "expired"
	case k.ExpiresAt != nil:
		return "active until " + *k.ExpiresAt
	}
	return "active"
}

func text(s *string, none string) string {
	if s == nil {
		return none
	}
	return *s
}

type keysRevoke struct {
	ID string `arg:"" help:"Id of the key, as the list shows it."`
	memberFlags
}

// Run revokes a key.
func (k *keysRevoke) Run(ctx context.Context, env *environment) error {
	if err := k.do(ctx, env, http.MethodDelete, "keys/"+url.PathEscape(k.ID), nil, nil); err != nil {
		return err
	}
	return k.done(env, map[string]any{"id": k.ID, "revoked": true}, "key "+k.ID+" revoked")
}
