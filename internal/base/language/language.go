// Package language chooses among the few languages in which the program has its own texts. Languages are BCP 47 tags.
package language

import "strings"

// Of returns the texts in the first of the languages that has any, else the English texts.
func Of[T any](texts map[string]T, tags ...string) T {
	for _, tag := range tags {
		if t, ok := texts[Base(tag)]; ok {
			return t
		}
	}
	return texts["en"]
}

// Base returns the language of a tag without its region: pt for pt-BR.
func Base(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return base
}
