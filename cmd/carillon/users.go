package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"carillon/client"
	"carillon/internal/base/config"
)

type usersCommand struct {
	List     listCommand[user] `cmd:"" help:"List the company's users."`
	Add      usersAdd          `cmd:"" help:"Add a user to the company, or the first owner to a new installation."`
	Remove   usersRemove       `cmd:"" help:"Remove a user from the company."`
	Password usersPassword     `cmd:"" help:"Change your own password, or set a user's."`
	SignOut  usersSignOut      `cmd:"" help:"End your own other sessions, or a user's."`
}

type usersAdd struct {
	Email        string `required:"" placeholder:"EMAIL" help:"E-mail address of the new user."`
	Name         string `placeholder:"NAME" help:"Name; else the part of the address before the @."`
	Role         string `placeholder:"ROLE" enum:",owner,admin,developer,marketer,teammate,viewer" default:"" help:"${role_help}"`
	Password     string `placeholder:"PASSWORD" help:"${user_password_help}"`
	PasswordFile string `placeholder:"FILE" help:"File to read the new password from. [CARILLON_NEW_PASSWORD_FILE]"`
	First        bool   `help:"Create the first company and its owner, with the one-time token that the program prints."`
	Company      string `placeholder:"NAME" help:"With --first: name of the company."`
	administered
	As credentials `embed:"" prefix:"as-"`
	jsonFlag
}

// user is a member as the panel returns it.
type user struct {
	ID           string  `json:"id"`
	Email        string  `json:"email"`
	Name         string  `json:"name"`
	Role         string  `json:"role"`
	LastSignInAt *string `json:"last_sign_in_at"`
	CreatedAt    *string `json:"created_at"`
}

func (user) list() (path string, columns []string) {
	return "users", []string{"ID", "E-MAIL", "NAME", "ROLE", "LAST SIGN-IN"}
}

func (u user) rows() [][]string {
	return [][]string{{u.ID, u.Email, u.Name, u.Role, text(u.LastSignInAt, "never")}}
}

// Run adds the user.
func (u *usersAdd) Run(ctx context.Context, env *environment) error {
	body, err := u.body(ctx, env)
	if err != nil {
		return err
	}
	c, err := u.connect(ctx, env, u.As)
	if err != nil {
		return err
	}
	var made user
	call := u.panel(http.MethodPost, "users")
	call.Body, call.Out = body, &made
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if err := u.done(env, made, fmt.Sprintf("%s is %s (%s)", made.Email, made.Role, made.ID)); err != nil {
		return err
	}
	if u.First {
		env.next(u.JSON, "senders add --number 15550100100 --provider sandbox --default"+u.sameFlags(credentials{Email: made.Email}))
	}
	return nil
}

func (u *usersAdd) body(ctx context.Context, env *environment) (map[string]any, error) {
	if u.First != (u.Company != "") {
		return nil, usage("--first and --company go together")
	}
	if u.First && orElse(u.Token, env.lookup("CARILLON_TOKEN")) == "" {
		return nil, usage("--first needs --token, the one-time token that the program prints while nobody can sign in")
	}
	if !config.ValidEmail(u.Email) {
		return nil, usage("--email must be an address such as ana@example.com")
	}
	local, _, _ := strings.Cut(u.Email, "@")
	body := map[string]any{"email": u.Email, "name": orElse(u.Name, local)}
	password, err := secret(env, u.Password, u.PasswordFile, "CARILLON_NEW_PASSWORD")
	if err != nil {
		return nil, err
	}
	if password == "" && u.First {
		if password, err = askTwice(ctx, env, "Password of "+u.Email+" (12 characters or more): "); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]string{"password": password, "role": u.Role, "company": u.Company} {
		if value != "" {
			body[name] = value
		}
	}
	if u.First {
		body["first"] = true
	}
	return body, nil
}

