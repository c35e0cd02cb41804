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

// proseBudget is how often comments and documents may use the words in prose where they are the right ones.
const proseBudget = 8

// prose matches words that comments and documents should avoid (docs/glossary.md).
var prose = regexp.MustCompile(`(?i)\b(tells|told|hears|anew|of late|in vain|beside)\b`)

// wording lists constructions that make a sentence hard to read at first, with the number of places that have them. A number only
// falls: write a noun instead of the clause, and lower it.
var wording = []struct {
	name    string
	pattern *regexp.Regexp
	places  int
}{
	{"a clause instead of a noun (is what, of what, for who)", regexp.MustCompile(`(?i)\b(is|are|was|were|be|of|by|with|for|from|to|` +
		`in|on|at|about|after|before|into|under|than|and|or) (what|who|whom|whose)\b`), 13},
	{"a clause with is how, is where, is why", regexp.MustCompile(`(?i)\b(is|are|was|were) (how|where|why)\b`), 4},
	{"whoever, whichever, whatever", regexp.MustCompile(`(?i)\b(who(m|se)?|which|what)ever\b`), 15},
	{"by itself, of its own", regexp.MustCompile(`(?i)\b(by (itself|themselves|himself|herself)|of (its|their|his|her) own)\b`), 13},
	{`a value and its meaning behind a semicolon (; "": none)`, regexp.MustCompile(`; ?(""|0|nil|zero|none|empty|false|true): `), 1},
	{"a sentence that begins with What or Who", regexp.MustCompile(`(^|[.!;:] )(What|Who|Whose|Whom)\b`), 5},
}

// TestWording counts the constructions of wording in comments and documents.
func TestWording(t *testing.T) {
	found := make([][]string, len(wording))
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skipWords(file, d.Name()) {
			return fs.SkipDir
		}
		texts, err := proseOf(file)
		for _, x := range texts {
			for i, w := range wording {
				for _, match := range w.pattern.FindAllString(x.text, -1) {
					found[i] = append(found[i], fmt.Sprintf("%s:%d: %q", file, x.line, match))
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wording {
		switch {
		case len(found[i]) > w.places:
			t.Errorf("%s: %d places, at most %d are allowed:\n%s", w.name, len(found[i]), w.places, strings.Join(found[i], "\n"))
		case len(found[i]) < w.places:
			t.Errorf("%s: only %d places are left, lower the number from %d", w.name, len(found[i]), w.places)
		}
	}
}

// generatedPages are written from texts of the program that users see.
var generatedPages = []string{"docs/cli.md", "docs/settings.md", "docs/metrics.md", "docs/reference/contract.md"}

// passage is a comment or a paragraph.
type passage struct {
	line int
	text string
}

// proseOf returns the comments of a Go file and the paragraphs of a document, without code.
func proseOf(file string) (all []passage, err error) {
	switch {
	case file == "words_test.go" || slices.Contains(generatedPages, file):
		return nil, nil
	case strings.HasSuffix(file, ".go"):
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, group := range f.Comments {
			all = append(all, passage{set.Position(group.Pos()).Line, strings.Join(strings.Fields(group.Text()), " ")})
		}
		return all, nil
	case !strings.HasSuffix(file, ".md"):
		return nil, nil
	}
	text, err := os.ReadFile(file)
	code, ended := false, true
	for i, line := range strings.Split(string(text), "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || code || strings.TrimSpace(line) == "" {
			code, ended = code != fence, true
			continue
		}
		if ended || strings.ContainsRune("-*|#", rune(strings.TrimSpace(line)[0])) {
			all = append(all, passage{line: i + 1})
		}
		last := &all[len(all)-1]
		last.text, ended = strings.TrimLeft(last.text+" "+strings.TrimSpace(line), " -*|#"), false
	}
	return all, err
}

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

// wordsOf splits a camel-case identifier: `sendLentSlots` is send, lent, slots.
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

// TestWords checks identifiers against the glossary, and comments and documents against the words in prose.
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

// TestCitesOnlyTheRepository fails if a file cites documents outside the repository.
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

// goWords returns the uses of banned words in a file's identifiers, and the words in prose in its comments.
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
