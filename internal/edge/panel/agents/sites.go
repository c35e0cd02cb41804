package agents

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent/site"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/sites"
)

// Sites serves the state of the sites that are read into knowledge, and asks for a look at one.
type Sites struct {
	Gate  *member.Gate
	Store *store.Store
	Wake  func() // starts looks that are due; nil without background work
}

func (x Sites) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/sites/{id}/state", auth.MayReadResources, member.ID("Site", x.state)),
		member.Write(x.Gate, "POST", "/sites/{id}/look", auth.MayWriteResources, member.ID("Site", x.look)).Taking(lookRequest{}),
		member.Route(x.Gate, "GET", "/sites/{id}/looks/{look}", auth.MayReadResources, member.ID("Site", x.changes)),
	}
}

// lookRow is a look in a response.
type lookRow struct {
	ID      string `json:"id"`
	At      string `json:"at"`
	Pages   int    `json:"pages"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Removed int    `json:"removed"`
	Kept    int    `json:"kept"`
	Fault   string `json:"fault"`
	Detail  string `json:"detail"`
}

// stateRow is the state of a site in a response.
type stateRow struct {
	Reading  bool      `json:"reading"` // or about to be read
	Done     int       `json:"done"`    // pages of the current look
	Found    int       `json:"found"`
	LookedAt *string   `json:"looked_at"` // null before the first look
	ReadAt   *string   `json:"read_at"`   // of the last look without a fault
	DueAt    string    `json:"due_at"`
	Fault    string    `json:"fault"` // of the last look; empty if there was none
	Detail   string    `json:"detail"`
	Looks    []lookRow `json:"looks"` // those that found a change or a fault, the latest first
}

func (x Sites) state(r *http.Request, by member.Member, id string) (stateRow, error) {
	k, now := sites.Key{CompanyID: by.CompanyID, ID: id}, time.Now()
	s, err := x.Store.Sites.Find(r.Context(), k, now)
	if err != nil {
		return stateRow{}, err
	}
	looks, err := x.Store.Sites.Looks(r.Context(), k)
	if err != nil {
		return stateRow{}, err
	}
	row := stateRow{
		Reading: s.Reading || !s.DueAt.After(now), LookedAt: auth.TimeOrNull(s.LookedAt), ReadAt: auth.TimeOrNull(s.ReadAt),
		DueAt: carillon.FormatTime(s.DueAt), Fault: s.Fault, Detail: s.Detail, Looks: make([]lookRow, len(looks)),
	}
	if s.Reading {
		row.Done, row.Found = s.Done, s.Found
	}
	for i := range looks {
		l := &looks[i]
		row.Looks[i] = lookRow{l.ID, carillon.FormatTime(l.At), l.Pages, l.Added, l.Changed, l.Removed, l.Kept, l.Fault, l.Detail}
	}
	return row, nil
}

// lookRequest is the body of a request for a look at a site.
type lookRequest struct {
	Whole bool `json:"whole,omitempty"`
}

// look starts a look immediately. whole accepts everything that it finds, including the loss of most pages and the pages
// whose articles were removed by hand.
func (x Sites) look(r *http.Request, by member.Member, id string) (stateRow, error) {
	o, err := form.Body[lookRequest](r)
	if err != nil {
		return stateRow{}, err
	}
	whole, _, err := o.Bool("whole", "whole")
	if err != nil {
		return stateRow{}, err
	}
	k := sites.Key{CompanyID: by.CompanyID, ID: id}
	if err := x.Store.Sites.Ask(r.Context(), k, whole, time.Now()); err != nil {
		return stateRow{}, err
	}
	if x.Wake != nil {
		x.Wake()
	}
	return x.state(r, by, id)
}

// lookChanges holds the changes of a look.
type lookChanges struct {
	Changes httpio.Encoded[[]site.Change] `json:"changes"`
}

// changes returns the changes of a look: site.Change.
func (x Sites) changes(r *http.Request, by member.Member, id string) (lookChanges, error) {
	look := r.PathValue("look")
	if !carillon.ValidUUID(look) {
		return lookChanges{}, carillon.Absent("Look")
	}
	text, err := x.Store.Sites.Changes(r.Context(), sites.Key{CompanyID: by.CompanyID, ID: id}, look)
	if err != nil {
		return lookChanges{}, err
	}
	return lookChanges{httpio.EncodedAs[[]site.Change]([]byte(text))}, nil
}
