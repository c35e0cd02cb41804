package main

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
)

type suppressionsCommand struct {
	List   suppressionsList   `cmd:"" help:"List the suppressed numbers: which types they do not get, since when and why."`
	Add    suppressionsAdd    `cmd:"" help:"Send a number nothing any more."`
	Remove suppressionsRemove `cmd:"" help:"Allow sending to a number again."`
}

// suppression is a row of GET suppressions.
type suppression struct {
	Number    string `json:"number"` // empty if unknown
	Reason    string `json:"reason"`
	CreatedAt string `json:"created_at"`
	Type      string `json:"type"`
	UserID    string `json:"user_id,omitempty"` // the channel's id of the person
}

const suppressionsPath = "suppressions"

type suppressionsList struct {
	Limit int `default:"0" help:"Largest number of rows; 0: all."`
	keyFlags
}

// Run lists the numbers.
func (s *suppressionsList) Run(ctx context.Context, env *environment) error {
	c, _, err := s.connect(env)
	if err != nil {
		return err
	}
	all, err := pages[suppression](ctx, c, route(http.MethodGet, suppressionsPath), s.Limit)
	if err != nil {
		return err
	}
	rows := [][]string{{"NUMBER", "TYPE", "SINCE", "REASON"}}
	for _, x := range all {
		rows = append(rows, []string{cmp.Or(x.Number, x.UserID), x.Type, x.CreatedAt, oneLine(x.Reason, 60)})
	}
	return s.show(env, all, rows)
}

type suppressionsAdd struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	Reason string      `default:"command line" placeholder:"TEXT" help:"Why; default \"${default}\"."`
	keyFlags
}

// Run adds the number.
func (s *suppressionsAdd) Run(ctx context.Context, env *environment) error {
	var x suppression
	body := map[string]string{"number": string(s.Number), "reason": s.Reason}
	if err := s.do(ctx, env, http.MethodPost, suppressionsPath, body, &x); err != nil {
		return err
	}
	return s.done(env, x, x.Number+" is suppressed since "+x.CreatedAt+": "+x.Reason)
}

type suppressionsRemove struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	keyFlags
}

// Run removes the number.
func (s *suppressionsRemove) Run(ctx context.Context, env *environment) error {
	path := suppressionsPath + "/" + url.PathEscape(string(s.Number))
	if err := s.do(ctx, env, http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	return s.done(env, map[string]any{"number": s.Number, "suppressed": false}, string(s.Number)+" is not suppressed any more")
}
