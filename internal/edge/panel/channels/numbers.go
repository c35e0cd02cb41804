package channels

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/number"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

// Numbers settles which company owns a telephone number that is a line of several companies. Only the operator of the
// installation may use it.
type Numbers struct {
	Gate  *member.Gate
	Store *store.Store
	Lines Lines
}

func (x Numbers) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/numbers", auth.MayOperate, x.list),
		member.Route(x.Gate, "PUT", "/numbers/{number}", auth.MayOperate, x.assign),
		member.Route(x.Gate, "DELETE", "/numbers/{number}", auth.MayOperate, x.release),
	}
}

// numberRow is a number that is a line of several companies.
type numberRow struct {
	Number   string       `json:"number"`
	Assigned *string      `json:"assigned"` // company that the number is assigned to; null if none
	Disputed bool         `json:"disputed"` // calls to the number are refused
	Lines    []numberLine `json:"lines"`
}

type numberLine struct {
	Company     string `json:"company"`
	CompanyName string `json:"company_name"`
	ID          string `json:"id"`
	Trunk       string `json:"trunk"`
	Declared    bool   `json:"declared"` // declared by a set-up file
}

func (x Numbers) list(r *http.Request, by member.Member) (httpio.List[numberRow], error) {
	if err := member.Operator(r.Context(), x.Store, by); err != nil {
		return httpio.List[numberRow]{}, err
	}
	ctx := r.Context()
	all, err := x.Store.Senders.SharedNumbers(ctx)
	if err != nil {
		return httpio.List[numberRow]{}, err
	}
	rows := httpio.List[numberRow]{Data: []numberRow{}}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Number == all[0].Number {
			n++
		}
		row, err := x.row(ctx, all[:n])
		if err != nil {
			return httpio.List[numberRow]{}, err
		}
		rows.Data, all = append(rows.Data, row), all[n:]
	}
	return rows, nil
}

// row returns the lines of one number.
func (x Numbers) row(ctx context.Context, lines []*carillon.Sender) (numberRow, error) {
	row := numberRow{Number: lines[0].Number}
	owner, err := x.Store.Senders.NumberOwner(ctx, row.Number)
	if err != nil {
		return row, err
	}
	if owner != "" {
		row.Assigned = &owner
	}
	row.Disputed = owner == "" && x.Lines.Disputed(lines)
	for _, l := range lines {
		company, err := x.Store.Accounts.Company(ctx, l.CompanyID)
		if err != nil {
			return row, err
		}
		set := settingsOf(l)
		trunk, _ := set["trunk"].(string)
		row.Lines = append(row.Lines, numberLine{
			Company: l.CompanyID, CompanyName: company.Name, ID: l.ID, Trunk: trunk, Declared: !chosen(set),
		})
	}
	return row, nil
}

// chosen reports whether a member of the company entered a line's number or trunk.
func chosen(settings map[string]any) bool {
	return slices.ContainsFunc([]string{"claimed", "public"}, func(mark string) bool {
		return settings[mark] == "true" || settings[mark] == true
	})
}

func (x Numbers) assign(r *http.Request, by member.Member) (httpio.None, error) {
	if err := member.Operator(r.Context(), x.Store, by); err != nil {
		return nil, err
	}
	number, err := pathNumber(r)
	if err != nil {
		return nil, err
	}
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	const field = "company"
	company, err := o.Find(field).Required(field)
	if err != nil {
		return nil, err
	}
	if !carillon.ValidUUID(company) {
		return nil, carillon.InvalidValue(field, "Must be the id of a company", company)
	}
	if _, err := x.Store.Accounts.Company(r.Context(), company); err != nil {
		return nil, err
	}
	return nil, x.give(r.Context(), number, company)
}

func (x Numbers) release(r *http.Request, by member.Member) (httpio.None, error) {
	if err := member.Operator(r.Context(), x.Store, by); err != nil {
		return nil, err
	}
	number, err := pathNumber(r)
	if err != nil {
		return nil, err
	}
	return nil, x.give(r.Context(), number, "")
}

func (x Numbers) give(ctx context.Context, number, company string) error {
	return x.Store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		return settings.AssignNumber(ctx, tx, number, company, time.Now())
	})
}

func pathNumber(r *http.Request) (string, error) {
	found := number.Find(r.PathValue("number"))
	if found == "" {
		return "", carillon.Absent("Number")
	}
	return found, nil
}

// rivals are the lines of other companies with the same number, and the company that the number is assigned to.
type rivals struct {
	owner string
	lines []*carillon.Sender
}

func rivalsOf(x *carillon.Sender, owner string, lines []*carillon.Sender) rivals {
	v := rivals{owner: owner, lines: slices.DeleteFunc(slices.Clone(lines), func(l *carillon.Sender) bool {
		return l.CompanyID == x.CompanyID || l.Provider != x.Provider
	})}
	slices.SortFunc(v.lines, func(a, b *carillon.Sender) int { return cmp.Compare(a.UID, b.UID) })
	return v
}

func (v rivals) same(w rivals) bool {
	return v.owner == w.owner && slices.EqualFunc(v.lines, w.lines, func(a, b *carillon.Sender) bool {
		return a.UID == b.UID && bytes.Equal(a.Settings, b.Settings)
	})
}

// entered reports whether a member changes the number or address of a sender, instead of keeping the stored ones.
func (s Senders) entered(x, have *carillon.Sender) bool {
	a := s.Providers[x.Provider].Away
	return a != nil && a.Claim != "" &&
		(have == nil || have.Provider != x.Provider || have.Number != x.Number || settingsOf(have)[a.Setting] != settingsOf(x)[a.Setting])
}

// claim refuses a number that another company uses on the same trunk, or that is assigned to another company. It
// returns the data of its decision for claimed. It resolves the host names of trunks, so it must not run inside a
// transaction.
func (s Senders) claim(ctx context.Context, x, have *carillon.Sender) (rivals, error) {
	if !s.entered(x, have) {
		return rivals{}, nil
	}
	if _, err := s.Gate.Limits.Allow(ctx, "enter a number "+x.CompanyID, checksPerMinute, 1); err != nil {
		return rivals{}, err
	}
	owner, err := s.Store.Senders.NumberOwner(ctx, x.Number)
	if err != nil {
		return rivals{}, err
	}
	lines, err := s.Store.Senders.LinesByNumber(ctx, x.Number)
	v := rivalsOf(x, owner, lines)
	if err != nil || owner == x.CompanyID {
		return v, err
	}
	meets := s.Providers[x.Provider].Away.Meets
	if v.owner != "" || slices.ContainsFunc(v.lines, func(l *carillon.Sender) bool { return meets(ctx, l.Settings, x.Settings) }) {
		return v, numberConflict("Another company has this number on this trunk: ask the operator to give it to yours")
	}
	return v, nil
}

// claimed checks inside the transaction that the rivals are unchanged since claim.
func (s Senders) claimed(ctx context.Context, tx *configure.Tx, x, have *carillon.Sender, before rivals) error {
	if !s.entered(x, have) {
		return nil
	}
	owner, err := settings.NumberOwner(ctx, tx, x.Number)
	if err != nil {
		return err
	}
	lines, err := settings.LinesByNumber(ctx, tx, x.Number)
	if err == nil && !rivalsOf(x, owner, lines).same(before) {
		err = numberConflict("Another line of this number was changed meanwhile: try again")
	}
	return err
}

func numberConflict(reason string) *carillon.Error {
	return &carillon.Error{Code: carillon.Conflict, Message: "The present state does not allow this", Details: carillon.Details{
		{Key: "field", Value: "number"}, {Key: "reason", Value: reason},
	}}
}
