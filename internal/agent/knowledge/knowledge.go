// Package knowledge stores and searches the articles from which agents answer, in bases named by the company.
//
// An article is stored in passages, each with the words by which it is found, reduced to their stems (Language). A
// search takes the words of a question with their synonyms, and corrects one typing error in each that occurs nowhere.
// It adds up the weights of those that a passage contains: rare words weigh more than frequent ones, and words in the
// title more than words in the text. The best passages are then compared with the question sentence by sentence. The
// score is the probability that a passage answers the question, calibrated on public sets of questions; it decides
// between an answer, an offer of articles, and neither. It is the same on both databases.
package knowledge

import (
	"slices"
	"strconv"
	"strings"

	"carillon/internal/base/resource"
)

// Base is a collection of articles. Its id is a name within the company.
type Base struct {
	ID       string    `json:"id"`
	Articles []Article `json:"articles"`
	// Synonyms are groups of words and phrases with the same meaning, separated by commas, besides those of the program.
	Synonyms []string `json:"synonyms,omitempty"`
	// Embeddings is the server with which the base is searched by meaning too; nil means by words alone.
	Embeddings *Embeddings `json:"embeddings,omitempty"`
}

// Article is one text of a base.
type Article struct {
	Title    string `json:"title"`
	Text     string `json:"text"`               // plain text or Markdown
	URL      string `json:"url"`                // for further reading; may be empty
	Language string `json:"language,omitempty"` // BCP 47; empty means detected from the text
	// Questions are other wordings of the question that the article answers.
	Questions []string `json:"questions,omitempty"`
	// File is the name of the file, and Site the id of the site, from which the article came.
	File string `json:"file,omitempty"`
	Site string `json:"site,omitempty"`
}

const (
	maxArticles  = 10_000   // per base
	maxBytes     = 16 << 20 // total of their texts
	maxSynonyms  = 200      // groups per base
	maxGroup     = 300      // bytes of a group
	maxQuestions = 100      // per article
	maxParts     = 50_000   // approximate limit on passages
	maxDocument  = 32 << 20 // of a base's stored JSON
	maxAll       = 128 << 20
	version      = 4  // version of Passages and of their stored form
	maxTitle     = 80 // characters of a title derived from the text
	maxFile      = 200
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
	c.That(len(b.Synonyms) <= maxSynonyms, "synonyms", "Must have at most 200 entries")
	for i, group := range b.Synonyms {
		c.That(validGroup(group), resource.Index("synonyms", i),
			"Must be 2 to 16 words or phrases separated by commas, at most 300 bytes together")
	}
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
		c.That(a.File == "" || len(a.File) <= maxFile && !strings.ContainsAny(a.File, "\r\n\t\x00"), at+".file",
			"Must be one line of at most 200 bytes")
		c.UUID(at+".site", &b.Articles[i].Site)
		c.That(a.Language == "" || resource.ValidLanguage(a.Language), at+".language", "Must be a language such as es or pt-BR")
		size += len(a.Title) + len(a.Text)
		parts += strings.Count(a.Text, "\n#") + len(a.Text)/passageLength + 1
	}
	if b.Embeddings != nil {
		b.Embeddings.Check(&c, "embeddings.")
	}
	c.That(parts <= maxParts, "articles", "Must have at most 50,000 articles and headings together")
	c.That(size <= maxBytes, "articles", "Must have at most 16 MiB of text together")
	return c.Err()
}

// Keep implements resource.Keeper: the articles of sites, unless the new base has some.
func (b *Base) Keep(stored resource.Resource) {
	old, ok := stored.(*Base)
	if !ok || slices.ContainsFunc(b.Articles, func(a Article) bool { return a.Site != "" }) {
		return
	}
	for _, a := range old.Articles {
		if a.Site != "" {
			b.Articles = append(b.Articles, a)
		}
	}
}

// Passages implements resource.Searchable.
func (b *Base) Passages() []resource.Passage {
	var all []resource.Passage
	for i := range b.Articles {
		all = append(all, b.Articles[i].passages(i)...)
	}
	return all
}

// SearchSynonyms implements resource.Searchable.
func (b *Base) SearchSynonyms() string { return strings.Join(b.Synonyms, "\n") }

const maxMembers = 16 // words and phrases of a group of synonyms

// validGroup reports whether a text is a group of synonyms.
func validGroup(group string) bool {
	members := strings.Split(group, ",")
	if len(group) > maxGroup || len(members) < 2 || len(members) > maxMembers || strings.ContainsAny(group, "\r\n?=#") {
		return false
	}
	return !slices.ContainsFunc(members, func(m string) bool { return len(Words(m)) == 0 })
}

func (a *Article) passages(index int) []resource.Passage {
	language := languageOf(a.Title+"\n"+a.Text, a.Language)
	var all []resource.Passage
	for _, part := range split(a.Text) {
		title := a.Title
		if title == "" {
			title = Clip(part.text, maxTitle)
		}
		if part.heading != "" && part.heading != title {
			title += " – " + part.heading
		}
		p := resource.Passage{
			Article: index, Title: title, Text: part.text, URL: a.URL, Language: language, Questions: strings.Join(a.Questions, "\n"),
			Terms: termsOf(strings.Join(append(a.Questions, a.Title, part.heading), "\n"), part.text, language),
		}
		p.Hash = digest(Input(&p))
		all = append(all, p)
	}
	return all
}
