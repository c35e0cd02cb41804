// Package knowledge is what agents search for answers: articles, in bases that the company names.
package knowledge

import (
	"carillon/internal/resource"
)

// Base is a collection of articles. Its id is a name within the company.
type Base struct {
	ID       string    `json:"id"`
	Articles []Article `json:"articles"`
}

// Article is one text of a base.
type Article struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	URL   string `json:"url"` // where a person reads more; may be empty
}

// Kind describes knowledge.
func Kind() resource.Kind {
	return resource.Kind{
		Name: "knowledge", Plural: "knowledge", Phrase: "knowledge", Local: true,
		New: func() resource.Resource { return &Base{} },
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
	for i, a := range b.Articles {
		at := resource.Index("articles", i)
		c.Text(at+".title", a.Title)
		c.Required(at+".text", a.Text)
		if a.URL != "" {
			c.Address(at+".url", a.URL)
		}
	}
	return c.Err()
}
