package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"carillon/client"
)

type numbersCommand struct {
	List    numbersList    `cmd:"" help:"List the telephone numbers that lines of several companies have, and whose they are."`
	Assign  numbersAssign  `cmd:"" help:"Assign a number to a company: calls to it go to that company only."`
	Release numbersRelease `cmd:"" help:"Take an assignment back."`
}

// sharedNumber is a number that several companies have a line of.
type sharedNumber struct {
	Number   string  `json:"number"`
	Assigned *string `json:"assigned"`
	Disputed bool    `json:"disputed"`
	Lines    []struct {
		Company     string `json:"company"`
		CompanyName string `json:"company_name"`
		ID          string `json:"id"`
		Trunk       string `json:"trunk"`
		Declared    bool   `json:"declared"`
	} `json:"lines"`
}

type numbersList struct {
	administered
	credentials
	jsonFlag
}

// Run lists the lines of each number.
func (n *numbersList) Run(ctx context.Context, env *environment) error {
	c, err := n.connect(ctx, env, n.credentials)
	if err != nil {
		return err
	}
	var response struct {
		Data []sharedNumber `json:"data"`
	}
	call := n.panel(http.MethodGet, "numbers")
	call.Out = &response
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if n.JSON {
		return writeJSON(env.Stdout, response.Data)
	}
	rows := [][]string{{"NUMBER", "COMPANY", "NAME", "LINE", "TRUNK", "ENTERED BY", "CALLS"}}
	for _, x := range response.Data {
		for _, l := range x.Lines {
			by, calls := "a member", "-"
			if l.Declared {
				by = "set-up file"
			}
			switch {
			case x.Disputed:
				calls = "refused: disputed"
			case x.Assigned != nil && *x.Assigned == l.Company:
				calls = "assigned"
			}
			rows = append(rows, []string{x.Number, l.Company, oneLine(l.CompanyName, 40), l.ID, l.Trunk, by, calls})
		}
	}
	return writeTable(env.Stdout, rows)
}

type numbersAssign struct {
	Number  typedNumber `arg:"" help:"Phone number, with the country code."`
	Company string      `arg:"" name:"company-id" help:"Id of the company."`
	administered
	credentials
	jsonFlag
}

// Run gives the number to the company.
func (n *numbersAssign) Run(ctx context.Context, env *environment) error {
	c, err := n.connect(ctx, env, n.credentials)
	if err != nil {
		return err
	}
	call := n.number(http.MethodPut, n.Number)
	call.Body = map[string]string{"company": n.Company}
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return done(env, n.JSON, map[string]any{"number": n.Number, "company": n.Company}, fmt.Sprintf("%s is %s's", n.Number, n.Company))
}

type numbersRelease struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	administered
	credentials
	jsonFlag
}

// Run takes the number back.
func (n *numbersRelease) Run(ctx context.Context, env *environment) error {
	c, err := n.connect(ctx, env, n.credentials)
	if err != nil {
		return err
	}
	if _, err := c.Do(ctx, n.number(http.MethodDelete, n.Number)); err != nil {
		return err
	}
	return done(env, n.JSON, map[string]any{"number": n.Number, "company": nil}, string(n.Number)+" is assigned to no company")
}

func (a *administered) number(method string, number typedNumber) client.Call {
	return a.panel(method, "numbers/"+url.PathEscape(string(number)))
}
