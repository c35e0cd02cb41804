package voice

import "time"

// Rules of turn-taking. The functions are pure; ears applies them chunk by chunk.
const (
	speaking  = 0.5  // minimum score of speech
	quiet     = 0.35 // maximum score of silence; between the two the previous state remains
	startsIn  = 3    // consecutive chunks of speech that begin an utterance
	duckAfter = 90 * time.Millisecond
	// cutAfter allows for the round trip: a browser is silent within 250 ms of the person's first sound.
	cutAfter = 160 * time.Millisecond
	// maxBackchannel is the maximum length of an utterance that only says "I am listening".
	maxBackchannel = 900 * time.Millisecond
	maxUtterance   = 60 * time.Second // a longer one is cut here
	shortSilence   = 350 * time.Millisecond
)

// starts reports whether a number of consecutive chunks of speech begins an utterance.
func starts(inRow int) bool { return inRow >= startsIn }

// ends reports whether an utterance has ended, by a silence or because it is too long.
func ends(silence, need, length time.Duration) bool {
	return silence >= need || length >= maxUtterance
}

// ducks reports whether the person has spoken over our words long enough to make them quieter; cuts, to stop them.
func ducks(spoken time.Duration) bool { return spoken >= duckAfter }
func cuts(spoken time.Duration) bool  { return spoken >= cutAfter }

// silenceFor returns the silence that ends a turn. It is shorter if a word or two is expected.
func silenceFor(configured time.Duration, choices bool) time.Duration {
	if choices {
		return min(configured, shortSilence)
	}
	return configured
}

// resumes reports whether an utterance spoken over our words does not stop them: noise without words, or a word that
// only says that the person is listening.
func resumes(text string, spoken time.Duration, language string) bool {
	return text == "" || spoken <= maxBackchannel && backchannel(text, language)
}

// ears tracks the scores of the chunks of one person.
type ears struct {
	chunk time.Duration // length of a chunk

	inRow   int // consecutive chunks of speech
	talking bool
	speech  bool          // the last chunk was speech
	began   time.Duration // beginning of the utterance, in the time of the samples
	spoken  time.Duration // speech in the utterance
	silence time.Duration // silence since the last speech of the utterance
	at      time.Duration // end of the last chunk
}

// heard is the result of a chunk.
type heard int

// Results of a chunk.
const (
	nothing heard = iota
	began         // an utterance began, startsIn chunks ago
	goes          // speech continues
	over          // the utterance is over
)

// add takes the score of the next chunk. An utterance ends after the given silence.
func (e *ears) add(score float32, silence time.Duration) heard {
	e.at += e.chunk
	e.speech = score >= speaking || e.speech && score >= quiet
	if e.speech {
		e.inRow++
	} else {
		e.inRow = 0
	}
	if !e.talking {
		if !starts(e.inRow) {
			return nothing
		}
		e.talking, e.silence = true, 0
		e.spoken = time.Duration(e.inRow) * e.chunk
		e.began = e.at - e.spoken
		return began
	}
	if e.speech {
		e.spoken += e.chunk
		e.silence = 0
	} else {
		e.silence += e.chunk
	}
	if !ends(e.silence, silence, e.at-e.began) {
		return goes
	}
	e.talking = false
	return over
}
