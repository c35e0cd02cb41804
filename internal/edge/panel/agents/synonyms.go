package agents

import (
	"errors"
	"net/http"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/resource"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/resources"
)

// setSynonyms replaces the synonyms of a base without sending its articles.
func (x Knowledge) setSynonyms(r *http.Request, by member.Member) (any, error) {
	id := r.PathValue("id")
	if !resource.ValidIdentifier(id) {
		return nil, carillon.Absent("Knowledge")
	}
	o, err := form.Object(r, "synonyms")
	if err != nil {
		return nil, err
	}
	groups, present, err := o.Find("synonyms").Strings("synonyms")
	if err != nil {
		return nil, err
	}
	if !present {
		return nil, carillon.Missing("synonyms")
	}
	err = resources.Edit(r.Context(), x.Store.Resources, by.CompanyID, knowledge.Kind(), id, func(stored resource.Resource) error {
		base, ok := stored.(*knowledge.Base)
		if !ok {
			return errors.New("knowledge has another type")
		}
		base.Synonyms = groups
		return nil
	})
	if err != nil {
		return nil, err
	}
	return struct {
		Synonyms []string `json:"synonyms"`
	}{resource.List(groups)}, nil
}
