package request

import (
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// CheckAgainst reports whether the request fits the template; see content.Check for the errors.
func (r *Request) CheckAgainst(t *carillon.Template) error {
	src := r.source()
	return content.Check(t, &src)
}

// Content returns what is sent to contact i. A request that no longer fits the template gets the same 422 as before it
// was accepted.
func (r *Request) Content(t *carillon.Template, i int) (provider.Content, error) {
	src := r.source()
	return content.Fill(t, &src, i)
}

func (r *Request) source() content.Source {
	return content.Source{Components: r.components, Recipients: len(r.Contacts), Bulk: r.Bulk, Lookup: (*lookup)(r)}
}

// lookup finds the values of placeholders in a request.
type lookup Request

// Field returns a field of a contact.
func (l *lookup) Field(recipient int, name string) (string, bool) {
	return l.Contacts[recipient].Field(name)
}

// Shared returns a value of the body itself. In the flat form a key with a dot is part of another value.
func (l *lookup) Shared(name string) (string, bool) {
	if l.flat && strings.Contains(name, ".") {
		return "", false
	}
	return l.root.Find(name).Scalar()
}
