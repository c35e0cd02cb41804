package templates

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	storetemplates "carillon/internal/store/templates"
)

// changeRow is a change in the history of a template.
type changeRow struct {
	At     string                  `json:"at"`
	Action storetemplates.Action   `json:"action"`
	By     changedBy               `json:"by"`
	Status carillon.TemplateStatus `json:"status"` // since then
	Reason string                  `json:"reason,omitempty"`
	Before *storetemplates.Text    `json:"before,omitempty"`
	After  *storetemplates.Text    `json:"after,omitempty"`
}

// changedBy is who changed a template: the name of a person or the label of a key, where there still is one.
type changedBy struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

func (x Templates) history(r *http.Request, by member.Member, id string) (any, error) {
	t, err := x.Catalog.Find(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	all, err := x.Store.Templates.History(r.Context(), by.CompanyID, t.ID)
	if err != nil {
		return nil, err
	}
	names := map[storetemplates.By]string{}
	rows := httpio.List[changeRow]{Data: make([]changeRow, len(all))}
	for i, c := range all {
		name, known := names[c.By]
		if !known {
			if name, err = x.nameOf(r.Context(), c.By); err != nil {
				return nil, err
			}
			names[c.By] = name
		}
		rows.Data[i] = changeRow{carillon.FormatTime(c.At), c.Action, changedBy{c.By.Kind, name}, c.Status, c.Reason, c.Former, c.Present}
	}
	return rows, nil
}

// nameOf is the name of who changed a template; empty where nobody has it any more.
func (x Templates) nameOf(ctx context.Context, by storetemplates.By) (string, error) {
	switch by.Kind {
	case "account":
		a, err := x.Store.Accounts.Account(ctx, by.ID)
		if err != nil || a == nil {
			return "", err
		}
		if a.Name != "" {
			return a.Name, nil
		}
		return a.Email, nil
	case "key":
		k, err := x.Store.Keys.AccessKeyByID(ctx, by.ID)
		if err != nil || k == nil {
			return "", err
		}
		return k.Label, nil
	}
	return "", nil
}
