package panel

import (
	"net/http"

	"carillon"
	"carillon/internal/content"
	"carillon/internal/httpio"
)

// templateRow is a template in the list.
type templateRow struct {
	Name      string                  `json:"name"`
	Language  string                  `json:"language"`
	Status    carillon.TemplateStatus `json:"status"`
	Category  string                  `json:"category"`
	Sender    string                  `json:"sender"`    // its id
	Variables []string                `json:"variables"` // the keys of what it needs filled in
	Body      string                  `json:"body"`
}

// listTemplates responds with the templates of all senders of the company. There are no pages: a company has few.
func (p *Panel) listTemplates(r *http.Request, by member) (any, error) {
	senders, err := p.Store.Senders(r.Context(), by.companyID)
	if err != nil {
		return nil, err
	}
	rows := httpio.List[templateRow]{Data: []templateRow{}}
	for _, s := range senders {
		all, err := p.Store.Templates(r.Context(), s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			row := templateRow{Name: t.Name, Language: t.Language, Status: t.Status, Category: t.Category, Sender: s.ID, Variables: content.Keys(t.Shape)}
			for _, c := range t.Components {
				if c.Type == "BODY" {
					row.Body = c.Text
				}
			}
			rows.Data = append(rows.Data, row)
		}
	}
	return rows, nil
}
