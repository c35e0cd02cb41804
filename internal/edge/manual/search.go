package manual

import (
	"html/template"
	"slices"
	"strings"
	"unicode"
)

// hit is a part of a page that contains all words of a query.
type hit struct {
	Path, Page, Title string
	Text              template.HTML // excerpt around the first match
	score             int
}

const (
	maxHits       = 30
	maxWords      = 8
	excerptRadius = 90 // bytes shown on each side of a match
)

// search returns the parts of pages that contain all words of a query, best match first.
func (lib *library) search(query string) (hits []hit) {
	wanted := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
	if len(wanted) == 0 {
		return nil
	}
	wanted = wanted[:min(len(wanted), maxWords)]
	for _, p := range lib.pages {
		for _, x := range p.parts {
			if h, ok := match(p, x, wanted); ok {
				hits = append(hits, h)
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return strings.Compare(a.Path, b.Path)
	})
	return hits[:min(len(hits), maxHits)]
}

func match(p *page, x part, wanted []string) (hit, bool) {
	text, title, page := strings.ToLower(x.text), strings.ToLower(x.title), strings.ToLower(p.title)
	h := hit{Path: root + "/" + p.path, Page: p.title, Title: x.title}
	if x.id != "" {
		h.Path += "#" + x.id
	}
	for _, w := range wanted {
		n := min(strings.Count(text, w), 5)
		if strings.Contains(title, w) {
			n += 12
		}
		if n == 0 {
			return h, false
		}
		if strings.Contains(page, w) {
			n += 6
		}
		h.score += n
	}
	if strings.HasPrefix(p.path, "adr/") || p.path == "reference/contract" {
		h.score /= 3 // these are for developers of Carillon
	}
	h.Text = excerpt(x.text, wanted[0])
	return h, true
}

// excerpt returns the text around a word, with the word highlighted.
func excerpt(text, word string) template.HTML {
	lower := strings.ToLower(text)
	at := strings.Index(lower, word)
	if at < 0 || len(lower) != len(text) { // the word is missing, or lowercasing changed the length of the text
		at, word = 0, ""
	}
	from, to := max(0, at-excerptRadius), min(len(text), at+len(word)+excerptRadius)
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	esc := template.HTMLEscapeString
	out := esc(text[from:at])
	if word != "" {
		out += "<mark>" + esc(text[at:at+len(word)]) + "</mark>"
	}
	out += esc(text[at+len(word) : to])
	if from > 0 {
		out = "… " + out
	}
	if to < len(text) {
		out += " …"
	}
	return template.HTML(out) //nolint:gosec // escaped above
}
