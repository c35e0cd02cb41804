package knowledge

// maxMargin is the distance in rank from which a passage stands out.
const maxMargin = 4

const (
	// minCovered is the share of the question's weight that a passage must contain to answer it.
	minCovered = 0.5
	// thinlyCovered bounds the confidence of passages that contain less, and of those in another language that contain one word: it may
	// have another meaning there.
	thinlyCovered = 0.45
	// foreignMatched is the value of fMatched for two words.
	foreignMatched = 0.54
)

//nolint:gochecknoglobals // read-only
var (
	rankWeights = [features]float64{
		fCovered: 2.42, fSentence: 1.75, fPair: 1.61, fTitle: 1.67, fTitleNamed: 1.83, fMissing: -0.37, fMatched: 1.46,
		fNear: 1.26, fFact: -0.54, fExact: 1.44, fRelated: 0.69, fRelatedTitle: 1.7,
	}
	sureWeights = [features]float64{
		fBias: -5.25, fCovered: 1.97, fKnown: -0.97, fSentence: 0.94, fPair: -0.39, fTitle: 1.65, fTitleNamed: 1.23,
		fUnknown: -1.37, fMissing: -0.16, fMatched: 0.8, fNear: 0.89, fFact: -0.7, fMargin: 3.17, fExact: 1.11,
		fWords: 2.35, fUntitled: -0.48, fRelated: 0.2, fRelatedTitle: 0.5,
	}
)
