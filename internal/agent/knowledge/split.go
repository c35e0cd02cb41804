package knowledge

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageLength bounds the length of a passage, in characters.
const passageLength = 1200

// part is a passage of an article: the text under one heading, or a piece of it.
type part struct{ heading, text string }

var (
	heading = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
	item    = regexp.MustCompile(`^\s*([-*•+]|\d+[.)])\s`)
)

// split divides a text into passages: at headings, between paragraphs and, if a paragraph is too long, between
// sentences.
func split(text string) (all []part) {
	var now part
	end := func() {
		if now.text != "" {
			all = append(all, now)
		}
		now.text = ""
	}
	add := func(paragraph string) {
		for _, piece := range pieces(paragraph, passageLength) {
			if now.text != "" && length(now.text)+length(piece)+2 > passageLength {
				end()
			}
			now.text = strings.TrimPrefix(now.text+"\n\n"+piece, "\n\n")
		}
	}
	var paragraph []string
	for line := range strings.SplitSeq(text+"\n", "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		title := heading.FindStringSubmatch(line)
		if line != "" && title == nil {
			// As in Markdown, a line continues the previous one, except that a list item begins a new line.
			if n := len(paragraph); n > 0 && !item.MatchString(line) {
				paragraph[n-1] += " " + strings.TrimSpace(line)
			} else {
				paragraph = append(paragraph, line)
			}
			continue
		}
		add(strings.TrimSpace(strings.Join(paragraph, "\n")))
		paragraph = nil
		if title != nil {
			end()
			now.heading = title[1]
		}
	}
	end()
	return all
}

// pieces splits a text into pieces of at most that many characters, between sentences if possible.
func pieces(text string, maxChars int) (all []string) {
	now := ""
	for _, sentence := range sentences(text) {
		for length(sentence) > maxChars {
			cut := string([]rune(sentence)[:maxChars])
			if space := strings.LastIndexFunc(cut, unicode.IsSpace); space > len(cut)/2 {
				cut = cut[:space]
			}
			all = appendText(all, now)
			all = appendText(all, cut)
			now, sentence = "", sentence[len(cut):]
		}
		if length(now)+length(sentence) > maxChars {
			all = appendText(all, now)
			now = ""
		}
		now += sentence
	}
	return appendText(all, now)
}

func appendText(all []string, text string) []string {
	if text = strings.TrimSpace(text); text != "" {
		return append(all, text)
	}
	return all
}

// sentences splits a text into sentences, each with its trailing white space: after a line end, or after a punctuation
// mark and white space, unless a lower-case letter follows.
func sentences(text string) (all []string) {
	from := 0
	for at := 0; at < len(text); {
		end := sentenceEnd(text[at:])
		if end == 0 {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at+end:])
		if text[at] == '\n' || !unicode.IsLower(next) { // lower case as in "approx. two"
			all = append(all, text[from:at+end])
			from = at + end
		}
		at += end
	}
	if from < len(text) {
		all = append(all, text[from:])
	}
	return all
}

// sentenceEnd returns the length of a possible end of a sentence with which a text begins; 0 if there is none.
func sentenceEnd(text string) int {
	rest := strings.TrimLeft(text, "\n")
	if rest != text {
		return len(text) - len(rest)
	}
	mark, size := utf8.DecodeRuneInString(text)
	switch mark {
	case '.', '!', '?', '…', '。', '！', '？':
	default:
		return 0
	}
	rest = strings.TrimLeft(text[size:], `"')]»”`)
	space := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if space == rest {
		return 0
	}
	return len(text) - len(space)
}

func length(s string) int { return utf8.RuneCountInString(s) }

// Clip returns a text on one line. A text of more than that many characters is cut, where possible between words, and ends with an
// ellipsis.
func Clip(s string, maxChars int) string {
	s = strings.Join(strings.Fields(s), " ")
	if length(s) <= maxChars {
		return s
	}
	cut := string([]rune(s)[:maxChars])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return cut + "…"
}
