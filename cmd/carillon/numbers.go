package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

type numbersCommand struct {
	List    listCommand[sharedNumber] `cmd:"" help:"List the telephone numbers that lines of several companies have, and whose they are."`
	Assign  numbersAssign             `cmd:"" help:"Assign a number to a company: calls to it go to that company only."`
	Release numbersRelease            `cmd:"" help:"Take an assignment back."`
}

// sharedNumber is a number that is a line of several companies.
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

func (sharedNumber) list() (path string, columns []string) {
	return "numbers", []string{"NUMBER", "COMPANY", "NAME", "LINE", "TRUNK", "ENTERED BY", "CALLS"}
}

func (n sharedNumber) rows() (rows [][]string) {
	for _, l := range n.Lines {
		by, calls := "a member", "-"
		if l.Declared {
			by = "set-up file"
		}
		switch {
		case n.Disputed:
			calls = "refused: disputed"
		case n.Assigned != nil && *n.Assigned == l.Company:
			calls = "assigned"
		}
		rows = append(rows, []string{n.Number, l.Company, oneLine(l.CompanyName, 40), l.ID, l.Trunk, by, calls})
	}
	return rows
}

type numbersAssign struct {
	Number  typedNumber `arg:"" help:"Phone number, with the country code."`
	Company string      `arg:"" name:"company-id" help:"Id of the company."`
	memberFlags
}

// Run assigns the number to the company.
func (n *numbersAssign) Run(ctx context.Context, env *environment) error {
	body := map[string]string{"company": n.Company}
	if err := n.do(ctx, env, http.MethodPut, "numbers/"+url.PathEscape(string(n.Number)), body, nil); err != nil {
		return err
	}
	return n.done(env, map[string]any{"number": n.Number, "company": n.Company}, fmt.Sprintf("%s is %s's", n.Number, n.Company))
}

type numbersRelease struct {
	Number typedNumber `arg:"" help:"Phone number, with the country code."`
	memberFlags
}

// Run removes the number's assignment.
func (n *numbersRelease) Run(ctx context.Context, env *environment) error {
	if err := n.do(ctx, env, http.MethodDelete, "numbers/"+url.PathEscape(string(n.Number)), nil, nil); err != nil {
		return err
	}
	return n.done(env, map[string]any{"number": n.Number, "company": nil}, string(n.Number)+" is assigned to no company")
}
