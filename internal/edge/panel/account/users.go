package account

import (
	"context"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/talk/conversation"
)

// Users serves the routes of a company's users and of their own accounts.
type Users struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
}

func (m Users) Routes() []httpio.Route {
	const write = auth.MayWriteUsers
	return []httpio.Route{
		member.Route(m.Gate, "GET", "/users", auth.MayReadUsers, m.listUsers),
		m.firstOr(member.Route(m.Gate, "POST", "/users", write, m.addUser).Taking(userRequest{})),
		member.Route(m.Gate, "PATCH", "/users/{id}", write, m.changeRole).Taking(roleRequest{}),
		member.Route(m.Gate, "DELETE", "/users/{id}", write, m.removeUser),
		member.Route(m.Gate, "POST", "/users/{id}/password", write, m.resetPassword).Taking(resetPasswordRequest{}),
		member.Route(m.Gate, "DELETE", "/users/{id}/sessions", write, m.signOutUser),
		member.Own(m.Gate, "POST", "/user/password", m.changePassword).Taking(changePasswordRequest{}),
		member.Own(m.Gate, "DELETE", "/user/sessions", m.signOutOthers),
	}
}

// userRow is a member of the company in a response.
type userRow struct {
	ID           string  `json:"id"`
	Email        string  `json:"email"`
	Name         string  `json:"name"`
	Role         string  `json:"role" enum:"owner,admin,developer,marketer,teammate,viewer"`
	LastSignInAt *string `json:"last_sign_in_at"`
	CreatedAt    string  `json:"created_at"`
	SecondFactor bool    `json:"second_factor"`
}

func (m Users) listUsers(r *http.Request, by member.Member) (httpio.List[userRow], error) {
	page, err := httpio.ReadPage(r.URL.Query(), "user")
	if err != nil {
		return httpio.List[userRow]{}, err
	}
	members, err := m.Store.Accounts.Members(r.Context(), by.CompanyID, page.After, page.Limit+1)
	if err != nil {
		return httpio.List[userRow]{}, err
	}
	factors, err := m.Store.Factors.FactorsOf(r.Context(), by.CompanyID)
	return httpio.ListOf(page, "user", members, func(m accounts.Member) string { return m.ID }, func(m accounts.Member) userRow {
		return userRow{m.ID, m.Email, m.Name, m.Role, auth.TimeOrNull(m.LastSignInAt), carillon.FormatTime(m.CreatedAt), factors[m.ID]}
	}), err
}

// newUser is the body of POST users.
type newUser struct {
	email, name, password, role, company string
	hasPassword, first                   bool
}

// userRequest adds a user.
type userRequest struct {
	Email    string `json:"email"`
	Name     string `json:"name,omitempty"`
	Password string `json:"password,omitempty"`
	Role     string `json:"role,omitempty"`
	First    bool   `json:"first,omitempty"`
	Company  string `json:"company,omitempty"`
}

func readNewUser(r *http.Request) (u newUser, err error) {
	o, err := form.Body[userRequest](r)
	if err != nil {
		return u, err
	}
	if u.email, err = form.Email(o); err != nil {
		return u, err
	}
	if u.password, u.hasPassword, err = password(o); err != nil {
		return u, err
	}
	if u.first, _, err = o.Bool("first", "first"); err != nil {
		return u, err
	}
	var named, hasCompany bool
	if _, named, err = o.String("name", "name"); err != nil {
		return u, err
	}
	if named || u.first {
		if u.name, err = form.Text(o, "name", form.MaxName); err != nil {
			return u, err
		}
	}
	if _, hasCompany, err = o.String("company", "company"); err != nil {
		return u, err
	}
	if u.role, err = role(o, u.first); err != nil {
		return u, err
	}
	switch {
	case u.first && !u.hasPassword:
		return u, carillon.Missing("password")
	case u.first:
		u.company, err = form.Text(o, "company", form.MaxName)
		return u, err
	case hasCompany:
		return u, carillon.Invalid("company", "Only the first owner names a new company; others are added to the one of the query")
	}
	return u, nil
}

// role reads the new member's role. The first user is an owner.
func role(o *jsonbody.Object, first bool) (string, error) {
	s, present, err := o.String("role", "role")
	switch {
	case err != nil:
		return "", err
	case first && !present:
		return string(auth.Owner), nil
	case !present:
		return string(auth.Viewer), nil
	case !auth.ValidRole(s), first && s != string(auth.Owner):
		return "", carillon.Invalid("role", "Must be one of "+form.Known(auth.Roles())+"; the first user is an owner")
	}
	return s, nil
}

