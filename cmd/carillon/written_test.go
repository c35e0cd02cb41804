package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfTheDocumentationExist parses every command that is on its own line in the documentation.
func TestCommandsOfTheDocumentationExist(t *testing.T) {
	t.Parallel()
	const root = "../.."
	pages := []string{"README.md"}
	if err := fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^(?:    |\x60\x60\x60sh\n|.*\$\()? *(?:sudo |until |if )?(?:\./)?(?:bin/)?carillon ((?:[^\n\\]|\\\n)+)`)
	read := 0
	for _, page := range pages {
		text, err := os.ReadFile(root + "/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range line.FindAllStringSubmatch(string(text), -1) {
			args := shellWords(strings.ReplaceAll(found[1], "\\\n", " "))
			parser, err := newParser(newCommands(), &environment{}, func(int) { panic("help") })
			if err != nil {
				t.Fatal(err)
			}
			read++
			if _, err := parser.Parse(args); err != nil {
				t.Errorf("%s: carillon %s: %v", page, found[1], err)
			}
		}
	}
	if read < 30 {
		t.Errorf("only %d commands were found", read)
	}
}

// shellWords splits the first command of a line like a shell, up to an operator such as a pipe or redirection.
func shellWords(command string) (all []string) {
	var word strings.Builder
	quote, some := rune(0), false
	end := func() {
		if some {
			all = append(all, word.String())
		}
		word.Reset()
		some = false
	}
	for _, c := range command {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, some = c, true
		case quote == 0 && c == ' ':
			end()
		case quote == 0 && strings.ContainsRune("|>&;#)<`", c):
			end()
			return all
		default:
			word.WriteRune(c)
			some = true
		}
	}
	end()
	return all
}
