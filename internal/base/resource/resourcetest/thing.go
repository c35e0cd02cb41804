// Package resourcetest provides stand-ins for resource kinds, for tests of packages that do not know the real ones. A
// Thing has the fields of all kinds and validates little.
package resourcetest

import (
	"strings"

	"carillon/internal/base/resource"
)

// Kinds returns stand-ins for the kinds of a set-up; a kind only references kinds before it.
func Kinds() []resource.Kind {
	var all []resource.Kind
	for _, k := range []resource.Kind{
		{Name: "knowledge", Plural: "knowledge", Phrase: "knowledge", Local: true, SearchVersion: 1},
		{Name: "agent", Plural: "agents", Phrase: "an agent"},
		{Name: "flow", Plural: "flows", Phrase: "a flow", NewHead: func() any { return new(Head) }},
		{Name: "widget", Plural: "widgets", Phrase: "a widget"},
		{Name: "secret", Plural: "secrets", Phrase: "a secret", Local: true},
		{Name: "webhook", Plural: "webhooks", Phrase: "a webhook", NewSecret: func() string { return "made" }},
	} {
		k.New = func() resource.Resource { return &Thing{kind: k.Name} }
		all = append(all, k)
	}
	return all
}

// Thing is a resource of any kind.
type Thing struct {
	kind           string
	ID             string            `json:"id,omitempty"`
	Name           string            `json:"name,omitempty"`
	URL            string            `json:"url,omitempty"`
	Kind           string            `json:"kind,omitempty"`
	Language       string            `json:"language,omitempty"`
	Engine         string            `json:"engine,omitempty"`
	Greeting       string            `json:"greeting,omitempty"`
	Voicemail      string            `json:"voicemail,omitempty"`
	Welcome        string            `json:"welcome,omitempty"`
	Agent          string            `json:"agent,omitempty"`
	Hearing        string            `json:"hearing,omitempty"`
	SecretText     string            `json:"secret,omitempty" secret:"true"`
	Value          string            `json:"value,omitempty" secret:"true"`
	Hosts          []string          `json:"hosts,omitempty"`
	IdentitySecret string            `json:"identity_secret,omitempty" secret:"true"`
	Record         bool              `json:"record,omitempty"`
	Knowledge      []string          `json:"knowledge,omitempty"`
	Tools          []string          `json:"tools,omitempty"`
	Events         []string          `json:"events,omitempty"`
	Origins        []string          `json:"allowed_origins,omitempty"`
	Translations   map[string]string `json:"translations,omitempty"`
	Appearance     map[string]string `json:"appearance,omitempty"`
	Trigger        Trigger           `json:"trigger"`
	Articles       []Article         `json:"articles,omitempty"`
	Result         []Sought          `json:"result,omitempty"`
	Goal           string            `json:"goal,omitempty"`
	GoalResult     string            `json:"goal_result,omitempty"`
	Topics         []Topic           `json:"topics,omitempty"`
	Steps          []Step            `json:"steps,omitempty"`
	Model          string            `json:"model,omitempty"` // of an embeddings server
}

// Article is an article of a knowledge base.
type Article struct {
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	URL       string   `json:"url,omitempty"`
	Language  string   `json:"language,omitempty"`
	Questions []string `json:"questions,omitempty"`
}

// Topic is a subject of conversations.
type Topic struct {
	Name  string   `json:"name"`
	Words []string `json:"words"`
}

// Trigger starts a flow.
type Trigger struct {
	Event string `json:"event,omitempty"`
}

// Head is the head of a flow.
type Head struct {
	Trigger Trigger `json:"trigger"`
}

// Head implements resource.Headed.
func (x *Thing) Head() any { return &Head{x.Trigger} }

// Sought is a piece of information that an agent's calls collect.
type Sought struct {
	Name     string   `json:"name,omitempty"`
	Type     string   `json:"type,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Question string   `json:"question,omitempty"`
}

// Step is a nested part of a Thing.
type Step struct {
	Say      string   `json:"say,omitempty"`
	Ask      string   `json:"ask,omitempty"`
	Question string   `json:"question,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	If       string   `json:"if,omitempty"`
	Then     []Step   `json:"then,omitempty"`
	Else     []Step   `json:"else,omitempty"`
	Handoff  string   `json:"handoff,omitempty"`
}

// Key implements resource.Resource.
func (x *Thing) Key() (id, name *string) {
	switch x.kind {
	case "knowledge":
		return &x.ID, &x.ID
	case "webhook":
		return &x.ID, &x.URL
	case "secret":
		return &x.Name, &x.Name
	}
	return &x.ID, &x.Name
}

// Validate requires the name, and that each step says or asks something.
func (x *Thing) Validate() error {
	var c resource.Check
	_, name := x.Key()
	c.Required("name", *name)
	for i, s := range x.Steps {
		c.That(s.Say != "" || s.Ask != "" || s.If != "" || s.Handoff != "", resource.Index("steps", i), "Must say or ask something")
	}
	return c.Err()
}

// Secrets implements resource.Secretive. A widget's secret is its identity secret; its greeting stands in for the use
// of the secret.
func (x *Thing) Secrets() []resource.Secret {
	switch x.kind {
	case "widget":
		return []resource.Secret{{Value: &x.IdentitySecret, Use: x.Greeting}}
	case "secret":
		return []resource.Secret{{Value: &x.Value, Use: strings.Join(x.Hosts, " ")}}
	}
	return []resource.Secret{{Value: &x.SecretText, Use: x.Greeting}}
}

// References returns an agent's knowledge and a widget's agent.
func (x *Thing) References() []resource.Reference {
	all := []resource.Reference{{Field: "agent", Kind: "agent", To: &x.Agent}}
	for i := range x.Knowledge {
		all = append(all, resource.Reference{Field: resource.Index("knowledge", i), Kind: "knowledge", To: &x.Knowledge[i]})
	}
	return all
}

// SearchSynonyms implements resource.Searchable.
func (x *Thing) SearchSynonyms() string { return "" }

// EmbeddedBy implements resource.Embedded.
func (x *Thing) EmbeddedBy() resource.Embedder {
	return resource.Embedder{BaseURL: "https://embeddings.test/v1", Model: x.Model, Settings: x.Model}
}

// Passages implements resource.Searchable: one passage per article, found by its words.
func (x *Thing) Passages() []resource.Passage {
	var all []resource.Passage
	for i, a := range x.Articles {
		p := resource.Passage{Article: i, Title: a.Title, Text: a.Text, URL: a.URL, Language: a.Language, Hash: a.Text}
		for word := range strings.FieldsSeq(a.Text) {
			p.Terms = append(p.Terms, resource.Term{Text: word, Title: strings.Contains(a.Title, word)})
		}
		all = append(all, p)
	}
	return all
}
