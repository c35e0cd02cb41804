package flows

import (
	"context"
	"net/http"
	"slices"

	"carillon/internal/account/auth"
	"carillon/internal/base/secret"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/audit"
	"carillon/internal/talk/flow"
)

// maxSecrets exceeds the number of secrets that a company may have.
const maxSecrets = 1000

// secretRow is a secret in the list, without its value.
type secretRow struct {
	Name   string       `json:"name"`
	Hosts  []string     `json:"hosts"`
	SetAt  *string      `json:"set_at"`  // null if no longer recorded
	SetBy  string       `json:"set_by"`  // the person, or the kind of set-up
	UsedAt *string      `json:"used_at"` // accurate to a minute; null if never used
	Flows  []secretUser `json:"flows"`   // published flows that send it
}

type secretUser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ListSecrets returns a handler that lists all secrets of a company. They are written like other resources.
func ListSecrets(s *store.Store) member.Handler[httpio.Rows[secretRow]] {
	return func(r *http.Request, by member.Member) (httpio.Rows[secretRow], error) { return listSecrets(r, s, by) }
}

func listSecrets(r *http.Request, x *store.Store, by member.Member) (httpio.Rows[secretRow], error) {
	all, err := x.Resources.Resources(r.Context(), by.CompanyID, secret.Kind(), "", maxSecrets)
	if err != nil {
		return httpio.Rows[secretRow]{}, err
	}
	uses, err := x.Resources.SecretUses(r.Context(), by.CompanyID)
	if err != nil {
		return httpio.Rows[secretRow]{}, err
	}
	flows, err := x.Resources.Heads(r.Context(), by.CompanyID, flow.Kind())
	if err != nil {
		return httpio.Rows[secretRow]{}, err
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
		if err := setAuthor(r.Context(), x, by.CompanyID, &row); err != nil {
			return httpio.Rows[secretRow]{}, err
		}
		rows = append(rows, row)
	}
	return httpio.RowsOf(rows), nil
}

// setAuthor sets the author and time of a secret's last change.
func setAuthor(ctx context.Context, x *store.Store, companyID string, row *secretRow) error {
	last, err := x.Audit.List(ctx, companyID, audit.Filter{Kind: audit.Kind(secret.Kind().Name), ObjectID: row.Name, Limit: 1})
	for _, c := range last {
		row.SetAt, row.SetBy = auth.TimeOrNull(c.At), c.AuthorName
		if row.SetBy == "" {
			row.SetBy = string(c.Origin)
		}
	}
	return err
}
