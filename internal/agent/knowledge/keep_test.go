package knowledge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A set-up file does not have the articles of sites; applying it keeps them, unless it has some itself.
func TestArticlesOfSitesAreKept(t *testing.T) {
	stored := &Base{Articles: []Article{{Title: "Old"}, {Title: "Page", Site: "s"}}}
	b := &Base{Articles: []Article{{Title: "New"}}}
	b.Keep(stored)
	if diff := cmp.Diff([]Article{{Title: "New"}, {Title: "Page", Site: "s"}}, b.Articles); diff != "" {
		t.Error(diff)
	}
	b = &Base{Articles: []Article{{Title: "Other page", Site: "s"}}}
	b.Keep(stored)
	if len(b.Articles) != 1 {
		t.Error(b.Articles)
	}
}
