// Package docs holds the pages of this folder, which the program shows under /docs (package manual).
package docs

import (
	"embed"
	"fmt"
	"regexp"
)

// Files are the pages, in Markdown, and their pictures.
//
//go:embed *.md adr/*.md guides/*.md reference/*.md images/*
var Files embed.FS

// Transition is an arrow of a drawing.
type Transition struct{ From, To string }

var drawn = regexp.MustCompile(`data-from="(\w+)" data-to="(\w+)"`)

// Transitions returns the transitions that a drawing shows. Tests compare them with the program.
func Transitions(file string) ([]Transition, error) {
	text, err := Files.ReadFile("images/" + file)
	if err != nil {
		return nil, err
	}
	var all []Transition
	for _, m := range drawn.FindAllSubmatch(text, -1) {
		all = append(all, Transition{string(m[1]), string(m[2])})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("docs/images/%s has no transitions", file)
	}
	return all, nil
}
