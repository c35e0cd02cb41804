package carillon

import (
	"slices"
	"strconv"
)

// Duplicates marks the contacts that repeat an earlier one: the same number and the same rendered message, which is
// sent once (decisions.md, section 3). It is nil when there are none, and costs next to nothing when no number occurs
// twice. The request must have passed CheckAgainst for the template.
func (r *Request) Duplicates(t *Template) []bool {
	var room [maxContacts]uint64
	order := numbered(r.Contacts, room[:0])
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

// SameMessage tells whether contacts i and j have the same number and get the same message.
func (r *Request) SameMessage(t *Template, i, j int) (bool, error) {
	a, err := r.Content(t, i)
	if err != nil {
		return false, err
	}
	b, err := r.Content(t, j)
	if err != nil {
		return false, err
	}
	return r.Contacts[i].Number == r.Contacts[j].Number && a.equal(&b), nil
}

const (
	indexBits = 7 // enough for maxContacts
	indexMask = 1<<indexBits - 1
)

// numbered packs each number, a 1 before it so that leading zeros count, and its index into one word, and sorts: equal
// numbers then stand together in the order of the request, and nothing is allocated.
func numbered(contacts []Contact, order []uint64) []uint64 {
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

// markRepeats marks, among contacts of one number, those whose content an earlier one has.
func (r *Request) markRepeats(t *Template, same []uint64, marks []bool) []bool {
	kept := make([]Content, 0, len(same))
	for _, packed := range same {
		i := int(packed & indexMask)
		content, err := r.Content(t, i)
		if err != nil {
			continue
		}
		if !slices.ContainsFunc(kept, func(k Content) bool { return k.equal(&content) }) {
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

func (c *Content) equal(o *Content) bool {
	return c.HeaderText == o.HeaderText && c.MediaURL == o.MediaURL &&
		slices.Equal(c.Body, o.Body) && slices.Equal(c.Buttons, o.Buttons)
}
