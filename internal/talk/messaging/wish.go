package messaging

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"carillon/internal/base/language"
	"carillon/internal/talk/flow"
)

// wish is a request to stop or restart messages, which is always obeyed (docs/reference/stop.md).
type wish string

const (
	stop  wish = "stop"
	start wish = "start"
)

// asked is the result of searching a text for a wish.
type asked struct {
	wish wish // empty: none
	// answer reports that the words are also ordinary answers, such as "cancel". If they were offered or tapped, they
	// are only answers.
	answer    bool
	languages []string // languages of the words
}

const (
	maxWish      = 200  // bytes of a text without its signature and quotations
	maxSigned    = 8192 // bytes including them
	maxSignature = 10   // lines
)

// wishOf returns the wish in a text that contains only its words and polite phrases, optionally followed by a
// signature, a name or quoted text.
func wishOf(text string) asked {
	if len(text) > maxSigned {
		return asked{}
	}
	paragraphs, marked := paragraphsOf(strings.Map(seen, norm.NFKC.String(text)))
	for n := len(paragraphs); n > 0; n-- {
		if n < len(paragraphs) && !signature(paragraphs[n:]) {
			break
		}
		text := strings.Join(paragraphs[:n], "\n")
		a := judge(text)
		if a.wish != "" && (n == len(paragraphs) || marked || !a.answer) { // "cancel" above "Order 123" is about the order
			return a
		}
		if a = aboveName(text); a.wish != "" {
			return a
		}
	}
	return asked{}
}

// seen drops invisible characters, which some keyboards insert into words.
func seen(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// ends matches the beginnings of lines that end a message, such as signatures and headers of quotations.
var ends = regexp.MustCompile(`^(?:sent from|sent with|get outlook|enviado (?:desde|do|de|pelo|con)|obtener outlook|on .* wrote` +
	`|el .* escribio|em .* escreveu|` +
	`original message|mensaje original|mensagem original|(?:best |kind |warm )?regards|cheers|saludos|atte|atentamente` +
	`|atenciosamente|abracos)\b`)

// paragraphsOf returns the paragraphs of a text, without its quotations and up to a marked signature. marked
// reports whether the text has such a signature.
func paragraphsOf(text string) (all []string, marked bool) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			all, lines = append(all, strings.Join(lines, "\n")), nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(all)+len(lines) > 0 && (strings.Trim(line, "-_—") == "" && len(line) > 1 || ends.MatchString(flow.Plain(line))) {
			marked = true
			break
		}
		switch {
		case line == "":
			flush()
		case line[0] != '>' && line[0] != '|': // skip quoted lines
			lines = append(lines, line)
		}
	}
	flush()
	return all, marked
}

const nameWord = `\p{Lu}[\p{L}'’.-]*`

var (
	// aName matches a line that is a name.
	aName = regexp.MustCompile(`^` + nameWord + `(?:\s+(?:(?:de|da|do|dos|das|del|la|y|e|van|von|bin)\s+)*` + nameWord + `){0,3}$`)
	// closed matches a closing phrase followed by a name. The phrase is part of the message.
	closed = regexp.MustCompile(`(?s)^(.*(?i:\b(?:thanks|thank you|thx|regards|cheers|gracias|saludos|obrigad[oa]|abraços?))[\s,.!;:-]+)` +
		`([^,.!;:\n]+)[.!]?$`)
)

// aboveName returns the wish in a text that ends with a name, either after a closing phrase or on lines of its own. A
// name of one word counts only below words all in capitals: "Sair" above "Amanhã" is no wish.
func aboveName(text string) asked {
	if m := closed.FindStringSubmatch(text); m != nil && aName.MatchString(m[2]) {
		return judge(m[1])
	}
	lines := strings.Split(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		head, name := strings.Join(lines[:n], "\n"), lines[n]
		if !aName.MatchString(name) || !signature(lines[n:]) {
			continue
		}
		loud := strings.ToUpper(head) == head && strings.ToUpper(name) != name
		if a := judge(head); a.wish != "" && !a.answer && (loud || strings.Contains(name, " ")) {
			return a
		}
	}
	return asked{}
}

