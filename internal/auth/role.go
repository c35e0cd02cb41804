package auth

import "slices"

// Role is what a member may do in a company.
type Role string

// The roles, from the one that may do everything down.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Agent     Role = "agent"
	Viewer    Role = "viewer"
)

// Roles lists every role, the most powerful first.
func Roles() []Role { return []Role{Owner, Admin, Developer, Agent, Viewer} }

// ValidRole tells whether s names a role.
func ValidRole(s string) bool { return slices.Contains(Roles(), Role(s)) }

// SeesKeys tells whether the role may see access keys.
func (r Role) SeesKeys() bool { return r == Owner || r == Admin || r == Developer }

// Administers tells whether the role may manage keys and users.
func (r Role) Administers() bool { return r == Owner || r == Admin }

// MayGive tells whether a member of the role may give another one to somebody: none above their own.
func (r Role) MayGive(other Role) bool {
	return r.Administers() && slices.Index(Roles(), other) >= slices.Index(Roles(), r)
}
