package request

import (
	"slices"
	"strconv"

	"carillon"
	"carillon/internal/provider"
)

// Duplicates marks the contacts that repeat an earlier one: the same number and the same rendered message, which is sent
// once. It returns nil if there are none. Only contacts whose number occurs twice are rendered. The request must have
// passed CheckAgainst for the template.
func (r *Request) Duplicates(t *carillon.Template) []bool {
	var buffer [maxContacts]uint64
	order := sortNumbers(r.Contacts, buffer[:0])
	var marks []bool
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && order[end]>>indexBits == order[i]>>indexBits {
			end++
		}
		if end-i > 1 {
			marks = r.markRepeats(t, order[i:end], marks)
		}
		i = end
	}
	return marks
}

// SameMessage reports whether contacts i and j have the same number and get the same message.
func (r *Request) SameMessage(t *carillon.Template, i, j int) (bool, error) {
	a, err := r.Content(t, i)
	if err != nil {
		return false, err
	}
	b, err := r.Content(t, j)
	if err != nil {
		return false, err
	}
	return r.Contacts[i].Number == r.Contacts[j].Number && equal(&a, &b), nil
}

const (
	indexBits = 7 // enough for maxContacts
	indexMask = 1<<indexBits - 1
)

// sortNumbers packs each number, with a leading 1 so that leading zeros count, and its index into one word, and sorts
// them: equal numbers are then adjacent in the order of the request, without an allocation.
func sortNumbers(contacts []Contact, order []uint64) []uint64 {
	for i := range contacts {
		n, err := strconv.ParseUint(contacts[i].Number, 10, 64)
		if err != nil {
			continue
		}
		order = append(order, (pow10(len(contacts[i].Number))+n)<<indexBits|uint64(i))
	}
	slices.Sort(order)
	return order
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// markRepeats marks, among contacts with one number, those with the content of an earlier one.
func (r *Request) markRepeats(t *carillon.Template, same []uint64, marks []bool) []bool {
	kept := make([]provider.Content, 0, len(same))
	for _, packed := range same {
		i := int(packed & indexMask)
		content, err := r.Content(t, i)
		if err != nil {
			continue
		}
		if !slices.ContainsFunc(kept, func(k provider.Content) bool { return equal(&k, &content) }) {
			kept = append(kept, content)
			continue
		}
		if marks == nil {
			marks = make([]bool, len(r.Contacts))
		}
		marks[i] = true
	}
	return marks
}

func equal(c, o *provider.Content) bool {
	return c.HeaderText == o.HeaderText && c.MediaURL == o.MediaURL &&
		slices.Equal(c.Body, o.Body) && slices.Equal(c.Buttons, o.Buttons)
}
