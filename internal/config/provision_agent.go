package config

import (
	"regexp"
	"strings"
)

// tools are what an agent may do besides talking.
var tools = []string{"search", "handoff", "hang_up"} //nolint:gochecknoglobals // read only

func (c *company) add(f *form, d Document) {
	f.r.once(f.at, "a "+d.Kind+" of this name", c.scope, d.Name)
	if d.ID != "" && d.ID != d.Name {
		f.r.once(f.at, "a "+d.Kind+" of this id", d.ID)
	}
	d.At = f.at
	c.Documents = append(c.Documents, d)
}

func (c *company) agent(f *form) {
	d := Document{Kind: KindAgent, ID: uuid(f), Name: short(f, "name")}
	d.Doc = map[string]any{
		"name": d.Name, "language": language(f), "engine": f.choice("engine", "builtin", "openai", "elevenlabs"),
		"greeting": f.text("greeting"), "tools": list(f.words("tools", tools...)),
	}
	names := []string{}
	for _, x := range f.items("knowledge") {
		name, ok := f.textOf(x)
		if !ok {
			continue
		}
		names = append(names, name)
		d.Refers = append(d.Refers, Reference{At: f.r.at(x.value), Kind: KindKnowledge, Name: name})
	}
	d.Doc["knowledge"] = names
	d.Doc["record"], _ = f.flag("record")
	d.Doc["result"] = resultFields(f)
	c.add(f, d)
}

// resultFields are what a call of the agent should find out.
func resultFields(f *form) []any {
	all, names := []any{}, map[string]bool{}
	f.each("result", "a field of the result", func(f *form) {
		name := f.checked("name", fieldName.MatchString, "must be a word such as confirmed")
		if name == "" {
			f.needed("name")
		}
		if names[name] {
			f.r.problem(f.at, "another field of the result has this name")
		}
		names[name] = true
		x := map[string]any{"name": name, "type": f.choice("type", "text", "boolean", "number", "choice")}
		choices := list(f.texts("choices"))
		if (x["type"] == "choice") != (len(choices) > 0) {
			f.r.problem(f.at, "a field of type choice, and no other, has choices")
		}
		x["choices"] = choices
		all = append(all, x)
	})
	return all
}

var fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (c *company) knowledge(f *form) {
	id := f.checked("id", idForm.MatchString, idRule)
	if id == "" {
		id = "default"
	}
	articles := []any{}
	f.each("articles", "an article", func(f *form) {
		articles = append(articles, map[string]any{
			"title": f.text("title"), "text": f.needed("text"), "url": f.checked("url", webAddress, "must be an http or https address"),
		})
	})
	c.add(f, Document{Kind: KindKnowledge, ID: id, Name: id, Doc: map[string]any{"id": id, "articles": articles}})
}

// language is a BCP 47 tag, as far as its form goes.
func language(f *form) string {
	s := f.checked("language", validTag, "must be a language such as es or pt-BR")
	if s == "" {
		return "en"
	}
	return s
}

func validTag(s string) bool {
	for i, part := range strings.Split(s, "-") {
		if part == "" || len(part) > 8 || i == 0 && (len(part) < 2 || len(part) > 3) {
			return false
		}
		for _, b := range []byte(part) {
			letter := 'a' <= b|0x20 && b|0x20 <= 'z'
			if !letter && (i == 0 || b < '0' || b > '9') {
				return false
			}
		}
	}
	return len(s) <= 35
}

// list keeps an empty list a list in JSON.
func list(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}
