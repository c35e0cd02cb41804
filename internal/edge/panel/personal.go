package panel

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/httpio"
	stored "carillon/internal/store/people"
	"carillon/internal/talk/person"
)

// personal serves everything that is stored about one person, to those who may change the company's settings.
type personal struct{ *Panel }

func (x personal) routes() []httpio.Route {
	const needed = auth.MayWriteSettings
	return []httpio.Route{
		x.route("POST", "/people", needed, x.find),
		{Pattern: "POST " + prefix + "/people/export", Access: "panel", Permission: string(needed), Handle: x.export},
		x.route("POST", "/people/erase", needed, x.erase),
	}
}

func whoOf(r *http.Request) (q stored.Query, err error) {
	o, err := object(r, "number", "user_id", "contact_id")
	if err != nil {
		return q, err
	}
	return person.Read(o)
}

func (x personal) find(r *http.Request, by member) (any, error) {
	q, err := whoOf(r)
	if err != nil {
		return nil, err
	}
	return x.People.Find(r.Context(), by.companyID, q)
}

func (x personal) export(w http.ResponseWriter, r *http.Request) error {
	by, err := x.member(r, auth.MayWriteSettings)
	if err != nil {
		return err
	}
	q, err := whoOf(r)
	if err != nil {
		return err
	}
	e, err := x.People.Begin(r.Context(), by.holder(), q)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.WriteTo(r.Context(), httpio.OpenArchive(w, "person.zip")); err != nil {
		panic(http.ErrAbortHandler) // an archive that ends early must not look whole
	}
	return nil
}

func (x personal) erase(r *http.Request, by member) (any, error) {
	q, err := whoOf(r)
	if err != nil {
		return nil, err
	}
	return x.People.Erase(r.Context(), by.holder(), q)
}
