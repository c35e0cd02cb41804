package knowledge

import (
	"context"
	"math"
)

// Meaning finds passages that are near a question in meaning, also with other words.
type Meaning interface {
	// Nearest returns the nearest passages of those bases that name an embeddings server. It takes a bounded time; a
	// failure is part of the result, because the search then goes by words alone.
	Nearest(ctx context.Context, companyID string, knowledge []string, text string) Nearest
}

// Nearest is the result of a search by meaning.
type Nearest struct {
	Passages []Near // the nearest first; those of another server follow
	Used     bool   // some base was searched by meaning
	Fault    string // why a base with a server was searched by words alone; empty if none was
	Detail   string
	Base     string // such a base
}

// Near is a passage whose meaning is close to that of a question.
type Near struct {
	Knowledge  string
	Passage    int
	Hash       string  // Passage.Hash
	Rank       int     // among the passages of its server, from 0
	Similarity float64 // cosine of the angle between the vectors
	Standout   float64 // distance from the mean similarity of the other passages, in standard deviations
	StandsOut  bool    // StandsOut of it
}

// minStandout is the minimum distance of a passage that stands out.
const minStandout = 2

// StandsOut reports whether a passage, at a distance from the mean similarity of the others in standard deviations, is nearer
// to a question than the nearest of n passages about something else is likely to be.
func StandsOut(standout float64, n int) bool {
	return standout >= max(minStandout, math.Sqrt(2*math.Log(float64(n))))
}
