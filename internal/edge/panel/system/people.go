package system

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	stored "carillon/internal/store/people"
	"carillon/internal/talk/person"
)

// People serves everything stored about one person, to members who may change the company's settings.
type People struct {
	Gate   *member.Gate
	People *person.People
}

func (x People) Routes() []httpio.Route {
	const needed = auth.MayWriteSettings
	return []httpio.Route{
		member.Route(x.Gate, "POST", "/people", needed, x.find).Taking(personRequest{}),
		x.Gate.Raw("POST", "/people/export", needed, x.export).Taking(personRequest{}),
		member.Route(x.Gate, "POST", "/people/erase", needed, x.erase).Taking(personRequest{}),
	}
}

// personRequest names a person in one way.
type personRequest struct {
	Number    string `json:"number,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	ContactID string `json:"contact_id,omitempty"`
}

func whoOf(r *http.Request) (q stored.Query, err error) {
	o, err := form.Body[personRequest](r)
	if err != nil {
		return q, err
	}
	return person.Read(o)
}

func (x People) find(r *http.Request, by member.Member) (*person.Found, error) {
	q, err := whoOf(r)
	if err != nil {
		return nil, err
	}
	return x.People.Find(r.Context(), by.CompanyID, q)
}

func (x People) export(w http.ResponseWriter, r *http.Request, by member.Member) error {
	q, err := whoOf(r)
	if err != nil {
		return err
	}
	e, err := x.People.Begin(r.Context(), by.Holder(), q)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.WriteTo(r.Context(), httpio.OpenArchive(w, "person.zip")); err != nil {
		panic(http.ErrAbortHandler) // a truncated archive must not look complete
	}
	return nil
}

func (x People) erase(r *http.Request, by member.Member) (*person.Erasure, error) {
	q, err := whoOf(r)
	if err != nil {
		return nil, err
	}
	return x.People.Erase(r.Context(), by.Holder(), q)
}
