// Package language chooses among the texts that the program has in a few languages. Languages are tags of BCP 47.
package language

import "strings"

// Of returns the texts in the first of some languages that has any, else the English ones.
func Of[T any](texts map[string]T, tags ...string) T {
	for _, tag := range tags {
		if t, ok := texts[Base(tag)]; ok {
			return t
		}
	}
	return texts["en"]
}

// Base is the language of a tag without its region: pt of pt-BR.
func Base(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return base
}
