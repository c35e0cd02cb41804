package carillon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// workers lists the semaphores of background work by function, each with the reason why one company cannot use all of
// it. Package share limits clients and companies instead; its table is in docs/reference/limits.md.
var workers = map[string]string{
	"internal/account/auth/hash.go newHasher":        "the hashes that run: a place in share.SignIns comes first",
	"internal/send/catalog/poll.go poll":             "statuses of templates, each asked for within a time-out",
	"internal/send/catalog/sync.go Sync":             "the senders of one company",
	"internal/talk/conversation/flowrounds.go times": "steps of flows that wait for nobody, and have a budget",
	"internal/store/db/backlog.go start":             "admission to the next group commit, which takes all",
	"internal/store/move/copy.go group":              "the command that moves an installation: its own connections",
	"internal/event/hook/lane.go deliver":            "events of one endpoint",
	"internal/send/catalog/poll.go importDue":        "imports of templates, each of one sender",
	"internal/call/telephone/transfer.go connect":    "the two sides of one transfer",
	"internal/call/telephone/take.go open":           "calls are looked up for a few seconds, before it is known whose they are",
}

// TestWhatIsHeldAtOnceHasAShare fails for a semaphore outside package share that is not for the program's own work.
func TestWhatIsHeldAtOnceHasAShare(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if dir := filepath.Base(filepath.Dir(name)); strings.HasSuffix(dir, "test") || dir == "share" {
			return nil // test helpers
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			within := "a variable"
			if f, ok := decl.(*ast.FuncDecl); ok {
				within = f.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !isSemaphore(call) {
					return true
				}
				at := filepath.ToSlash(name) + " " + within
				seen[at] = true
				if workers[at] == "" {
					t.Errorf("%s holds a semaphore: package share bounds what clients or companies hold", set.Position(call.Pos()))
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := range workers {
		if !seen[at] {
			t.Errorf("%s has no semaphore any more: remove it from the list", at)
		}
	}
}

// isRate reports whether a call sets a limit of events per second.
func isRate(call *ast.CallExpr) bool {
	limit, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := limit.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Limit"
}

// isSemaphore reports whether a call creates a channel of empty structs with a capacity above one, a weighted
// semaphore, or a goroutine group with a limit.
func isSemaphore(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "NewWeighted" || f.Sel.Name == "SetLimit" && !isRate(call)
	case *ast.Ident:
		if f.Name != "make" || len(call.Args) != 2 {
			return false
		}
		c, ok := call.Args[0].(*ast.ChanType)
		if !ok {
			return false
		}
		if s, ok := c.Value.(*ast.StructType); !ok || len(s.Fields.List) > 0 {
			return false
		}
		room, ok := call.Args[1].(*ast.BasicLit)
		return !ok || room.Value != "1"
	}
	return false
}
