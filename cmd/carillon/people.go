package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"carillon/client"
)

type peopleCommand struct {
	Find   peopleFind   `cmd:"" help:"Show how much is stored about a person."`
	Export peopleExport `cmd:"" help:"Keep everything that is stored about a person as an archive."`
	Erase  peopleErase  `cmd:"" help:"Delete everything that is stored about a person."`
}

// personFlags identify a person. Their routes require a key with all scopes.
type personFlags struct {
	Number  string `arg:"" optional:"" help:"The person's number: digits only, with the country code."`
	UserID  string `name:"user-id" placeholder:"ID" help:"The channel's id of a person without a number."`
	Contact string `placeholder:"ID" help:"Id of one of the person's contacts."`
}

func (w *personFlags) body() (map[string]string, error) {
	body := map[string]string{}
	for field, value := range map[string]string{"number": w.Number, "user_id": w.UserID, "contact_id": w.Contact} {
		if value != "" {
			body[field] = value
		}
	}
	if len(body) != 1 {
		return nil, errors.New("give a number, --user-id or --contact")
	}
	return body, nil
}

func (w *personFlags) call(path string) (client.Call, error) {
	body, err := w.body()
	call := route(http.MethodPost, "people"+path)
	call.Body = body
	return call, err
}

// storedPerson is a summary of the data that a company stores about a person.
type storedPerson struct {
	Identities []string `json:"identities"`
	Contacts   []struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Email    string `json:"email"`
		Number   string `json:"number"`
		UserID   string `json:"user_id"`
		Username string `json:"username"`
	} `json:"contacts"`
	Conversations int `json:"conversations"`
	Notifications int `json:"notifications"`
	Calls         int `json:"calls"`
}

type peopleFind struct {
	personFlags
	keyFlags
}

// Run shows the person's contacts and the amount of data stored.
func (p *peopleFind) Run(ctx context.Context, env *environment) error {
	c, _, err := p.connect(env)
	if err != nil {
		return err
	}
	call, err := p.call("")
	if err != nil {
		return err
	}
	var found storedPerson
	call.Out, call.Safe = &found, true
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	rows := [][]string{
		{"identities", strings.Join(found.Identities, ", ")},
		{"conversations", strconv.Itoa(found.Conversations)},
		{"notifications", strconv.Itoa(found.Notifications)},
		{"calls", strconv.Itoa(found.Calls)},
	}
	for _, x := range found.Contacts {
		fields := []string{x.ID, oneLine(x.Name, 40), x.Number, x.UserID, x.Username, x.Email}
		rows = append(rows, []string{"contact", strings.Join(slices.DeleteFunc(fields, empty), "  ")})
	}
	return p.show(env, found, rows)
}

func empty(s string) bool { return s == "" }

type peopleExport struct {
	personFlags
	Output string `short:"o" default:"person.zip" placeholder:"FILE" help:"Where to; default person.zip in this folder. It must not exist."`
	keyFlags
}

// Run saves the archive in a new file, and removes the file if the download fails.
func (p *peopleExport) Run(ctx context.Context, env *environment) error {
	c, _, err := p.connect(env)
	if err != nil {
		return err
	}
	call, err := p.call("/export")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(p.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	call.Into, call.Once = f, true
	_, err = c.Do(ctx, call)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(p.Output))
	}
	return p.done(env, map[string]string{"file": p.Output}, p.Output)
}

type peopleErase struct {
	personFlags
	Yes bool `help:"Really erase. Nothing brings it back but a backup from before."`
	keyFlags
}

// Run erases the person.
func (p *peopleErase) Run(ctx context.Context, env *environment) error {
	if !p.Yes {
		return errors.New("an erasure cannot be undone: see what there is with `people find`, then add --yes")
	}
	c, _, err := p.connect(env)
	if err != nil {
		return err
	}
	call, err := p.call("/erase")
	if err != nil {
		return err
	}
	var erased struct {
		Hash string         `json:"hash"`
		Rows map[string]int `json:"rows"`
	}
	call.Out, call.Once = &erased, true
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	rows := [][]string{{"recorded as", erased.Hash}}
	for _, table := range slices.Sorted(maps.Keys(erased.Rows)) {
		if n := erased.Rows[table]; n > 0 {
			rows = append(rows, []string{table, fmt.Sprint(n)})
		}
	}
	return p.show(env, erased, rows)
}
