package knowledge

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The passages of any article are valid text, bounded, and found by their own words.
func FuzzPassages(f *testing.F) {
	f.Add("Title", "One. Two!\n\n# Three\n- four", "en")
	f.Add("", strings.Repeat("x", 5000)+" ñandú \x00 漢字", "")
	f.Fuzz(func(t *testing.T, title, text, language string) {
		if !utf8.ValidString(title) || !utf8.ValidString(text) || len(text) > MaxText {
			return
		}
		a := Article{Title: title, Text: text, Language: language}
		for _, p := range a.passages(0) {
			if p.Text == "" || !utf8.ValidString(p.Text) || length(p.Text) > passageLength {
				t.Errorf("a passage of %d characters: %q", length(p.Text), p.Text)
			}
			for _, term := range p.Terms {
				if term.Text == "" || !utf8.ValidString(term.Text) || length(term.Text) > maxWord {
					t.Errorf("a term %q", term.Text)
				}
			}
			q := parse(text, language, "")
			m := compare(q, weigh(q, make([]int, len(q.words)), 1), ranked{hit: p})
			if got := m.excerpt(); length(got) > maxExcerpt+1 || !utf8.ValidString(got) {
				t.Errorf("an excerpt of %d characters", length(got))
			}
		}
	})
}

func FuzzFromHTML(f *testing.F) {
	f.Add(`<html lang=es><title>T</title><main><h1>T</h1><ul><li><p>a<li>b</ul><table><tr><td>1<td>2</table>`)
	f.Add("<body><p>\x00\xff<script>x")
	f.Fuzz(func(t *testing.T, page string) {
		a, err := FromHTML(strings.NewReader(page))
		if err != nil {
			return
		}
		if len(a.Text) > MaxText || !utf8.ValidString(a.Text) || strings.ContainsRune(a.Text, 0) || length(a.Title) > maxHeading+1 {
			t.Errorf("%q", a)
		}
	})
}
