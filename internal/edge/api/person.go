package api

import (
	"net/http"

	"carillon/internal/account/auth"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/talk/person"
)

// personal serves the endpoints for everything stored about one person. They need a key with all scopes, because they
// export and delete data of all subjects. The person is identified in the body, because URLs are logged.
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
		panic(http.ErrAbortHandler) // a truncated archive must not look complete
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
