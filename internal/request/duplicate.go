package request

import (
	"slices"

	"carillon"
	"carillon/internal/provider"
)

// Duplicates marks the contacts that repeat an earlier one: the same number and the same rendered message, which is sent
// once. It returns nil where no number occurs twice; only contacts whose number does are rendered. The request must have
// passed CheckAgainst for the template.
func (r *Request) Duplicates(t *carillon.Template) []bool {
	count := make(map[string]int, len(r.Contacts))
	for i := range r.Contacts {
		count[r.Contacts[i].Number]++
	}
	if len(count) == len(r.Contacts) {
		return nil
	}
	marks := make([]bool, len(r.Contacts))
	kept := map[string][]provider.Content{} // by number
	for i := range r.Contacts {
		number := r.Contacts[i].Number
		if count[number] == 1 {
			continue
		}
		content, err := r.Content(t, i)
		if err != nil {
			continue
		}
		marks[i] = slices.ContainsFunc(kept[number], func(k provider.Content) bool { return equal(&k, &content) })
		if !marks[i] {
			kept[number] = append(kept[number], content)
		}
	}
	return marks
}

func equal(c, o *provider.Content) bool {
	return c.HeaderText == o.HeaderText && c.MediaURL == o.MediaURL &&
		slices.Equal(c.Body, o.Body) && slices.Equal(c.Buttons, o.Buttons)
}
