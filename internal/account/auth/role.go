package auth

import "slices"

// Role is a member's role in a company. It determines the member's permissions there.
type Role string

// The roles, most powerful first.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Marketer  Role = "marketer"
	Teammate  Role = "teammate"
	Viewer    Role = "viewer"
)

// Roles lists every role, most powerful first.
func Roles() []Role { return []Role{Owner, Admin, Developer, Marketer, Teammate, Viewer} }

// ValidRole reports whether s names a role.
func ValidRole(s string) bool { return slices.Contains(Roles(), Role(s)) }

// Can reports whether the role has the permission.
func (r Role) Can(p Permission) bool { return slices.Contains(permissions[r], p) }

// Permissions lists the permissions of the role.
func (r Role) Permissions() []Permission { return permissions[r] }

// MayGive reports whether a member with this role may give another role to somebody. Roles above their own are not
// allowed.
func (r Role) MayGive(other Role) bool {
	return r.Can(MayWriteUsers) && slices.Index(Roles(), other) >= slices.Index(Roles(), r)
}
