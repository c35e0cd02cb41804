package voice

import "time"

// Turn is an answer of the test set: the silence that ends it after a text.
type Turn struct {
	Language string
	e        expected
}

// NewTurn returns a turn that answers a question of a kind: free, choice, word, number or email.
func NewTurn(language, kind string, digits int) Turn {
	return Turn{language, expected{map[string]slot{
		"choice": slotChoice, "word": slotWord, "number": slotDigits, "email": slotEmail,
	}[kind], digits}}
}

// Need returns the silence.
func (t Turn) Need(text string) time.Duration { return need(text, t.e, t.Language, nil) }

// Ears applies the rules of turns to the scores of a detector.
type Ears struct{ e ears }

// NewEars returns Ears for chunks of a length.
func NewEars(chunk time.Duration) *Ears { return &Ears{ears{chunk: chunk}} }

// Add adds a score and reports whether a turn has ended.
func (e *Ears) Add(score float32, silence time.Duration) (ended bool) {
	return e.e.add(score, silence) == over
}

// Silence returns the current silence within a turn.
func (e *Ears) Silence() time.Duration { return e.e.silence }
