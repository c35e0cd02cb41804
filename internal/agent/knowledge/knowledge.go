// Package knowledge is what agents search for answers: articles, in bases that the company names.
//
// An article is stored in passages, each with the words that find it, reduced to their stems (Language). A search adds up what
// the words of the question that a passage has are worth: rare ones more than frequent ones, those in the title more than those
// in the text. The score is a share of what all words of the question are worth, the same on both databases, so that a threshold
// separates answers from what only looks like one.
package knowledge

import (
	"strconv"
	"strings"

	"carillon/internal/base/resource"
)

// Base is a collection of articles. Its id is a name within the company.
type Base struct {
	ID       string    `json:"id"`
	Articles []Article `json:"articles"`
}

// Article is one text of a base.
type Article struct {
	Title    string `json:"title"`
	Text     string `json:"text"`               // plain, or Markdown
	URL      string `json:"url"`                // where a person reads more; may be empty
	Language string `json:"language,omitempty"` // BCP 47; "": found out from the text
}

const (
	maxArticles = 10_000   // of a base
	maxBytes    = 16 << 20 // of their texts
	maxParts    = 50_000   // about as many passages
	maxDocument = 32 << 20 // of the JSON that is stored of a base
	maxAll      = 128 << 20
	version     = 2  // of Passages, and of how they are stored
	maxTitle    = 80 // characters of a title that is made from the text
)

// Kind describes knowledge.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "knowledge", Plural: "knowledge", Phrase: "knowledge", Local: true, SearchVersion: version, MaxBytes: maxDocument,
		MaxAll: maxAll,
		New:    func() resource.Resource { return &Base{} },
	}
}

// Key implements resource.Resource.
func (b *Base) Key() (id, name *string) { return &b.ID, &b.ID }

// Validate implements resource.Resource.
func (b *Base) Validate() error {
	var c resource.Check
	if b.ID == "" {
		b.ID = "default"
	}
	c.Identifier("id", b.ID)
	b.Articles = resource.List(b.Articles)
	c.That(len(b.Articles) <= maxArticles, "articles", "Must have at most "+strconv.Itoa(maxArticles)+" entries")
	size, parts := 0, 0
	for i, a := range b.Articles {
		at := resource.Index("articles", i)
		c.Text(at+".title", a.Title)
		c.Required(at+".text", a.Text)
		if a.URL != "" {
			c.Address(at+".url", a.URL)
		}
		c.That(a.Language == "" || resource.ValidLanguage(a.Language), at+".language", "Must be a language such as es or pt-BR")
		size += len(a.Title) + len(a.Text)
		parts += strings.Count(a.Text, "\n#") + len(a.Text)/passageLength + 1
	}
	c.That(parts <= maxParts, "articles", "Must have at most 50,000 articles and headings together")
	c.That(size <= maxBytes, "articles", "Must have at most 16 MiB of text together")
	return c.Err()
}

// Passages implements resource.Searchable.
func (b *Base) Passages() []resource.Passage {
	var all []resource.Passage
	for i := range b.Articles {
		all = append(all, b.Articles[i].passages(i)...)
	}
	return all
}

func (a *Article) passages(index int) []resource.Passage {
	language := languageOf(a.Title+"\n"+a.Text, a.Language)
	var all []resource.Passage
	for _, part := range split(a.Text) {
		title := a.Title
		if title == "" {
			title = clip(part.text, maxTitle)
		}
		if part.heading != "" && part.heading != title {
			title += " – " + part.heading
		}
		all = append(all, resource.Passage{
			Article: index, Title: title, Text: part.text, URL: a.URL, Language: a.Language,
			Terms: termsOf(a.Title+"\n"+part.heading, part.text, language),
		})
	}
	return all
}
