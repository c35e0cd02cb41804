package agents

import (
	"net/http"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/resource"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
)

// synonymGroups are the synonyms of a base.
type synonymGroups struct {
	Synonyms []string `json:"synonyms"`
}

// setSynonyms replaces the synonyms of a base without sending its articles.
func (x Knowledge) setSynonyms(r *http.Request, by member.Member) (synonymGroups, error) {
	o, err := form.Body[synonymGroups](r)
	if err != nil {
		return synonymGroups{}, err
	}
	groups, present, err := o.Find("synonyms").Strings("synonyms")
	if err != nil {
		return synonymGroups{}, err
	}
	if !present {
		return synonymGroups{}, carillon.Missing("synonyms")
	}
	err = x.editBase(r, by, func(base *knowledge.Base) error {
		base.Synonyms = groups
		return nil
	})
	if err != nil {
		return synonymGroups{}, err
	}
	return synonymGroups{resource.List(groups)}, nil
}
