package main

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"carillon/client"
)

type suppressionsCommand struct {
	List   suppressionsList   `cmd:"" help:"List the suppressed numbers: which types they do not get, since when and why."`
	Add    suppressionsAdd    `cmd:"" help:"Send a number nothing any more."`
	Remove suppressionsRemove `cmd:"" help:"Allow sending to a number again."`
}

// suppression is a row of GET suppressions.
type suppression struct {
	Number    string `json:"number"` // "": none is known
	Reason    string `json:"reason"`
	CreatedAt string `json:"created_at"`
	Type      string `json:"type"`
	UserID    string `json:"user_id,omitempty"` // the channel's id of the person
}

const suppressionsPath = client.Prefix + "suppressions"

type suppressionsList struct {
	Limit int `default:"0" help:"Largest number of rows; 0: all."`
	keyed
	jsonFlag
}

// Run lists the numbers.
func (s *suppressionsList) Run(ctx context.Context, env *environment) error {
	c, _, err := s.connect(env)
	if err != nil {
		return err
	}
	all, err := pages[suppression](ctx, c, client.Call{Method: http.MethodGet, Path: suppressionsPath, Query: url.Values{}, As: client.Company}, s.Limit)
	if err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(env.Stdout, all)
	}
	rows := [][]string{{"NUMBER", "TYPE", "SINCE", "REASON"}}
	for _, x := range all {
		rows = append(rows, []string{cmp.Or(x.Number, x.UserID), x.Type, x.CreatedAt, oneLine(x.Reason, 60)})
	}
	return writeTable(env.Stdout, rows)
}

type suppressionsAdd struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	Reason string      `default:"command line" placeholder:"TEXT" help:"Why; default \"${default}\"."`
	keyed
	jsonFlag
}

// Run adds the number.
func (s *suppressionsAdd) Run(ctx context.Context, env *environment) error {
	c, _, err := s.connect(env)
	if err != nil {
		return err
	}
	var x suppression
	if _, err := c.Do(ctx, client.Call{
		Method: http.MethodPost, Path: suppressionsPath, As: client.Company,
		Body: map[string]string{"number": string(s.Number), "reason": s.Reason}, Out: &x,
	}); err != nil {
		return err
	}
	return done(env, s.JSON, x, x.Number+" is suppressed since "+x.CreatedAt+": "+x.Reason)
}

type suppressionsRemove struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	keyed
	jsonFlag
}

// Run removes the number.
func (s *suppressionsRemove) Run(ctx context.Context, env *environment) error {
	c, _, err := s.connect(env)
	if err != nil {
		return err
	}
	path := suppressionsPath + "/" + url.PathEscape(string(s.Number))
	if _, err := c.Do(ctx, client.Call{Method: http.MethodDelete, Path: path, As: client.Company}); err != nil {
		return err
	}
	return done(env, s.JSON, map[string]any{"number": s.Number, "suppressed": false}, string(s.Number)+" is not suppressed any more")
}