// firstOr creates the first company and its owner if the Bearer is the one-time token; otherwise it serves the route.
func (m Users) firstOr(route httpio.Route) httpio.Route {
	usual := route.Handle
	route.Handle = func(w http.ResponseWriter, r *http.Request) error {
		if auth.IsFirstToken(r.Header.Get("Authorization")) {
			return httpio.Value(m.addFirst)(w, r)
		}
		return usual(w, r)
	}
	return route
}

// addUser adds a member to the company.
func (m Users) addUser(r *http.Request, by member.Member) (none httpio.Created[userRow], err error) {
	u, err := readNewUser(r)
	if err != nil {
		return none, err
	}
	if u.first {
		return none, carillon.Denied("The first owner is made with the one-time token that the program prints while there is none")
	}
	if !by.Role.MayGive(auth.Role(u.role)) {
		return none, carillon.Denied("Only an owner may add another owner")
	}
	a, err := m.join(r.Context(), by, u)
	if err != nil {
		return none, err
	}
	return created(a, u.role), nil
}

// join adds the account with the e-mail address to the company, and creates it if necessary. An existing account keeps
// its password, and only an administrator of one of its companies may add it, so that nobody can take over or discover
// other accounts.
func (m Users) join(ctx context.Context, by member.Member, u newUser) (*accounts.Account, error) {
	a, err := m.Store.Accounts.AccountByEmail(ctx, u.email)
	if err != nil {
		return nil, err
	}
	known := a != nil
	switch {
	case known && u.hasPassword:
		return nil, carillon.InConflict("An account with this e-mail exists; leave the password out to add it to the company")
	case !known && !u.hasPassword:
		return nil, carillon.Missing("password")
	case !known:
		a = &accounts.Account{Email: u.email, Name: u.name}
		if a.PasswordHash, err = m.Gate.Auth.HashPassword(ctx, u.password); err != nil {
			return nil, err
		}
	}
	if known {
		if err := m.mayAdd(ctx, by, a.ID); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	return a, m.Store.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
		if !known {
			if err := accounts.AddAccount(ctx, tx, a, now); err != nil {
				return err
			}
		}
		return accounts.AddMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: by.CompanyID, Role: u.role})
	})
}

// mayAdd checks that the caller administers a company that the account is a member of.
func (m Users) mayAdd(ctx context.Context, by member.Member, accountID string) error {
	theirs, err := accounts.Memberships(ctx, m.Store.DB, accountID)
	if err != nil {
		return err
	}
	ours, err := accounts.Memberships(ctx, m.Store.DB, by.AccountID)
	if err != nil {
		return err
	}
	for _, o := range ours {
		for _, t := range theirs {
			if o.CompanyID == t.CompanyID && auth.Role(o.Role).Can(auth.MayWriteUsers) {
				return nil
			}
		}
	}
	return carillon.InConflict("This e-mail belongs to an account of another company; only who administers both may add it")
}

func (m Users) addFirst(r *http.Request) (none httpio.Created[userRow], err error) {
	u, err := readNewUser(r)
	if err != nil {
		return none, err
	}
	if !u.first {
		return none, carillon.Invalid("first", "Must be true with the one-time token")
	}
	authorization := r.Header.Get("Authorization")
	if err := m.Gate.Auth.CheckFirstToken(r.Context(), authorization); err != nil { // before the expensive hash
		return none, err
	}
	a := &accounts.Account{Email: u.email, Name: u.name, ProvedAt: time.Now()} // the operator's own account
	if a.PasswordHash, err = m.Gate.Auth.HashPassword(r.Context(), u.password); err != nil {
		return none, err
	}
	company := carillon.NewCompany(u.company)
	r = m.Gate.ByNew(r, a)
	if err := m.Gate.Auth.FirstOwner(r.Context(), authorization, a, &company); err != nil {
		return none, err
	}
	httpio.SetCompany(r.Context(), company.ID)
	return created(a, string(auth.Owner)), nil
}

func created(a *accounts.Account, role string) httpio.Created[userRow] {
	return httpio.Created[userRow]{Value: userRow{
		a.ID, a.Email, a.Name, role, auth.TimeOrNull(a.LastSignInAt), carillon.FormatTime(a.CreatedAt), false,
	}}
}
