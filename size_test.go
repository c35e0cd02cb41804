package carillon_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
)

// Limits of the root package, which is only a vocabulary. rootNames counts exported types, functions, constants,
// variables and methods. It must not be raised.
const (
	rootLines = 1_500
	rootNames = 155
)

func TestRootPackageStaysSmall(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines, names := 0, 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(src, []byte("\n"))
		names += exportedNames(f)
	}
	if lines > rootLines {
		t.Errorf("the root package has %d lines, at most %d are allowed: move what is not vocabulary", lines, rootLines)
	}
	if names > rootNames {
		t.Errorf("the root package exports %d names, at most %d are allowed", names, rootNames)
	}
	t.Logf("%d lines, %d names", lines, names)
}

// exportedNames counts the exported declarations of a file.
func exportedNames(f *ast.File) int {
	n := 0
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d.Recv) {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// exportedReceiver reports whether a function has no receiver or one of an exported type.
func exportedReceiver(recv *ast.FieldList) bool {
	if recv == nil {
		return true
	}
	return ast.IsExported(receiver(recv))
}

// maxMethods is the maximum number of exported methods of a struct, including those of embedded types. A struct with
// more should be split into parts with their own state.
const maxMethods = 20

// maxColumns is the maximum length of a line; a tab counts as four.
const maxColumns = 140

func TestStructsHaveFewMethods(t *testing.T) {
	for _, problem := range shapeProblems(sources(t)) {
		t.Error(problem)
	}
}

func TestShapesThatAreRefused(t *testing.T) {
	methods := func(receiver string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "func (x %s) M%s%d() {}\n", receiver, strings.TrimLeft(receiver, "*"), i)
		}
		return b.String()
	}
	const wraps = "internal/b.W only embeds: use what it embeds"
	for name, c := range map[string]struct {
		lower, upper string // files of internal/a and internal/b, which imports a
		want         []string
	}{
		"at the limit": {"type T struct{ n int }\n" + methods("*T", 20), "", nil},
		"over the limit": {
			"type T struct{ n int }\n" + methods("*T", 21), "", []string{"internal/a.T has 21 exported methods, at most 20 are allowed"},
		},
		"unexported methods": {"type T struct{ n int }\n" + strings.ReplaceAll(methods("*T", 30), ") M", ") m"), "", nil},
		"embedded": {
			"type A struct{ n int }\n" + methods("A", 11), "type W struct { *a.A; n int }\n" + methods("W", 10),
			[]string{"internal/b.W has 21 exported methods, at most 20 are allowed"},
		},
		"by an alias": {
			"type A struct{ n int }\n" + methods("A", 11), "type x = a.A\ntype W struct { x; n int }\n" + methods("W", 10),
			[]string{"internal/b.W has 21 exported methods, at most 20 are allowed"},
		},
		"an interface": {
			"type A interface { F(); G() }", "type W struct { a.A; n int }\n" + methods("W", 19),
			[]string{"internal/b.W has 21 exported methods, at most 20 are allowed"},
		},
		"overridden":           {"type A struct{ n int }\nfunc (A) MW1() {}", "type W struct { a.A; n int }\n" + methods("W", 20), nil},
		"a wrapper":            {"type A struct{ n int }", "type W struct{ *a.A }", []string{wraps}},
		"a wrapper in a place": {"type A struct{ n int }", "type A struct{ n int }\ntype W struct{ A }\nfunc (W) M() {}", []string{wraps}},
		"a decorator":          {"type A interface { F() }", "type W struct{ a.A }\nfunc (W) F() {}", nil},
		"an error":             {"type A struct{ n int }", "type W struct{ error }", nil},
		"a group of options":   {"type A struct{ n int }", "type B struct{ n int }\ntype W struct{ a.A; B }", nil},
	} {
		var files []source
		for pkg, text := range map[string]string{
			"a": "package a\n" + c.lower, "b": "package b\nimport \"carillon/internal/a\"\n" + c.upper,
		} {
			f, err := parser.ParseFile(token.NewFileSet(), pkg+".go", text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			files = append(files, source{file: "internal/" + pkg + "/" + pkg + ".go", parsed: f})
		}
		if diff := gocmp.Diff(c.want, shapeProblems(files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// shape is a declared type with its exported methods and embedded types.
type shape struct {
	methods  map[string]bool
	embeds   []string // keys of shapes, or the names of other types
	fields   int
	isStruct bool
	alias    string // key of the type that it is an alias of
}

// shapeProblems returns the structs with too many methods, and those that only embed a struct of this program.
func shapeProblems(all []source) []string {
	shapes := map[string]*shape{}
	for _, s := range all {
		if s.test() || strings.HasSuffix(s.pkg(), "test") {
			continue
		}
		for _, d := range s.parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.IsExported() {
					shapeOf(shapes, s.pkg()+"."+receiver(d.Recv)).methods[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if declared, ok := spec.(*ast.TypeSpec); ok {
						declare(shapes, s, declared)
					}
				}
			}
		}
	}
	var problems []string
	for name, x := range shapes {
		if !x.isStruct {
			continue
		}
		if n := len(methodsOf(shapes, name, nil)); n > maxMethods {
			problems = append(problems, fmt.Sprintf("%s has %d exported methods, at most %d are allowed", name, n, maxMethods))
		}
		// Commands embed their groups of flags.
		if len(x.embeds) == 1 && x.fields == 0 && !strings.HasPrefix(name, "cmd/") {
			if inner := shapes[resolve(shapes, x.embeds[0])]; inner != nil && inner.isStruct {
				problems = append(problems, name+" only embeds: use what it embeds")
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func shapeOf(shapes map[string]*shape, key string) *shape {
	if shapes[key] == nil {
		shapes[key] = &shape{methods: map[string]bool{}}
	}
	return shapes[key]
}

func declare(shapes map[string]*shape, s source, declared *ast.TypeSpec) {
	x := shapeOf(shapes, s.pkg()+"."+declared.Name.Name)
	if declared.Assign.IsValid() {
		x.alias = typeKey(s, declared.Type)
		return
	}
	var list *ast.FieldList
	switch typ := declared.Type.(type) {
	case *ast.StructType:
		x.isStruct, list = true, typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return
	}
	for _, field := range list.List {
		if len(field.Names) == 0 {
			x.embeds = append(x.embeds, typeKey(s, field.Type))
			continue
		}
		x.fields++
		if name := field.Names[0]; !x.isStruct && name.IsExported() {
			x.methods[name.Name] = true
		}
	}
}

// typeKey returns the key of a named type as written in a file.
func typeKey(s source, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return typeKey(s, typ.X)
	case *ast.IndexExpr:
		return typeKey(s, typ.X)
	case *ast.Ident:
		return s.pkg() + "." + typ.Name
	case *ast.SelectorExpr:
		from, _ := typ.X.(*ast.Ident)
		for _, i := range s.parsed.Imports {
			imported := strings.Trim(i.Path.Value, `"`)
			name := path.Base(imported)
			if i.Name != nil {
				name = i.Name.Name
			}
			if from != nil && name == from.Name {
				return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), ".") + "." + typ.Sel.Name
			}
		}
	}
	return ""
}

func resolve(shapes map[string]*shape, key string) string {
	for shapes[key] != nil && shapes[key].alias != "" {
		key = shapes[key].alias
	}
	return key
}

// methodsOf returns the names of a type's exported methods, including those of embedded types.
func methodsOf(shapes map[string]*shape, key string, seen []string) map[string]bool {
	names := map[string]bool{}
	key = resolve(shapes, key)
	x := shapes[key]
	if x == nil || slices.Contains(seen, key) {
		return names
	}
	maps.Copy(names, x.methods)
	for _, inner := range x.embeds {
		maps.Copy(names, methodsOf(shapes, inner, append(seen, key)))
	}
	return names
}

func TestLinesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		text, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > maxColumns {
				t.Errorf("%s:%d has %d columns, at most %d are allowed", s.file, i+1, n, maxColumns)
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(recv *ast.FieldList) string {
	typ := recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch generic := typ.(type) {
	case *ast.IndexExpr:
		typ = generic.X
	case *ast.IndexListExpr:
		typ = generic.X
	}
	name, _ := typ.(*ast.Ident)
	return name.Name
}
