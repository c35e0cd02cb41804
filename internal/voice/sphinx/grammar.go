package sphinx

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	maxChoices = 30
	maxWords   = 8 // in a choice
)

// answers are always understood, without being offered. The values are their meanings.
var answers = map[string]string{ //nolint:gochecknoglobals // read only
	"yes": "Yes", "yeah": "Yes", "yes please": "Yes", "okay": "Yes", "no": "No", "nope": "No", "no thanks": "No", "stop": "Stop",
	"goodbye": "Goodbye",
}

var digits = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} //nolint:gochecknoglobals // read only

// grammar maps phrases to their meaning.
type grammar struct{ phrases map[string]string }

// grammar returns the grammar of the choices whose words are in the dictionary.
func (t *Transcriber) grammar(expect []string) (*grammar, error) {
	g := &grammar{phrases: map[string]string{}}
	needed := map[string]bool{}
	for _, choice := range expect[:min(len(expect), maxChoices)] {
		if spoken := spoken(choice); len(spoken) > 0 && len(spoken) <= maxWords {
			g.phrases[strings.Join(spoken, " ")] = choice
			for _, word := range spoken {
				needed[word] = false
			}
		}
	}
	if err := t.lookUp(needed); err != nil {
		return nil, err
	}
	for phrase := range g.phrases {
		if slices.ContainsFunc(strings.Fields(phrase), func(word string) bool { return !needed[word] }) {
			delete(g.phrases, phrase)
		}
	}
	for phrase, meaning := range answers {
		if g.phrases[phrase] == "" {
			g.phrases[phrase] = meaning
		}
	}
	return g, nil
}

// lookUp marks the words that are in the dictionary.
func (t *Transcriber) lookUp(words map[string]bool) error {
	if len(words) == 0 {
		return nil
	}
	f, err := os.Open(t.dictionary)
	if err != nil {
		return fmt.Errorf("open the dictionary: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if _, needed := words[word]; needed {
			words[word] = true
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the dictionary: %w", err)
	}
	return nil
}

// spoken returns the words of a choice, or nil if it cannot be spoken word by word.
func spoken(choice string) []string {
	var words []string
	for word := range strings.FieldsSeq(strings.ToLower(choice)) {
		word = strings.Trim(word, `.,;:!?"()`)
		switch {
		case word == "":
			continue
		case strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' && (r < '0' || r > '9') }):
			return nil
		case strings.ContainsAny(word, "0123456789"):
			for _, r := range word {
				if r < '0' || r > '9' {
					return nil
				}
				words = append(words, digits[r-'0'])
			}
		default:
			words = append(words, word)
		}
	}
	return words
}

// jsgf returns the grammar in JSGF. It contains only words of the dictionary.
func (g *grammar) jsgf() string {
	var b strings.Builder
	b.WriteString("#JSGF V1.0;\ngrammar answers;\n<digit> = " + strings.Join(digits, " | ") + ";\npublic <answers> = <digit>+")
	var phrases []string
	for phrase := range g.phrases {
		phrases = append(phrases, phrase)
	}
	slices.Sort(phrases)
	for _, phrase := range phrases {
		b.WriteString(" | " + phrase)
	}
	b.WriteString(";\n")
	return b.String()
}

// text returns the meaning of a phrase: a choice, an answer or a number; "" for none.
func (g *grammar) text(said string) string {
	words := strings.Fields(strings.ToLower(said))
	if meaning, ok := g.phrases[strings.Join(words, " ")]; ok {
		return meaning
	}
	var number strings.Builder
	for _, word := range words {
		digit := slices.Index(digits, word)
		if digit < 0 {
			return ""
		}
		fmt.Fprint(&number, digit)
	}
	return number.String()
}
