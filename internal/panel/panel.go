// Package panel serves the administration of a company under /panel/v1: access keys and users. Callers are owners and
// admins by their own access token; the company is the one that `?company=` names, or the only one they administer.
// Answers and errors have the form of the public interface. A new installation gets its first owner here, by the
// one-time token that the program prints while nobody can sign in.
package panel

import (
	"net/http"
	"strconv"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/httpio"
	"carillon/internal/notify"
	"carillon/internal/store"
)

// Deps are the parts the panel calls.
type Deps struct {
	Store  *store.Store
	Auth   *auth.Auth
	Notify *notify.Notify
	Decide Decide // the sandbox's reviewer
}

// Panel holds the administration's endpoints.
type Panel struct{ Deps }

// New builds the panel.
func New(d Deps) *Panel { return &Panel{d} }

const prefix = "/panel/v1"

// Routes is the route map of the administration.
func (p *Panel) Routes() []httpio.Route {
	return []httpio.Route{
		p.route("GET "+prefix+"/keys", p.listKeys),
		p.route("POST "+prefix+"/keys", p.createKey),
		p.route("DELETE "+prefix+"/keys/{id}", p.revokeKey),
		p.route("GET "+prefix+"/users", p.listUsers),
		{Pattern: "POST " + prefix + "/users", Access: "panel", Handle: p.addUser},
		p.route("GET "+prefix+"/senders", p.listSenders),
		p.route("GET "+prefix+"/notifications/{id}/timeline", p.timeline),
		p.route("POST "+prefix+"/templates/{id}/review", p.reviewTemplate),
		p.route("GET "+prefix+"/maintenance", p.showMaintenance),
		p.route("POST "+prefix+"/maintenance", p.startMaintenance),
		p.route("DELETE "+prefix+"/maintenance", p.endMaintenance),
		p.route("GET "+prefix+"/restored", p.showRestored),
		p.route("POST "+prefix+"/restored", p.decideRestored),
	}
}

// admin is who calls: a member who administers the company.
type admin struct {
	accountID string
	companyID string
	role      auth.Role
}

type handler func(w http.ResponseWriter, r *http.Request, by admin) error

func (p *Panel) route(pattern string, handle handler) httpio.Route {
	return httpio.Route{Pattern: pattern, Access: "panel", Handle: func(w http.ResponseWriter, r *http.Request) error {
		by, err := p.admin(r)
		if err != nil {
			return err
		}
		return handle(w, r, by)
	}}
}

func (p *Panel) admin(r *http.Request) (admin, error) {
	c, err := p.Auth.Caller(r.Context(), r.Header.Get("Authorization"))
	if err != nil {
		return admin{}, err
	}
	company, role, err := p.Auth.Administered(r.Context(), c, r.URL.Query().Get("company"))
	if err != nil {
		return admin{}, err
	}
	httpio.SetCompany(r.Context(), company)
	return admin{c.Account.ID, company, role}, nil
}

// Bounds of pages, as the public interface has them.
const (
	pageDefault = 25
	pageMost    = 100
)

// page reads the query's cursor, which is the id of the last row on the page before, and its limit.
func page(r *http.Request) (after string, limit int, err error) {
	q := r.URL.Query()
	limit = pageDefault
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > pageMost {
			return "", 0, carillon.Invalid("limit", "Must be a whole number from 1 to "+strconv.Itoa(pageMost))
		}
		limit = n
	}
	after = q.Get("cursor")
	if after != "" && !carillon.ValidUUID(after) {
		return "", 0, carillon.Invalid("cursor", "Must be a next_cursor of this list")
	}
	return after, limit, nil
}

// list is an answer of many rows.
type list[T any] struct {
	Data []T     `json:"data"`
	Next *string `json:"next_cursor"`
}

// listOf makes the answer of up to limit rows out of limit+1.
func listOf[R, T any](rows []R, limit int, id func(R) string, tell func(R) T) list[T] {
	l := list[T]{Data: []T{}}
	if len(rows) > limit {
		rows = rows[:limit]
		last := id(rows[limit-1])
		l.Next = &last
	}
	for _, r := range rows {
		l.Data = append(l.Data, tell(r))
	}
	return l
}
