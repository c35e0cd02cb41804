package request

import (
	"slices"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// CheckAgainst reports whether the request fits the template; see content.Check for the errors.
func (r *Request) CheckAgainst(t *carillon.Template) error {
	src := r.filling()
	return content.Check(t, &src)
}

// Content returns what is sent to contact i. A request that no longer fits the template gets the same 422 as before it
// was accepted.
func (r *Request) Content(t *carillon.Template, i int) (provider.Content, error) {
	src := r.filling()
	return content.Fill(t, &src, i)
}

func (r *Request) filling() content.Source {
	return content.Source{Components: r.components, Recipients: len(r.Contacts), Bulk: r.Bulk, Lookup: r}
}

// Field returns a field of a contact.
func (r *Request) Field(recipient int, name string) (string, bool) {
	return r.Contacts[recipient].Field(name)
}

// Shared returns a value of the body itself.
func (r *Request) Shared(name string) (string, bool) { return r.shared.find(name) }

// Duplicates marks the contacts that repeat an earlier one: the same number, in any form, and the same rendered message, which is sent
// once. It returns nil where no number occurs twice; only contacts whose number does are rendered. The request must have
// passed CheckAgainst for the template.
func (r *Request) Duplicates(t *carillon.Template) []bool {
	count := make(map[identity.Key]int, len(r.Contacts))
	for i := range r.Contacts {
		count[identity.Number(r.Contacts[i].Number)]++
	}
	if len(count) == len(r.Contacts) {
		return nil
	}
	marks := make([]bool, len(r.Contacts))
	kept := map[identity.Key][]provider.Content{}
	for i := range r.Contacts {
		line := identity.Number(r.Contacts[i].Number)
		if count[line] == 1 {
			continue
		}
		content, err := r.Content(t, i)
		if err != nil {
			continue
		}
		marks[i] = slices.ContainsFunc(kept[line], func(k provider.Content) bool { return equal(&k, &content) })
		if !marks[i] {
			kept[line] = append(kept[line], content)
		}
	}
	return marks
}

func equal(c, o *provider.Content) bool {
	return c.HeaderText == o.HeaderText && c.MediaURL == o.MediaURL &&
		slices.Equal(c.Body, o.Body) && slices.Equal(c.Buttons, o.Buttons)
}
