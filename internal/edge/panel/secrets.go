package panel

import (
	"context"
	"net/http"
	"slices"

	"carillon/internal/account/auth"
	"carillon/internal/base/secret"
	"carillon/internal/store/audit"
	"carillon/internal/talk/flow"
)

// secrets serves the list of secrets; writing them is that of other resources.
type secrets struct{ *Panel }

// secretsMost are more secrets than a company may have.
const secretsMost = 1000

// secretRow is a secret in the list, which never has its value.
type secretRow struct {
	Name   string       `json:"name"`
	Hosts  []string     `json:"hosts"`
	SetAt  *string      `json:"set_at"`  // null: it is not recorded any more
	SetBy  string       `json:"set_by"`  // the person, or how it was set up
	UsedAt *string      `json:"used_at"` // within a minute; null: never
	Flows  []secretUser `json:"flows"`   // published ones that send it
}

type secretUser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// list responds with all secrets of a company.
func (x secrets) list(r *http.Request, by member) (any, error) {
	all, err := x.Store.Resources.Resources(r.Context(), by.companyID, secret.Kind(), "", secretsMost)
	if err != nil {
		return nil, err
	}
	uses, err := x.Store.Resources.SecretUses(r.Context(), by.companyID)
	if err != nil {
		return nil, err
	}
	flows, err := x.Store.Resources.Heads(r.Context(), by.companyID, flow.Kind())
	if err != nil {
		return nil, err
	}
	rows := make([]secretRow, 0, len(all))
	for _, one := range all {
		s, ok := one.(*secret.Secret)
		if !ok {
			continue
		}
		row := secretRow{Name: s.Name, Hosts: s.Hosts, UsedAt: auth.TimeOrNull(uses[s.Name]), Flows: []secretUser{}}
		for _, f := range flows {
			if h, ok := f.Value.(*flow.Head); ok && slices.Contains(h.Secrets, s.Name) {
				row.Flows = append(row.Flows, secretUser{f.ID, f.Name})
			}
		}
		if err := x.whoSet(r.Context(), by.companyID, &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return struct {
		Data []secretRow `json:"data"`
	}{rows}, nil
}

// whoSet says who set a secret last, and when.
func (x secrets) whoSet(ctx context.Context, companyID string, row *secretRow) error {
	last, err := x.Store.Audit.List(ctx, companyID, audit.Filter{Kind: audit.Kind(secret.Kind().Name), ObjectID: row.Name, Limit: 1})
	for _, c := range last {
		row.SetAt, row.SetBy = auth.TimeOrNull(c.At), c.AuthorName
		if row.SetBy == "" {
			row.SetBy = string(c.Origin)
		}
	}
	return err
}