// askTwice reads a new password from the terminal twice, without echoing it.
func askTwice(ctx context.Context, env *environment, prompt string) (string, error) {
	if !env.Asks {
		return "", usage("no password: give --password-file")
	}
	var typed [2]string
	for i, prompt := range []string{prompt, "The same again: "} {
		line, err := ask(ctx, env, prompt)
		if err != nil {
			return "", err
		}
		typed[i] = line
	}
	if typed[0] != typed[1] {
		return "", usage("the two passwords differ")
	}
	return typed[0], nil
}

// userPath returns the path of a user, given by id or e-mail, followed by rest.
func (a *administered) userPath(ctx context.Context, c *client.Client, idOrEmail, rest string) (string, error) {
	id := idOrEmail
	if strings.Contains(idOrEmail, "@") {
		all, err := listOf[user](ctx, c, a)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(all, func(x user) bool { return strings.EqualFold(x.Email, idOrEmail) })
		if i < 0 {
			return "", fmt.Errorf("the company has no user %s", idOrEmail)
		}
		id = all[i].ID
	}
	return "users/" + url.PathEscape(id) + rest, nil
}

type usersRemove struct {
	User string `arg:"" help:"Id or e-mail address of the user."`
	memberFlags
}

// Run removes the user.
func (u *usersRemove) Run(ctx context.Context, env *environment) error {
	c, err := u.open(ctx, env)
	if err != nil {
		return err
	}
	path, err := u.userPath(ctx, c, u.User, "")
	if err != nil {
		return err
	}
	if _, err := c.Do(ctx, u.panel(http.MethodDelete, path)); err != nil {
		return err
	}
	return u.done(env, map[string]any{"user": u.User, "removed": true}, u.User+" removed")
}

type usersPassword struct {
	User         string `arg:"" optional:"" help:"Id or e-mail address of the user; else yourself."`
	Password     string `placeholder:"PASSWORD" help:"New password, asked for by default; prefer the file. [CARILLON_NEW_PASSWORD]"`
	PasswordFile string `placeholder:"FILE" help:"File to read the new password from. [CARILLON_NEW_PASSWORD_FILE]"`
	administered
	As credentials `embed:"" prefix:"as-"`
	jsonFlag
}

// Run sets the password. Users who change their own password sign in with the current one.
func (u *usersPassword) Run(ctx context.Context, env *environment) error {
	c, facts, err := u.server.connect(env)
	if err != nil {
		return err
	}
	body := map[string]string{}
	account, call := u.User, u.panel(http.MethodPost, "user/password")
	if u.User == "" {
		if account, body["present"], err = u.As.find(ctx, env, facts); err != nil {
			return err
		}
		c, err = withSession(ctx, c, account, body["present"])
	} else if c, err = u.connect(ctx, env, u.As); err == nil {
		call.Path, err = u.userPath(ctx, c, u.User, "/password")
		call.Path = "/panel/v1/" + call.Path
	}
	if err != nil {
		return err
	}
	fresh, err := secret(env, u.Password, u.PasswordFile, "CARILLON_NEW_PASSWORD")
	if err == nil && fresh == "" {
		fresh, err = askTwice(ctx, env, "New password of "+account+" (12 characters or more): ")
	}
	if err != nil {
		return err
	}
	body["password"], call.Body = fresh, body
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return u.done(env, map[string]any{"user": account, "changed": true},
		"the password of "+account+" is changed; other sessions have ended")
}

type usersSignOut struct {
	User string `arg:"" optional:"" help:"Id or e-mail address of the user; else yourself."`
	memberFlags
}

// Run ends the user's sessions.
func (u *usersSignOut) Run(ctx context.Context, env *environment) error {
	c, err := u.open(ctx, env)
	if err != nil {
		return err
	}
	path, line := "user/sessions", "your other sessions have ended"
	if u.User != "" {
		line = "the sessions of " + u.User + " have ended"
		if path, err = u.userPath(ctx, c, u.User, "/sessions"); err != nil {
			return err
		}
	}
	if _, err := c.Do(ctx, u.panel(http.MethodDelete, path)); err != nil {
		return err
	}
	return u.done(env, map[string]any{"user": u.User, "signed_out": true}, line)
}
