package knowledge

import "slices"

// MaxOffered is the number of articles among which a person chooses.
const MaxOffered = 3

// Decide returns what an agent makes of the passages found for a question: it answers with the first one, or offers some, as
// indexes. Offers are in the language of the question and have distinct titles. If both are false and empty, it does not know.
func Decide(found []Hit) (answers bool, offers []int) {
	for i := range found {
		h := &found[i]
		same := func(other int) bool { return found[other].Title == h.Title }
		if h.MayAnswer() && !h.Foreign && !slices.ContainsFunc(offers, same) && len(offers) < MaxOffered {
			offers = append(offers, i)
		}
	}
	if len(found) > 0 && found[0].Answers() && (!found[0].Foreign || len(offers) == 0) {
		return true, nil
	}
	return false, offers
}
