package agents

import (
	"net/http"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/resource"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
)

// setSynonyms replaces the synonyms of a base without sending its articles.
func (x Knowledge) setSynonyms(r *http.Request, by member.Member) (any, error) {
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
	err = x.editBase(r, by, func(base *knowledge.Base) error {
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
