package api

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/talk/person"
)

// personal are the endpoints of everything that is stored about one person. They need a key with all scopes: what they give out and delete
// is of all subjects. Who is meant stands in the body, for addresses are logged.
type personal struct {
	guard
	people *person.People
}

func (x personal) routes() []httpio.Route {
	return []httpio.Route{
		x.valueRoute("POST "+prefix+"/people", auth.All, x.find),
		x.keyRoute("POST "+prefix+"/people/export", auth.All, x.export),
		x.valueRoute("POST "+prefix+"/people/erase", auth.All, x.erase),
	}
}

func (x personal) find(r *http.Request, p *auth.Principal) (any, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	q, err := person.Read(o)
	if err != nil {
		return nil, err
	}
	return x.people.Find(r.Context(), p.Company.ID, q)
}

func (x personal) export(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	o, err := httpio.Object(r)
	if err != nil {
		return err
	}
	q, err := person.Read(o)
	if err != nil {
		return err
	}
	e, err := x.people.Begin(r.Context(), share.Holder{Company: p.Company.ID, Session: p.KeyID}, q)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.WriteTo(r.Context(), httpio.OpenArchive(w, "person.zip")); err != nil {
		panic(http.ErrAbortHandler) // an archive that ends early must not look whole
	}
	return nil
}

func (x personal) erase(r *http.Request, p *auth.Principal) (any, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	q, err := person.Read(o)
	if err != nil {
		return nil, err
	}
	return x.people.Erase(r.Context(), share.Holder{Company: p.Company.ID, Session: p.KeyID}, q)
}
