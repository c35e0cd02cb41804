package knowledge

// maxMargin is the distance in rank from which a passage stands out.
const maxMargin = 4

// Thresholds of Hit.Score.
const (
	Threshold      = 0.5  // the passage answers the question
	OfferThreshold = 0.03 // the passage may answer it
)

const (
	// minCovered is the share of the question's weight that a passage must contain to answer it.
	minCovered = 0.5
	// thinlyCovered bounds the confidence of passages that contain less.
	thinlyCovered = 0.45
)

//nolint:gochecknoglobals // read-only
var (
	rankWeights = [features]float64{
		fCovered: 2.17, fSentence: 2.01, fPair: 1.75, fTitle: 0.94, fTitleNamed: 1.44, fMissing: -0.29, fMatched: 1.35,
		fNear: 1.5, fFact: -0.45, fExact: 1.99,
	}
	sureWeights = [features]float64{
		fBias: -4.8, fCovered: 1.96, fKnown: -1.2, fSentence: 1.25, fPair: -0.47, fTitle: 1.71, fTitleNamed: 1.29,
		fUnknown: -1.01, fMissing: -0.52, fMatched: 1.14, fNear: 0.86, fFact: -0.77, fMargin: 2.82, fExact: 1.4,
		fWords: 2.08, fUntitled: -0.98,
	}
)
