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
		fCovered: 2.13, fSentence: 1.9, fPair: 1.62, fTitle: 0.95, fTitleNamed: 1.37, fMissing: -0.06, fMatched: 1.5,
		fNear: 1.53, fFact: -0.44, fExact: 1.9,
	}
	sureWeights = [features]float64{
		fBias: -4.86, fCovered: 2.0, fKnown: -0.3, fSentence: 0.75, fPair: -0.38, fTitle: 1.25, fTitleNamed: 2.49,
		fUnknown: -0.9, fMissing: -0.18, fMatched: 1.39, fNear: 0.78, fFact: -0.81, fMargin: 3.48, fExact: -0.23,
		fWords: 1.16,
	}
)
