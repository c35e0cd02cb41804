package voice

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/language"
)

// The end of a turn. A person who pauses has finished or hesitates; the words up to the pause and the open question show
// which is likelier. bench/turns.md has the figures.
const (
	needShort    = 300 * time.Millisecond  // an answer to yes or no, a choice, a complete number
	needSentence = 600 * time.Millisecond  // words that look complete
	needSlot     = time.Second             // a name or a date
	needDictated = 1600 * time.Millisecond // a number or an address that is not complete
	needOpen     = 1800 * time.Millisecond // words that end in "and", "the", "er"

	defaultSilence = 600 * time.Millisecond // of silence_ms, which the others assume

	// earlyAfter is the silence after which a turn is transcribed, in case it has ended.
	earlyAfter  = 250 * time.Millisecond
	fewWords    = 3 // words of a short answer
	smallNumber = 2 // digits of a number that is said without a pause
	freeDigits  = 3 // consecutive digits that are being dictated, without being asked for
)

// slot is the expected answer.
type slot int

// Kinds of answers.
const (
	slotFree   slot = iota
	slotChoice      // yes, no, or one of a few choices
	slotWord        // a name, a date
	slotDigits
	slotEmail
)

// expected describes the answer to the open question.
type expected struct {
	slot   slot
	digits int // of the number; 0 if unknown
}

// need returns the silence after a text that ends the turn.
func need(text string, e expected, tag string, h *pauses) time.Duration {
	words := knowledge.Words(text)
	rules, known := turnWords[language.Base(tag)]
	digits := digitsOf(words, rules.digits)
	switch {
	case len(words) == 0 || !known:
		return h.adapt(defaultSilence)
	case e.slot == slotDigits && e.digits > 0 && digits >= e.digits:
		return needShort
	case e.slot == slotEmail && completeEmail(text, words, &rules):
		return needSentence
	case hesitates(text, words, &rules):
		return needOpen
	case e.slot == slotDigits && (e.digits > 0 && digits > 0 || digits > smallNumber):
		return needDictated
	case e.slot == slotEmail:
		return needDictated
	case trailingDigits(words, rules.digits) >= freeDigits:
		return needDictated
	case e.slot == slotChoice && len(words) <= fewWords, len(words) <= fewWords && slices.Contains(rules.short, words[0]):
		return needShort
	case e.slot == slotWord:
		return h.adapt(needSlot)
	}
	return h.adapt(needSentence)
}

// scaled applies the agent's silence_ms to a silence.
func scaled(d, configured time.Duration) time.Duration {
	return d * configured / defaultSilence
}

// hesitates reports whether a text ends in a word or mark after which people continue.
func hesitates(text string, words []string, rules *turnRules) bool {
	switch trimmed := strings.TrimRightFunc(text, unicode.IsSpace); {
	case strings.HasSuffix(trimmed, ","), strings.HasSuffix(trimmed, "..."), strings.HasSuffix(trimmed, "…"):
		return true
	case strings.HasSuffix(trimmed, "?"), strings.HasSuffix(trimmed, "!"):
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(rules.fillers, last) {
		return true
	}
	return len(words) > 1 && slices.Contains(rules.open, last) || len(words) == 1 && slices.Contains(rules.begins, last)
}

// digitsOf counts the digits of a text, in figures and in words.
func digitsOf(words []string, values map[string]int) (n int) {
	for _, w := range words {
		n += digitsIn(w, values)
	}
	return n
}

// trailingDigits counts the digits at the end of a text.
func trailingDigits(words []string, values map[string]int) (n int) {
	for _, w := range slices.Backward(words) {
		d := digitsIn(w, values)
		if d == 0 {
			break
		}
		n += d
	}
	return n
}

func digitsIn(word string, values map[string]int) (n int) {
	if n = values[word]; n > 0 {
		return n
	}
	for _, r := range word {
		if !unicode.IsDigit(r) {
			return 0
		}
		n++
	}
	return n
}

// completeEmail reports whether a text ends like an e-mail address.
func completeEmail(text string, words []string, rules *turnRules) bool {
	if before, host, found := strings.Cut(text, "@"); found && before != "" {
		at := strings.LastIndex(host, ".")
		return at > 0 && len(strings.TrimSpace(host[at+1:])) >= 2
	}
	n := len(words)
	return n >= 4 && slices.Contains(words[:n-2], rules.at) && words[n-2] == rules.dot && len(words[n-1]) >= 2
}

// pauses keeps a person's pauses within turns.
type pauses struct{ recent []time.Duration }

const (
	maxPauses = 32
	// trusted is the number of pauses after which they count as much as the rules.
	trusted     = 4
	minAdapted  = 400 * time.Millisecond
	maxAdapted  = 1600 * time.Millisecond
	pauseMargin = 1.1
)

// add records a pause after which the person continued.
func (p *pauses) add(d time.Duration) {
	p.recent = append(p.recent, d)
	p.recent = p.recent[max(0, len(p.recent)-maxPauses):]
}

// adapt moves a silence toward the ninth decile of the person's pauses.
func (p *pauses) adapt(d time.Duration) time.Duration {
	if p == nil || len(p.recent) == 0 {
		return d
	}
	sorted := slices.Clone(p.recent)
	slices.SortFunc(sorted, cmp.Compare[time.Duration])
	long := time.Duration(pauseMargin * float64(sorted[(len(sorted)*9-1)/10]))
	long = min(max(long, minAdapted), maxAdapted)
	n := time.Duration(len(p.recent))
	return (trusted*d + n*long) / (trusted + n)
}