// signature reports whether paragraphs look like names, companies, numbers and addresses.
func signature(paragraphs []string) bool {
	lines := strings.Split(strings.Join(paragraphs, "\n"), "\n")
	if len(lines) > maxSignature {
		return false
	}
	for _, line := range lines {
		digits := 0
		for _, r := range line {
			if unicode.IsDigit(r) {
				digits++
			}
		}
		first, _ := firstLetter(line)
		switch {
		case len(strings.Fields(line)) > 6, strings.ContainsAny(line, "?!"), digits > 0 && digits < 7,
			unicode.IsLower(first) && !strings.ContainsAny(line, "@/"):
			return false
		}
	}
	return true
}

func firstLetter(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return r, true
		}
	}
	return 0, false
}

// judge returns the wish in a text without a signature. Each sentence must express the wish or be neutral.
func judge(text string) (a asked) {
	if len(text) > maxWish {
		return asked{}
	}
	a.answer = true
	for _, sentence := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".,;:!?¡¿…()\n", r) }) {
		plain := bare(sentence)
		if plain == "" || neutral.MatchString(plain) {
			continue
		}
		s := sentenceOf(plain)
		if s.wish == "" || a.wish != "" && a.wish != s.wish {
			return asked{}
		}
		if a.wish == "" || a.answer && !s.answer {
			a.languages = s.languages
		}
		a.wish, a.answer = s.wish, a.answer && s.answer
	}
	if a.wish == "" || a.answer && strings.ContainsRune(text, '?') { // "end?" is a question about when
		return asked{}
	}
	return a
}

// polite are words that do not change the meaning.
var polite = regexp.MustCompile(`\b(?:please|pleas|pls|plz|thank you|thanks|thx|hi|hello|hey|kindly|now|right away|immediately|asap` +
	`|just|yes|ok|okay|sir|madam|good (?:morning|afternoon|evening)|` +
	`por favor|porfavor|porfa|favor|muchas gracias|gracias|hola|ya|ahora|si|buenos dias|buenas (?:tardes|noches)|buenas|` +
	`muito obrigad[oa]|obrigad[oa]|ola|oi|agora|ja|sim|bom dia|boa (?:tarde|noite)|pfv)\b`)

// neutral are sentences that people add to a wish.
var neutral = regexp.MustCompile(`^(?:no|(?:i am |i m )?not interested|(?:this is |it s |its )?spam|wrong number|no thanks|` +
	`no me interesan?|(?:esto )?es spam|numero equivocado|nao|nao tenho interesse|sem interesse|nao me interessa|(?:isso )?e spam` +
	`|numero errado|(?:best |kind |warm )?regards|cheers|saludos|abracos?)$`)

// bare returns a sentence without case, accents, polite words and repetitions. Spaced letters ("S T O P") become one
// word.
func bare(sentence string) string {
	words := strings.Fields(polite.ReplaceAllString(flow.Plain(sentence), " "))
	words = slices.Compact(words)
	if len(words) > 2 && !slices.ContainsFunc(words, func(w string) bool { return len(w) > 1 }) {
		return strings.Join(words, "")
	}
	return strings.Join(words, " ")
}

func sentenceOf(plain string) (a asked) {
	for _, f := range forms {
		if f.words.MatchString(plain) {
			if a.wish == "" {
				a.wish, a.answer = f.wish, f.answer
			}
			if a.wish == f.wish && a.answer == f.answer {
				a.languages = append(a.languages, f.language)
			}
		}
	}
	return a
}

// language returns the language of a wish's words, or "" if they include English, since STOP is used in all languages.
// If the words exist in several languages, the conversation's language wins.
func (a *asked) language(conversation string) string {
	base := language.Base(conversation)
	switch {
	case len(a.languages) == 0 || slices.Contains(a.languages, "en"):
		return ""
	case slices.Contains(a.languages, base):
		return base
	}
	return a.languages[0]
}
