package carillon_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of the root package: vocabulary only. rootNames counts exported types, functions, constants, variables and
// methods; it is not raised.
const (
	rootLines = 1_500
	rootNames = 130
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

// maxMethods is how many methods a struct may have. Past that it is several things: give each its own state.
const maxMethods = 25

// manyMethods are the exceptions, with how many methods they have; the list only shrinks. The stores are not held to it:
// each is the SQL of one subject.
var manyMethods = map[string]int{}

func TestStructsHaveFewMethods(t *testing.T) {
	counts := map[string]int{}
	for _, s := range sources(t) {
		if s.test() || s.within("internal/store") {
			continue
		}
		for _, d := range s.parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				counts[s.pkg()+" "+receiver(f.Recv)]++
			}
		}
	}
	for name, n := range counts {
		if n > max(maxMethods, manyMethods[name]) {
			t.Errorf("%s has %d methods, at most %d are allowed", name, n, max(maxMethods, manyMethods[name]))
		}
	}
	for name := range manyMethods {
		if counts[name] <= maxMethods {
			t.Errorf("%s needs no exception any more: remove it", name)
		}
	}
}

// receiver is the name of a method's type.
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
