package auth

import "slices"

// Role is what a member is in a company; permissions says what it may do there.
type Role string

// The roles, from the one that may do everything down.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Marketer  Role = "marketer"
	Teammate  Role = "teammate"
	Viewer    Role = "viewer"
)

// Roles lists every role, the most powerful first.
func Roles() []Role { return []Role{Owner, Admin, Developer, Marketer, Teammate, Viewer} }

// ValidRole reports whether s names a role.
func ValidRole(s string) bool { return slices.Contains(Roles(), Role(s)) }

// Can reports whether a member of the role has the permission.
func (r Role) Can(p Permission) bool { return slices.Contains(permissions[r], p) }

// Permissions lists what a member of the role may do.
func (r Role) Permissions() []Permission { return permissions[r] }

// MayGive reports whether a member of the role may give another one to somebody: none above their own.
func (r Role) MayGive(other Role) bool {
	return r.Can(MayWriteUsers) && slices.Index(Roles(), other) >= slices.Index(Roles(), r)
}
