package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"carillon/client"
)

// userPath is the path of a user, who is named by id or e-mail, and what follows it.
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
	Password     string `placeholder:"PASSWORD" help:"New password; prefer the file; else it is asked for at a terminal. [CARILLON_NEW_PASSWORD]"`
	PasswordFile string `placeholder:"FILE" help:"File to read the new password from. [CARILLON_NEW_PASSWORD_FILE]"`
	administered
	As credentials `embed:"" prefix:"as-"`
	jsonFlag
}

// Run sets the password. Whoever changes their own signs in with the present one.
func (u *usersPassword) Run(ctx context.Context, env *environment) error {
	c, facts, err := u.server.connect(env)
	if err != nil {
		return err
	}
	body := map[string]string{}
	whose, call := u.User, u.panel(http.MethodPost, "user/password")
	if u.User == "" {
		if whose, body["present"], err = u.As.find(ctx, env, facts); err != nil {
			return err
		}
		c, err = withSession(ctx, c, whose, body["present"])
	} else if c, err = u.connect(ctx, env, u.As); err == nil {
		call.Path, err = u.userPath(ctx, c, u.User, "/password")
		call.Path = "/panel/v1/" + call.Path
	}
	if err != nil {
		return err
	}
	fresh, err := secret(env, u.Password, u.PasswordFile, "CARILLON_NEW_PASSWORD")
	if err == nil && fresh == "" {
		fresh, err = askTwice(ctx, env, "New password of "+whose+" (12 characters or more): ")
	}
	if err != nil {
		return err
	}
	body["password"], call.Body = fresh, body
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return u.done(env, map[string]any{"user": whose, "changed": true}, "the password of "+whose+" is changed; other sessions have ended")
}

type usersSignOut struct {
	User string `arg:"" optional:"" help:"Id or e-mail address of the user; else yourself."`
	memberFlags
}

// Run ends the sessions.
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
