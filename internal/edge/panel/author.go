package panel

import (
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/httpio"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
)

// commandAgent is how the User-Agent of the program's own commands begins.
const commandAgent = "carillon/"

// by returns a request whose changes are recorded as an account's.
func (d Deps) by(r *http.Request, a *accounts.Account) *http.Request {
	author := audit.Author{Kind: "account", ID: a.ID, Name: a.Email, Origin: audit.Panel, Address: httpio.ClientAddress(r, d.Proxies)}
	if strings.HasPrefix(r.UserAgent(), commandAgent) {
		author.Origin = audit.Command
	}
	return r.WithContext(audit.By(r.Context(), author))
}

// byNew is by for an account that the request makes; it gets its id here.
func (d Deps) byNew(r *http.Request, a *accounts.Account) *http.Request {
	a.ID = carillon.NewID(time.Now())
	return d.by(r, a)
}
