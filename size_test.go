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
// methods; it may only be lowered (the goal is 130).
const (
	rootLines = 1_500
	rootNames = 175
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
	typ := recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}
