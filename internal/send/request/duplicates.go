package request

import (
	"reflect"
	"slices"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// people returns the key of each contact's person. An id that one contact has next to a number identifies the same
// person in other contacts.
func (r *Request) people() []identity.Key {
	lines := map[identity.Key]identity.Key{} // by id
	people := make([]identity.Key, len(r.Contacts))
	for i := range r.Contacts {
		keys := r.Contacts[i].Keys()
		if people[i] = keys[0]; len(keys) > 1 {
			lines[keys[1]] = keys[0]
		}
	}
	for i := range people {
		if line, known := lines[people[i]]; known {
			people[i] = line
		}
	}
	return people
}

// Duplicates marks contacts that duplicate an earlier one: the same person, by a number in any form or by an id, and the
// same rendered message. It returns nil if every person is distinct. Only contacts of a repeated person are rendered.
// The request must have passed CheckAgainst for the template.
func (r *Request) Duplicates(t *carillon.Template) []bool {
	people := r.people()
	count := make(map[identity.Key]int, len(people))
	for _, person := range people {
		count[person]++
	}
	if len(count) == len(r.Contacts) {
		return nil
	}
	marks := make([]bool, len(r.Contacts))
	kept := map[identity.Key][]provider.Content{}
	for i := range r.Contacts {
		person := people[i]
		if count[person] == 1 {
			continue
		}
		content, err := r.Content(t, i)
		if err != nil {
			continue
		}
		marks[i] = slices.ContainsFunc(kept[person], func(k provider.Content) bool { return equal(&k, &content) })
		if !marks[i] {
			kept[person] = append(kept[person], content)
		}
	}
	return marks
}

func equal(c, o *provider.Content) bool { return reflect.DeepEqual(c, o) }
