package people

import "strings"

// Matcher finds texts that mention a person: a number in any grouping, or an id.
type Matcher struct {
	numbers map[string]bool
	ids     map[string]bool
}

// Matcher returns a Matcher of the person's numbers, the channel's ids, and the ids of objects that only concern the
// person.
func (p *Person) Matcher(more ...string) Matcher {
	m := Matcher{map[string]bool{}, map[string]bool{}}
	for _, key := range p.Keys {
		if strings.Trim(key, "0123456789") == "" {
			m.numbers[key] = true
		} else {
			m.ids[key] = true
		}
	}
	for _, ids := range [][]string{p.Contacts, p.Conversations, p.Calls, more} {
		for _, id := range ids {
			m.ids[id] = true
		}
	}
	return m
}

// Matches reports whether a text, which may be JSON, mentions the person.
func (m Matcher) Matches(text string) bool {
	found := false
	m.each(text, func(int, int) { found = true })
	return found
}

// Replace replaces each mention by a mark.
func (m Matcher) Replace(text, mark string) string {
	var b strings.Builder
	end := 0
	m.each(text, func(from, to int) {
		b.WriteString(text[end:from])
		b.WriteString(mark)
		end = to
	})
	b.WriteString(text[end:])
	return b.String()
}

// each calls f with the positions of the mentions.
func (m Matcher) each(text string, f func(from, to int)) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text): // a JSON escape is not part of a word
			i += 2
			if text[i-1] == 'u' {
				i = min(i+4, len(text))
			}
		case isWord(c):
			end := i + 1
			for end < len(text) && (isWord(text[end]) || isJoint(text[end]) && end+1 < len(text) && isWord(text[end+1])) {
				end++
			}
			if m.ids[text[i:end]] || m.numbers[text[i:end]] {
				f(i, end)
				i = end
				continue
			}
			i = m.number(text, i, f)
		default:
			i++
		}
	}
}

// number recognizes a number that begins at i, in groups of digits, and returns the next position to search.
func (m Matcher) number(text string, i int, f func(from, to int)) int {
	if !isDigit(text[i]) {
		for i < len(text) && isWord(text[i]) {
			i++
		}
		return i
	}
	end, digits := i, make([]byte, 0, 24)
	for j := i; j < len(text) && (isDigit(text[j]) || strings.IndexByte(" ()-./", text[j]) >= 0); j++ {
		if isDigit(text[j]) {
			digits, end = append(digits, text[j]), j+1
		}
	}
	if end < len(text) && isWord(text[end]) {
		return end // a word that begins with digits
	}
	if m.numbers[strings.TrimPrefix(string(digits), "00")] {
		f(i, end)
		return end
	}
	for i < len(text) && isDigit(text[i]) { // the next group may begin the number
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isJoint reports whether a byte joins the parts of an id.
func isJoint(c byte) bool { return c == '-' || c == '.' }
