package carillon_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// proseBudget is how often comments and documents may use the words of prose where they are the right ones.
const proseBudget = 8

// prose finds words that this project's comments and documents do without (docs/glossary.md).
var prose = regexp.MustCompile(`(?i)\b(tells|told|hears|anew|of late|in vain|beside)\b`)

// bannedWords reads the last column of the glossary.
func bannedWords(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(cells[3], "---") || strings.TrimSpace(cells[3]) == "Not" {
			continue
		}
		for word := range strings.SplitSeq(cells[3], ",") {
			if word = strings.TrimSpace(word); word != "" {
				words = append(words, word)
			}
		}
	}
	if len(words) < 10 {
		t.Fatalf("read only %q from the glossary", words)
	}
	return words
}

// wordsOf splits an identifier in camel case: `sendLentSlots` is send, lent, slots.
func wordsOf(identifier string) []string {
	var words []string
	var word strings.Builder
	var last rune
	for _, r := range identifier {
		if unicode.IsUpper(r) && !unicode.IsUpper(last) || r == '_' {
			words = append(words, word.String())
			word.Reset()
		}
		if r != '_' {
			word.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return append(words, word.String())
}

func TestWordsOfIdentifiers(t *testing.T) {
	for identifier, want := range map[string]string{
		"sendLentSlots": " send lent slots"[1:], "Bot": " bot", "HTTPServer": " httpserver", "a_bot": "a bot",
	} {
		if got := strings.Join(wordsOf(identifier), " "); got != want {
			t.Errorf("%s: %q, want %q", identifier, got, want)
		}
	}
}

// TestWords checks identifiers against the glossary, and comments and documents against the words of prose.
func TestWords(t *testing.T) {
	banned := bannedWords(t)
	var found []string
	uses := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipWords(file, d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(file, ".md") && file != "docs/glossary.md":
			text, err := os.ReadFile(file)
			for i, line := range strings.Split(string(text), "\n") {
				for _, word := range prose.FindAllString(line, -1) {
					uses++
					found = append(found, fmt.Sprintf("%s:%d: %q", file, i+1, word))
				}
			}
			return err
		case !strings.HasSuffix(file, ".go") || file == "words_test.go":
			return nil
		}
		identifiers, comments, err := goWords(file, banned)
		for _, f := range identifiers {
			t.Error(f)
		}
		uses += len(comments)
		found = append(found, comments...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if uses > proseBudget {
		t.Errorf("comments and documents use tells, told, hears, anew, of late, in vain or beside %d times, the budget is %d:\n%s",
			uses, proseBudget, strings.Join(found, "\n"))
	}
}

// TestCitesOnlyTheRepository fails where a file cites documents that a reader of the repository does not have.
func TestCitesOnlyTheRepository(t *testing.T) {
	outside := regexp.MustCompile(`\b(decisions|engine|interface|design|performance|conversations|style)\.md`)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != "testdata" && skipWords(file, d.Name()):
			return fs.SkipDir
		case !slices.Contains([]string{".go", ".md", ".json", ".yaml", ".sql", ".sh"}, filepath.Ext(file)) || file == "words_test.go":
			return nil
		}
		text, err := os.ReadFile(file)
		if cited := outside.Find(text); cited != nil {
			t.Errorf("%s cites %s, which is not in the repository", file, cited)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipWords(dir, name string) bool {
	return dir != "." && (name[0] == '.' || slices.Contains([]string{"testdata", "node_modules", "data", "bin", "dist", "tools"}, name))
}

// goWords returns where a Go file uses banned words in identifiers, and words of prose in comments.
func goWords(file string, banned []string) (identifiers, comments []string, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	declared := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !declared[id.Name] && id.Name != "SetLinger" { // a name of package net
			declared[id.Name] = true
			for _, word := range wordsOf(id.Name) {
				if slices.Contains(banned, word) {
					identifiers = append(identifiers,
						fmt.Sprintf("%s: %s: the glossary has another word for %q", set.Position(id.Pos()), id.Name, word))
				}
			}
		}
		return true
	})
	for _, group := range f.Comments {
		for _, word := range prose.FindAllString(group.Text(), -1) {
			comments = append(comments, fmt.Sprintf("%s: %q", set.Position(group.Pos()), word))
		}
	}
	return identifiers, comments, nil
}
