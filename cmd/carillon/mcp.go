package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
	"carillon/internal/app"
	"carillon/internal/config"
	"carillon/internal/mcp"
)

type mcpCommand struct {
	HTTP  string `name:"http" placeholder:"ADDRESS" help:"Serve streamable HTTP at an address such as 127.0.0.1:8090, where each client sends an access key of its own; else one client is served on standard input and output."`
	Token string `placeholder:"TOKEN" help:"Access token of a user, for the tools of the sandbox's phones; else the demo's owner. [CARILLON_TOKEN]"`
	keyed
}

// Run serves an assistant until it leaves, or the program is stopped.
func (m *mcpCommand) Run(ctx context.Context, env *environment) error {
	o := mcp.Options{Version: app.Version()}
	if m.HTTP != "" {
		c, _, err := m.server.connect(env)
		if err != nil {
			return err
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.HTTP)
		if err != nil {
			return usageError{err}
		}
		_, _ = fmt.Fprintf(env.Stderr, "assistants are served at http://%s until Ctrl-C; each sends an access key: Authorization: Bearer ck_…\n", l.Addr())
		return mcp.Serve(ctx, l, mcp.NewHandler(c, o))
	}
	c, facts, err := m.server.connect(env)
	if err != nil {
		return err
	}
	key, err := m.key(env, facts)
	if err != nil {
		return err
	}
	found, err := c.KeyOf(ctx, key)
	if err != nil {
		return err
	}
	o.User = m.user(env, c, facts)
	s := mcp.New(c.With(client.WithKey(key)), found, o)
	err = s.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(env.Stdin), Writer: unclosed{raw(env.Stdout)}, MaxLineLength: 1 << 20})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// user is who the sandbox's phones are shown to; nil: nobody.
func (m *mcpCommand) user(env *environment, c *client.Client, facts config.DemoFacts) *client.Client {
	if token := orElse(m.Token, env.lookup("CARILLON_TOKEN")); token != "" {
		return c.With(client.WithUserToken(token))
	}
	if facts.Email != "" {
		return c.With(client.WithSignIn(facts.Email, facts.Password))
	}
	return nil
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
