package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carillon/client"
	"carillon/internal/app"
	"carillon/internal/base/config"
)

// server is the address of the program. If it is empty, the ready file provides the address, and in a demo the key.
type server struct {
	URL       string `placeholder:"URL" help:"${url_help}"`
	ReadyFile string `placeholder:"./data/ready.json" help:"File with the running program's address. [CARILLON_READY_FILE]"`
}

const defaultURL = "http://127.0.0.1:8080"

// connect returns a client. It also returns the demo's credentials if the address is that of the ready file.
func (s *server) connect(env *environment) (*client.Client, config.DemoFacts, error) {
	address := strings.TrimRight(orElse(s.URL, env.lookup("CARILLON_URL")), "/")
	var facts config.DemoFacts
	named := orElse(s.ReadyFile, env.lookup("CARILLON_READY_FILE"))
	ready, err := config.ReadReady(orElse(named, config.DefaultReadyFile))
	switch {
	case err != nil && s.ReadyFile != "":
		return nil, facts, usageError{err}
	case err == nil && (address == "" || address == ready.BaseURL):
		address = ready.BaseURL
		if ready.DemoFacts != nil {
			facts = *ready.DemoFacts
		}
	}
	notice := client.WithNotice(func(d time.Duration, why error) {
		_, _ = fmt.Fprintf(env.Stderr, "%v; trying again in %v\n", why, d.Round(100*time.Millisecond))
	})
	c, err := client.New(orElse(address, defaultURL), client.WithUserAgent("carillon/"+app.Version()), notice)
	if err != nil {
		return nil, facts, usageError{err}
	}
	return c, facts, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// secret returns a value from a flag, from the file named by a flag, or from the environment.
func secret(env *environment, flag, file, variable string) (string, error) {
	if flag != "" && file != "" {
		return "", usage("a secret is given both directly and by a file: give one of them")
	}
	if flag != "" {
		return flag, nil
	}
	if file != "" {
		return readSecret(file)
	}
	value, twin := env.lookup(variable), env.lookup(variable+"_FILE")
	if value != "" && twin != "" {
		return "", usage("%s and %s_FILE are both set: set one of them", variable, variable)
	}
	if twin != "" {
		return readSecret(twin)
	}
	return value, nil
}

func readSecret(file string) (string, error) {
	s, err := config.ReadSecretFile(file)
	if err != nil {
		return "", usageError{err}
	}
	return s, nil
}

// keyed is a server with an API key.
type keyed struct {
	server
	Key     string `placeholder:"KEY" help:"${key_help}"`
	KeyFile string `placeholder:"FILE" help:"File to read the API key from. [CARILLON_ACCESS_KEY_FILE]"`
}

func (k *keyed) connect(env *environment) (*client.Client, config.DemoFacts, error) {
	c, facts, err := k.server.connect(env)
	if err != nil {
		return nil, facts, err
	}
	key, err := k.key(env, facts)
	if err != nil {
		return nil, facts, err
	}
	return c.With(client.WithKeyInQuery(key)), facts, nil
}

// key returns the given API key, or the demo's.
func (k *keyed) key(env *environment, facts config.DemoFacts) (string, error) {
	key, err := secret(env, k.Key, k.KeyFile, "CARILLON_ACCESS_KEY")
	if err != nil {
		return "", err
	}
	if key = orElse(key, facts.AccessKey); key == "" {
		return "", usage("no API key: give --key-file, --key or CARILLON_ACCESS_KEY; " +
			"the demo's is found in the folder where the demo was started, or by --ready-file")
	}
	return key, nil
}

// credentials identify an owner or admin.
type credentials struct {
	Email        string `placeholder:"EMAIL" help:"Who signs in; else the demo's owner. [CARILLON_EMAIL]"`
	Password     string `placeholder:"PASSWORD" help:"Password, asked for by default; prefer the file or variable. [CARILLON_PASSWORD]"`
	PasswordFile string `placeholder:"FILE" help:"File to read the password from. [CARILLON_PASSWORD_FILE]"`
}

// administered is a server accessed as a member of a company.
type administered struct {
	server
	Token string `placeholder:"TOKEN" help:"Access token, instead of signing in. [CARILLON_TOKEN]"`
	In    string `name:"in" placeholder:"COMPANY-ID" help:"Company, for users who belong to several."`
}

func (a *administered) connect(ctx context.Context, env *environment, by credentials) (*client.Client, error) {
	c, facts, err := a.server.connect(env)
	if err != nil {
		return nil, err
	}
	if token := orElse(a.Token, env.lookup("CARILLON_TOKEN")); token != "" {
		return c.With(client.WithUserToken(token)), nil
	}
	email, password, err := by.find(ctx, env, facts)
	if err != nil {
		return nil, err
	}
	return withSession(ctx, c, email, password)
}

// find returns an e-mail address and its password, which it asks for at a terminal if necessary.
func (by *credentials) find(ctx context.Context, env *environment, facts config.DemoFacts) (email, password string, err error) {
	email = orElse(by.Email, env.lookup("CARILLON_EMAIL"))
	if password, err = secret(env, by.Password, by.PasswordFile, "CARILLON_PASSWORD"); err != nil {
		return "", "", err
	}
	if email == "" || email == facts.Email {
		email, password = facts.Email, orElse(password, facts.Password)
	}
	if email == "" || password == "" && !env.Asks {
		return "", "", usage("sign in with an e-mail and a password file, or give --token")
	}
	if password == "" {
		password, err = ask(ctx, env, "Password of "+email+": ")
	}
	return email, password, err
}

// ask reads a line from the terminal without echoing it.
func ask(ctx context.Context, env *environment, prompt string) (string, error) {
	_, _ = fmt.Fprint(env.Stderr, prompt)
	line, err := env.Secret(ctx)
	_, _ = fmt.Fprintln(env.Stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return line, nil
}

// withSession signs in and returns a client with the user's session.
func withSession(ctx context.Context, c *client.Client, email, password string) (*client.Client, error) {
	session, err := c.Users().SignIn(ctx, email, password)
	if err != nil {
		return nil, err
	}
	return c.With(client.WithUserToken(session.AccessToken)), nil
}

// panel builds a call of a panel route.
func (a *administered) panel(method, path string) client.Call {
	q := url.Values{}
	if a.In != "" {
		q.Set("company", a.In)
	}
	return client.Call{Method: method, Path: "/panel/v1/" + path, Query: q, As: client.User}
}

// memberFlags are the flags of commands for members of a company.
type memberFlags struct {
	administered
	credentials
	jsonFlag
}

func (m *memberFlags) open(ctx context.Context, env *environment) (*client.Client, error) {
	return m.connect(ctx, env, m.credentials)
}

// do calls a panel route.
func (m *memberFlags) do(ctx context.Context, env *environment, method, path string, body, out any) error {
	c, err := m.open(ctx, env)
	if err != nil {
		return err
	}
	call := m.panel(method, path)
	call.Body, call.Out = body, out
	_, err = c.Do(ctx, call)
	return err
}

// keyFlags are the flags of commands that use an API key.
type keyFlags struct {
	keyed
	jsonFlag
}

// do calls a route of the public API.
func (k *keyFlags) do(ctx context.Context, env *environment, method, path string, body, out any) error {
	c, _, err := k.connect(env)
	if err != nil {
		return err
	}
	call := route(method, path)
	call.Body, call.Out = body, out
	_, err = c.Do(ctx, call)
	return err
}

// route builds a call of the public API.
func route(method, path string) client.Call {
	return client.Call{Method: method, Path: client.Prefix + path, Query: url.Values{}, As: client.Company}
}

// get calls a GET route of the public API.
func get(ctx context.Context, c *client.Client, path string, query url.Values, out any) error {
	call := route(http.MethodGet, path)
	call.Query, call.Out = query, out
	_, err := c.Do(ctx, call)
	return err
}
