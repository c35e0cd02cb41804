package form

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

func TestReasonsNameTheirRules(t *testing.T) {
	for reason, want := range map[string]*Rule{
		"Must have at most 60 characters":      {"max_characters", map[string]string{"max": "60"}},
		"At most 60 characters":                {"max_characters", map[string]string{"max": "60"}},
		"Must be from 0.5 to 2":                {"whole_from_to", map[string]string{"min": "0.5", "max": "2"}},
		"Must be a whole number from 1 to 5":   {"whole_from_to", map[string]string{"min": "1", "max": "5"}},
		"Must be one of a, b":                  {"one_of", map[string]string{"values": "a, b"}},
		"Names the same twice":                 {Name: "unique"},
		"Names the same twice, for contacts.7": {Name: "unique"},
		"outside_hours":                        nil,
		"At most 60 characters, or none":       nil,
		"Say: At most 60 characters":           nil,
		"Must be an address such as nothing":   nil,
		"Must be a language such as es or\nfr": nil,
	} {
		if diff := cmp.Diff(want, RuleOf(reason)); diff != "" {
			t.Errorf("%q: %s", reason, diff)
		}
	}
}

func TestErrorsCarryTheRule(t *testing.T) {
	shown := func(err error) string {
		e, _ := withRule(err).(*carillon.Error) //nolint:errorlint // the error itself
		if e == nil {
			return ""
		}
		text, _ := json.Marshal(e.Details)
		return string(text)
	}
	long := carillon.InvalidValue("name", "At most 60 characters", "x")
	for want, err := range map[string]error{
		`{"field":"name","reason":"At most 60 characters","provided":"x","rule":"max_characters","values":{"max":"60"}}`: long,
		`{"field":"number","provided":"+1","expected_format":"Numbers only, no + or spaces",` +
			`"example":"34600111222","rule":"number"}`: carillon.BadNumber("number", "+1"),
		`{"reason":"outside_hours"}`: carillon.InConflict("outside_hours"),
		"":                           fs.ErrNotExist,
	} {
		if got := shown(err); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if long.Details.Find("rule") != nil {
		t.Error("the error itself was changed")
	}
}

// withoutRule is the number of reasons in the program that have no rule: the panel shows them in English. It only falls.
const withoutRule = 233

func TestReasonsWithoutARuleOnlyBecomeFewer(t *testing.T) {
	reasons := written(t)
	var missing []string
	for _, reason := range reasons {
		if RuleOf(reason) == nil {
			missing = append(missing, reason)
		}
	}
	if len(missing) != withoutRule {
		t.Errorf("%d reasons have no rule, and withoutRule is %d:\n%s", len(missing), withoutRule, strings.Join(missing, "\n"))
	}
}

// TestRulesAreOfReasonsInUse fails for a reason in the table that the program does not give.
func TestRulesAreOfReasonsInUse(t *testing.T) {
	source := strings.Join(texts(t), "\n")
	var all []struct {
		Rule    string
		Reasons []string
	}
	if err := json.Unmarshal(ruleTable, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		for _, reason := range r.Reasons {
			first, _, _ := strings.Cut(reason, "{")
			if strings.Contains(reason, "{{") {
				first = reason
			}
			first = strings.TrimRight(first, " .")
			if !strings.Contains(source, first) && !strings.Contains(source, lowerFirst(first)) {
				t.Errorf("%s: nothing says %q", r.Rule, reason)
			}
		}
	}
}

// TestSentencesAreInUse fails for a sentence that the panel translates and the program does not store.
func TestSentencesAreInUse(t *testing.T) {
	file, err := os.ReadFile("../../../../web/src/panel/ui/sentences.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name  string
		Forms []string
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	source := strings.Join(texts(t), "\n")
	for _, s := range all {
		for _, form := range s.Forms {
			if strings.HasPrefix(form, "Dial ") || strings.HasPrefix(form, "Read ") {
				continue // the standard library says it
			}
			for _, part := range ruleValue.Split(form, -1) {
				part = strings.Trim(part, " .:")
				if part != "" && !strings.Contains(source, part) && !strings.Contains(source, lowerFirst(part)) {
					t.Errorf("%s: nothing says %q", s.Name, part)
				}
			}
		}
	}
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// given are the functions whose last text is a reason, with its place among the arguments.
var given = map[string]int{"Invalid": 1, "InvalidValue": 1, "That": 2, "InConflict": 0, "Denied": 0}

// written returns the reasons in the program's source, with 7 for each computed part.
func written(t *testing.T) (all []string) {
	t.Helper()
	for _, file := range source(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			at, ok := given[name]
			if !ok || len(call.Args) <= at {
				return true
			}
			text := said(call.Args[at])
			if strings.ContainsFunc(text, unicode.IsLower) && !slices.Contains(all, text) {
				all = append(all, text)
			}
			return true
		})
	}
	slices.Sort(all)
	return all
}

// said returns the text of an expression.
func said(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return said(e.X) + said(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			text := said(e.Args[0])
			for _, verb := range []string{"%d", "%s", "%v", "%q"} {
				text = strings.ReplaceAll(text, verb, "7")
			}
			return text
		}
	}
	return "7"
}

// texts returns all texts in the program's source.
func texts(t *testing.T) (all []string) {
	t.Helper()
	for _, file := range source(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text := said(e); text != "7" {
					all = append(all, text)
				}
			}
			return true
		})
	}
	return all
}

func source(t *testing.T) (all []*ast.File) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "..")
	for _, dir := range []string{filepath.Join(root, "*.go"), filepath.Join(root, "internal")} {
		paths, _ := filepath.Glob(dir)
		for _, path := range paths {
			err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				all = append(all, file)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}
