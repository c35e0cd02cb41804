package knowledge

import "slices"

// Thresholds of Hit.Score.
const (
	Threshold      = 0.5   // the passage answers the question
	OfferThreshold = 0.015 // the passage may answer it
)

const (
	// MaxOffered is the number of articles among which a person chooses.
	MaxOffered = 3
	// nextShare is the share of the best score from which others are offered too.
	nextShare = 0.15
)

// Answers reports whether the passage answers the question.
func (h *Hit) Answers() bool { return h.Score >= Threshold }

// MayAnswer reports whether the passage may answer the question.
func (h *Hit) MayAnswer() bool { return h.Score >= OfferThreshold }

// Decide decides how an agent uses the passages found for a question: it answers with the first one, or offers some, given as
// indexes. Offers are in the language of the question and have distinct titles. If there is neither an answer nor an offer,
// the agent does not know.
func Decide(found []Hit) (answers bool, offers []int) {
	best := 0.0
	for i := range found {
		if !found[i].Foreign {
			best = max(best, found[i].Score)
		}
	}
	if best >= OfferThreshold {
		offers = offersOf(found, min(OfferThreshold, nextShare*best))
	}
	if len(found) > 0 && found[0].Answers() && (!found[0].Foreign || len(offers) == 0) {
		return true, nil
	}
	return false, offers
}

func offersOf(found []Hit, minScore float64) (offers []int) {
	for i := range found {
		h := &found[i]
		same := func(other int) bool { return found[other].Title == h.Title }
		if h.Score >= minScore && !h.Foreign && !slices.ContainsFunc(offers, same) && len(offers) < MaxOffered {
			offers = append(offers, i)
		}
	}
	return offers
}
