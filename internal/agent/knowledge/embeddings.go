package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"carillon/internal/base/resource"
)

// Embeddings is a server with OpenAI's API that makes vectors of a base's passages and of the questions about them.
type Embeddings struct {
	BaseURL string `json:"base_url"` // /embeddings is appended
	Model   string `json:"model"`
	APIKey  string `json:"api_key,omitempty" secret:"true"` // may be empty if the server requires none
	// QuestionPrefix and PassagePrefix precede the texts that are sent, for models that distinguish questions and
	// passages by a prefix.
	QuestionPrefix string `json:"question_prefix,omitempty"`
	PassagePrefix  string `json:"passage_prefix,omitempty"`
}

const (
	maxKey    = 1000 // bytes
	maxPrefix = 300  // bytes

	maxInput     = 4000 // characters of a passage that are sent
	maxWordings  = 1000 // characters of its other wordings
	digestLength = 16   // bytes
)

// Check checks the fields, and sets the defaults. at precedes their names in faults.
func (e *Embeddings) Check(c *resource.Check, at string) {
	e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	c.Required(at+"base_url", e.BaseURL)
	if e.BaseURL != "" {
		c.Address(at+"base_url", e.BaseURL)
		c.That(!strings.ContainsAny(e.BaseURL, "?#"), at+"base_url", "Must have no query and no fragment")
	}
	c.Name(at+"model", e.Model)
	c.That(len(e.APIKey) <= maxKey && !strings.ContainsFunc(e.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }),
		at+"api_key", "Must be at most 1,000 printable characters without spaces")
	prefix := func(field, text string) {
		c.That(len(text) <= maxPrefix && utf8.ValidString(text), at+field, "Must have at most 300 bytes")
	}
	prefix("question_prefix", e.QuestionPrefix)
	prefix("passage_prefix", e.PassagePrefix)
}

// Secrets implements resource.Secretive: the key, bound to its server.
func (b *Base) Secrets() []resource.Secret {
	if b.Embeddings == nil {
		return nil
	}
	return []resource.Secret{{Value: &b.Embeddings.APIKey, Use: b.Embeddings.BaseURL}}
}

// EmbeddedBy implements resource.Embedded.
func (b *Base) EmbeddedBy() resource.Embedder {
	e := b.Embeddings
	if e == nil {
		return resource.Embedder{}
	}
	return resource.Embedder{
		BaseURL: e.BaseURL, Model: e.Model, QuestionPrefix: e.QuestionPrefix, PassagePrefix: e.PassagePrefix,
		Settings: digest(e.BaseURL, e.Model, e.PassagePrefix),
	}
}

// Input returns the text of a passage that an embeddings server gets: its title, its text and its other wordings.
func Input(p *resource.Passage) string {
	text := p.Text
	if title := titleOf(p); title != "" {
		text = title + "\n" + text
	}
	if p.Questions != "" {
		text += "\n" + clipText(p.Questions, maxWordings)
	}
	return clipText(text, maxInput)
}

func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:digestLength])
}
