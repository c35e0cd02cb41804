package flows

import (
	"encoding/json"
	"net/http"
	"strconv"

	"carillon"
	"carillon/internal/base/httpio"
	"carillon/internal/edge/panel/member"
)

// flowVersion is a flow as it was.
type flowVersion struct {
	Version   int             `json:"version"`
	CreatedAt string          `json:"created_at,omitempty"`
	Current   bool            `json:"current"` // it is the one that is published
	Flow      json.RawMessage `json:"flow,omitempty"`
}

func (x Flows) versions(r *http.Request, by member.Member, id string) (any, error) {
	e, err := x.editable(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	all, err := x.Store.Runs().Versions(r.Context(), by.CompanyID, id, versionsMost)
	rows := make([]flowVersion, 0, len(all))
	for _, v := range all {
		rows = append(rows, flowVersion{Version: v.Version, CreatedAt: carillon.FormatTime(v.CreatedAt), Current: v.Version == e.Version})
	}
	return httpio.RowsOf(rows), err
}

func (x Flows) version(r *http.Request, by member.Member, id string) (any, error) {
	n, err := strconv.Atoi(r.PathValue("version"))
	if err != nil || n < 1 {
		return nil, carillon.Absent(noVersion)
	}
	text, err := x.Store.Runs().Definition(r.Context(), by.CompanyID, id, n)
	if err == nil && text == "" {
		err = carillon.Absent(noVersion)
	}
	if err != nil {
		return nil, err
	}
	definition, err := shownTo(by, json.RawMessage(text))
	return flowVersion{Version: n, Flow: definition}, err
}
