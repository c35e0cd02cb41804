// Package knowledge stores and searches the articles from which agents answer, in bases named by the company.
//
// An article is stored in passages, each with the words by which it is found, reduced to their stems (Language). A
// search adds up the weights of the question's words that occur in a passage: rare words weigh more than frequent
// ones, and words in the title more than words in the text. The score is that sum divided by the weight of all words
// of the question. It is the same on both databases, so that one threshold separates answers from passages that only
// look similar.
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
	Text     string `json:"text"`               // plain text or Markdown
	URL      string `json:"url"`                // for further reading; may be empty
	Language string `json:"language,omitempty"` // BCP 47; empty means detected from the text
	// Questions are other wordings of the question that the article answers.
	Questions []string `json:"questions,omitempty"`
}

const (
	maxArticles  = 10_000   // per base
	maxBytes     = 16 << 20 // total of their texts
	maxQuestions = 100      // per article
	maxParts     = 50_000   // approximate limit on passages
	maxDocument  = 32 << 20 // of a base's stored JSON
	maxAll       = 128 << 20
	version      = 2  // version of Passages and of their stored form
	maxTitle     = 80 // characters of a title derived from the text
)

// Kind returns the resource kind of knowledge.
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
		c.That(len(a.Questions) <= maxQuestions, at+".questions", "Must have at most 100 entries")
		for n, question := range a.Questions {
			c.Name(resource.Index(at+".questions", n), question)
			size += len(question)
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
			Terms: termsOf(strings.Join(append(a.Questions, a.Title, part.heading), "\n"), part.text, language),
		})
	}
	return all
}
