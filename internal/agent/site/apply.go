package site

import (
	"maps"
	"slices"
	"strconv"

	"carillon/internal/agent/knowledge"
)

const (
	minShrink  = 4         // minimum number of pages for which the loss of more than half is suspicious
	maxChanges = 512 << 10 // bytes of texts that are kept per look
)

// The kinds of changes.
const (
	Added    = "added"
	Changed  = "changed"
	Removed  = "removed"
	Kept     = "kept"      // the page changed, and the article was edited here
	KeptGone = "kept_gone" // the page is gone, and the article was edited here
	LeftOut  = "left_out"  // the page changed, and its article was removed here
)

// Change is the change of an article by a look.
type Change struct {
	Kind   string `json:"kind"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	Before string `json:"before"`
	After  string `json:"after"`
	Cut    bool   `json:"cut,omitempty"` // the texts were not kept, because the look found too many changes
}

// outcome is the result of a look.
type outcome struct {
	changes []Change
	size    int
}

// shrunk returns a fault if more than half of the known pages are gone.
func (c *crawl) shrunk() error {
	lost := 0
	for address := range c.known {
		if c.gone[address] && !c.hasFresh(address) {
			lost++
		}
	}
	if c.whole || len(c.known) < minShrink || lost*2 <= len(c.known) {
		return nil
	}
	return &faultError{Shrunk, strconv.Itoa(lost) + " / " + strconv.Itoa(len(c.known))}
}

func (c *crawl) hasFresh(address string) bool {
	for i := range c.fresh {
		if c.fresh[i].URL == address {
			return true
		}
	}
	return false
}

// idle reports whether the look found the same pages as the last one.
func (c *crawl) idle() bool {
	if c.whole {
		return false
	}
	for i := range c.fresh {
		if before, known := c.known[c.fresh[i].URL]; !known || before.Hash != c.fresh[i].Hash {
			return false
		}
	}
	for address := range c.known {
		if c.gone[address] && !c.hasFresh(address) {
			return false
		}
	}
	return true
}

// memory returns what the next look needs: the pages that were read, and those that are not known to be gone.
func (c *crawl) memory() memory {
	m := memory{Pages: make([]record, 0, len(c.known)+len(c.fresh)), Common: slices.Sorted(maps.Keys(c.common))}
	read := map[string]bool{}
	for i := range c.fresh {
		read[c.fresh[i].URL] = true
		m.Pages = append(m.Pages, c.fresh[i].record)
	}
	for address, before := range c.known {
		if !read[address] && !c.gone[address] {
			m.Pages = append(m.Pages, before)
		}
	}
	return m
}

// apply changes the articles of a base. It may be called more than once, each time with the base stored by then.
func (c *crawl) apply(base *knowledge.Base) *outcome {
	at := map[string]int{}
	for i, a := range base.Articles {
		if a.Site == c.site.ID {
			at[a.URL] = i
		}
	}
	o := &outcome{}
	read := map[string]bool{}
	for i := range c.fresh {
		p := &c.fresh[i]
		read[p.URL] = true
		before, known := c.known[p.URL]
		index, there := at[p.URL]
		switch {
		case !there && (!known || c.whole):
			base.Articles = append(base.Articles, p.article)
			o.add(Added, p.article, "", p.article.Text)
		case !there:
			if before.Hash != p.Hash {
				o.add(LeftOut, p.article, "", p.article.Text)
			}
		case hashOf(&base.Articles[index]) == p.Hash:
		case known && hashOf(&base.Articles[index]) == before.Hash:
			old := base.Articles[index]
			o.add(Changed, p.article, old.Text, p.article.Text)
			base.Articles[index] = p.article
			base.Articles[index].Questions = old.Questions
		case before.Hash != p.Hash:
			o.add(Kept, p.article, base.Articles[index].Text, p.article.Text)
		}
	}
	dropped := map[int]bool{}
	for address, before := range c.known {
		switch {
		case read[address], !c.gone[address]:
		default:
			index, there := at[address]
			if !there {
				continue
			}
			old := base.Articles[index]
			if hashOf(&old) != before.Hash {
				o.add(KeptGone, old, old.Text, "")
				continue
			}
			dropped[index] = true
			o.add(Removed, old, old.Text, "")
		}
	}
	if len(dropped) > 0 {
		kept := make([]knowledge.Article, 0, len(base.Articles))
		for i, a := range base.Articles {
			if !dropped[i] {
				kept = append(kept, a)
			}
		}
		base.Articles = kept
	}
	return o
}

func (o *outcome) add(kind string, a knowledge.Article, before, after string) {
	x := Change{Kind: kind, URL: a.URL, Title: a.Title, Before: before, After: after}
	if o.size += len(before) + len(after); o.size > maxChanges {
		x.Before, x.After, x.Cut = "", "", true
	}
	o.changes = append(o.changes, x)
}

// count returns the number of changes of some kinds.
func (o *outcome) count(kinds ...string) (n int) {
	for _, c := range o.changes {
		for _, k := range kinds {
			if c.Kind == k {
				n++
			}
		}
	}
	return n
}
