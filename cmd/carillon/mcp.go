package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/edge/mcp"
)

type mcpCommand struct {
	HTTP  string   `placeholder:"ADDRESS" help:"${mcp_http_help}"`
	Hosts []string `name:"host" placeholder:"NAME" help:"Host names of --http; required unless it listens on loopback."`
	Token string   `placeholder:"TOKEN" help:"User's access token for sandbox phones; else the demo owner's. [CARILLON_TOKEN]"`
	keyed
}

// Run serves an assistant until it disconnects or the program is stopped.
func (m *mcpCommand) Run(ctx context.Context, env *environment) error {
	o := mcp.Options{Version: app.Version()}
	if m.HTTP != "" {
		return m.serve(ctx, env, o)
	}
	if len(m.Hosts) > 0 {
		return usage("--host goes with --http")
	}
	c, facts, err := m.server.connect(env)
	if err != nil {
		return err
	}
	c = c.With(client.WithRetries(assistantRetries()))
	key, err := m.key(env, facts)
	if err != nil {
		return err
	}
	found, err := c.KeyOf(ctx, key)
	if err != nil {
		return err
	}
	o.User, o.Files = m.user(env, c, facts), true
	s := mcp.New(c.With(client.WithKey(key)), found, o)
	err = s.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(env.Stdin), Writer: nopCloser{raw(env.Stdout)}, MaxLineLength: 1 << 20})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil //nolint:nilerr // interrupted
	}
	return err
}

// serve serves MCP over HTTP.
func (m *mcpCommand) serve(ctx context.Context, env *environment, o mcp.Options) error {
	if m.Key != "" || m.KeyFile != "" || m.Token != "" {
		return usage("with --http each client sends a key of its own: leave --key, --key-file and --token out")
	}
	hosts, err := m.hosts()
	if err != nil {
		return err
	}
	c, _, err := m.server.connect(env)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.HTTP)
	if err != nil {
		return usageError{err}
	}
	const sends = "each sends an API key: Authorization: Bearer ck_…"
	_, _ = fmt.Fprintf(env.Stderr, "assistants are served at http://%s until Ctrl-C; %s\n", l.Addr(), sends)
	return mcp.Serve(ctx, l, mcp.NewHandler(c.With(client.WithRetries(assistantRetries())), o, hosts))
}

// hosts returns the host names that clients may use for the server.
func (m *mcpCommand) hosts() ([]string, error) {
	host, _, err := net.SplitHostPort(m.HTTP)
	if err != nil {
		return nil, usage("--http must be an address like 127.0.0.1:8090")
	}
	var hosts []string
	for _, h := range m.Hosts {
		hosts = append(hosts, strings.ToLower(h))
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return append(hosts, "localhost", "127.0.0.1", "::1"), nil
	}
	if len(hosts) == 0 {
		return nil, usage("--http %s listens on more than this machine: name what clients address by --host", m.HTTP)
	}
	return hosts, nil
}

// assistantRetries returns a short retry policy, because an assistant is waiting; an error includes the wait time.
func assistantRetries() client.Retries {
	return client.Retries{Attempts: 3, Limited: 2, Longest: 10 * time.Second}
}

// user returns the client for the sandbox's phones, or nil if there are no user credentials.
func (m *mcpCommand) user(env *environment, c *client.Client, facts config.DemoFacts) *client.Client {
	if token := orElse(m.Token, env.lookup("CARILLON_TOKEN")); token != "" {
		return c.With(client.WithUserToken(token))
	}
	if facts.Email != "" {
		return c.With(client.WithSignIn(facts.Email, facts.Password))
	}
	return nil
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
