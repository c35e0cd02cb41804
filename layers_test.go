package carillon_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// rooms are the folders of internal in order: a file imports its own room and the rooms below it.
var rooms = []string{"app", "edge", "call", "talk", "voice", "agent", "send", "event", "account", "queue", "store", "base"}

const module = "carillon"

// Folders outside of internal. Those in onTop may import anything, and nothing in internal imports them. All rooms may
// import those in below.
var (
	onTop = []string{"cmd", "e2e", "deploy"}
	below = []string{".", "web", "docs", "client"}
)

// channels are the packages that only app imports; other packages use them through interfaces. The sandbox's telephone
// belongs to its channel.
var channels = []string{"internal/send/whatsapp", "internal/send/sandbox"}

// noRoot are packages that the root package must not import, since it does no input or output.
var noRoot = []string{"database/sql", "io/fs", "net", "net/http", "os", "os/exec", "syscall"}

// source is a Go file with its imports.
type source struct {
	file    string // slash-separated, from the module's root
	imports []string
	parsed  *ast.File
}

func (s source) pkg() string { return path.Dir(s.file) }
func (s source) test() bool  { return strings.HasSuffix(s.file, "_test.go") }
func (s source) within(pkg string) bool {
	return s.pkg() == pkg || strings.HasPrefix(s.pkg(), pkg+"/")
}

// forTests reports whether a file belongs to tests or to their stand-ins.
func (s source) forTests() bool {
	return s.test() || s.within("e2e") || strings.HasSuffix(path.Dir(s.pkg()), "test") || strings.HasSuffix(s.pkg(), "test")
}

// floorOf returns the position of a package's room from the top. known is false if it has none.
func floorOf(pkg string) (floor int, known bool) {
	first, rest, _ := strings.Cut(pkg, "/")
	switch {
	case slices.Contains(onTop, first):
		return -1, true
	case slices.Contains(below, first):
		return len(rooms), true
	case first != "internal":
		return 0, false
	}
	room, _, _ := strings.Cut(rest, "/")
	floor = slices.Index(rooms, room)
	return floor, floor >= 0
}

func TestRoomsImportOnlyRoomsBelow(t *testing.T) {
	all := sources(t)
	if len(all) < 10 {
		t.Fatalf("found only %d Go files", len(all))
	}
	for _, v := range violations(all) {
		t.Error(v)
	}
}

func TestInternalHasTheRoomsAlone(t *testing.T) {
	entries, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, e := range entries {
		there = append(there, e.Name())
	}
	if diff := gocmp.Diff(slices.Sorted(slices.Values(rooms)), there); diff != "" {
		t.Errorf("internal has other folders (-rooms +internal):\n%s", diff)
	}
}

func TestTheOrderOfRoomsIsBrokenInEveryWay(t *testing.T) {
	for _, c := range []struct {
		file, imports string
		want          string // empty if allowed
	}{
		{"internal/edge/api/notify.go", "carillon/internal/send/notify", ""},
		{"internal/edge/api/notify.go", "carillon", ""},
		{"internal/edge/api/notify.go", "carillon/web", ""},
		{"internal/queue/start.go", "carillon/internal/queue/lane", ""},
		{"internal/send/notify/notify.go", "carillon/internal/send/catalog", ""},
		{"internal/app/app.go", "carillon/internal/send/sandbox", ""},
		{"internal/call/handset/phone.go", "carillon/internal/send/sandbox", ""},
		{"internal/store/store.go", "database/sql", ""},
		{"internal/store/storetest/suite.go", "database/sql", ""},
		{"internal/store/storetest/suite.go", "carillon/internal/store", ""},
		{"internal/store/sqlite_test.go", "carillon/internal/store/storetest", ""},
		{"internal/send/notify/notify_test.go", "carillon/internal/send/sandbox", ""},
		{"cmd/carillon/main.go", "carillon/internal/app", ""},
		{"cmd/carillon/main.go", "carillon/cmd/carillon/table", ""},
		{"e2e/send_test.go", "carillon/internal/send/whatsapp/graphtest", ""},
		{"number.go", "strings", ""},
		{"number_test.go", "pgregory.net/rapid", ""},

		{"internal/store/store.go", "carillon/internal/send/notify", "store imports carillon/internal/send/notify, which is above it"},
		{"internal/store/store_test.go", "carillon/internal/send/notify", "store imports carillon/internal/send/notify, which is above it"},
		{
			"internal/base/content/fill.go", "carillon/internal/send/request",
			"base imports carillon/internal/send/request, which is above it",
		},
		{"internal/app/app.go", "carillon/cmd/carillon", "app imports carillon/cmd/carillon, which is above it"},
		{"web/web.go", "carillon/internal/edge/httpio", "web imports carillon/internal/edge/httpio, which is above it"},
		{"number_test.go", "carillon/internal/base/config", ". imports carillon/internal/base/config, which is above it"},
		{"internal/send/notify/notify.go", "carillon/internal/send/sandbox", "only internal/app wires carillon/internal/send/sandbox"},
		{"internal/edge/api/callback.go", "carillon/internal/send/whatsapp", "only internal/app wires carillon/internal/send/whatsapp"},
		{"cmd/carillon/main.go", "carillon/internal/send/sandbox", "only internal/app wires carillon/internal/send/sandbox"},
		{"internal/send/notify/notify.go", "carillon/internal/store/storetest", "carillon/internal/store/storetest is for tests"},
		{"cmd/carillon/main.go", "carillon/internal/store/storetest", "carillon/internal/store/storetest is for tests"},
		{"internal/send/notify/notify.go", "carillon/e2e", "send imports carillon/e2e, which is above it"},
		{"e2e/send_test.go", "carillon/bench", "carillon/bench has no room"},
		{"internal/utils/utils.go", "strings", "internal/utils has no room"},
		{"tools/gen.go", "strings", "tools has no room"},
		{"internal/edge/api/notify.go", "carillon/internal/utils", "carillon/internal/utils has no room"},
		{"internal/send/notify/notify.go", "database/sql", "database/sql belongs to internal/store"},
		{"internal/send/notify/notify.go", "database/sql/driver", "database/sql/driver belongs to internal/store"},
		{"internal/app/app_test.go", "database/sql", "database/sql belongs to internal/store"},
		{"number.go", "github.com/google/uuid", "the root package imports the standard library alone, not github.com/google/uuid"},
		{
			"number.go", "carillon/internal/base/config",
			"the root package imports the standard library alone, not carillon/internal/base/config",
		},
		{"number.go", "net/http", "the root package does no I/O, and imports net/http"},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.file + ": " + c.want}
		}
		if diff := gocmp.Diff(want, violations([]source{{file: c.file, imports: []string{c.imports}}})); diff != "" {
			t.Errorf("%s imports %s (-want +got):\n%s", c.file, c.imports, diff)
		}
	}
}

func TestOnlyEdgeServes(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range serves(s) {
			t.Errorf("%s mentions http.%s: only edge and app serve", s.file, name)
		}
	}
}

func TestServingIsFoundInEveryWay(t *testing.T) {
	for _, c := range []struct {
		file, imported, mentions string
		want                     []string
	}{
		{"internal/talk/files/files.go", `"net/http"`, "func(http.ResponseWriter, *http.Request)", []string{"ResponseWriter"}},
		{"internal/event/hook/hook.go", `web "net/http"`, "web.HandlerFunc", []string{"HandlerFunc"}},
		{"internal/base/tracing/span.go", `"net/http"`, "http.Handler", []string{"Handler"}},
		{"internal/queue/queue.go", `"net/http"`, "*http.Server", []string{"Server"}},
		{"internal/queue/queue.go", `"net/http"`, "struct{ x [len(http.ListenAndServe)]int }", []string{"ListenAndServe"}},

		{"internal/event/hook/send.go", `"net/http"`, "func(*http.Client, *http.Request, http.Header) *http.Response", nil},
		{"internal/event/hook/send.go", `"carillon/internal/base/http"`, "http.Handler", nil},
		{"internal/edge/api/api.go", `"net/http"`, "http.Handler", nil},
		{"internal/app/app.go", `"net/http"`, "*http.Server", nil},
		{"internal/event/hook/send_test.go", `"net/http"`, "http.HandlerFunc", nil},
		{"internal/send/whatsapp/graphtest/server.go", `"net/http"`, "http.Handler", nil},
		{"internal/voice/voicetest/serve/main.go", `"net/http"`, "http.Handler", nil},
		{"client/client.go", `"net/http"`, "http.Handler", nil},
	} {
		text := "package x\nimport " + c.imported + "\ntype x " + c.mentions
		f, err := parser.ParseFile(token.NewFileSet(), c.file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(c.want, serves(source{file: c.file, parsed: f})); diff != "" {
			t.Errorf("%s with %s (-want +got):\n%s", c.file, c.mentions, diff)
		}
	}
}

// TestTimeZonesAreThoseOfPackageSchedule finds code that would use the machine's zone files, or another release of
// them.
func TestTimeZonesAreThoseOfPackageSchedule(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(s.imports, "time/tzdata") {
			t.Errorf("%s imports time/tzdata: time zones are those of internal/base/schedule", s.file)
		}
		ast.Inspect(s.parsed, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && x.Sel.Name == "LoadLocation" {
				t.Errorf("%s calls LoadLocation: time zones are those of internal/base/schedule", s.file)
			}
			return true
		})
	}
}

// violations lists the files that break a rule.
func violations(sources []source) []string {
	var found []string
	for _, s := range sources {
		if _, known := floorOf(s.pkg()); !known {
			found = append(found, fmt.Sprintf("%s: %s has no room", s.file, s.pkg()))
			continue
		}
		for _, imported := range s.imports {
			if rule := broken(s, imported); rule != "" {
				found = append(found, s.file+": "+rule)
			}
		}
	}
	return found
}

// broken returns the rule that an import breaks, or "".
func broken(s source, imported string) string {
	if s.pkg() == "." && !s.test() {
		switch {
		case isModule(imported) || strings.Contains(strings.Split(imported, "/")[0], "."):
			return "the root package imports the standard library alone, not " + imported
		case slices.Contains(noRoot, imported):
			return "the root package does no I/O, and imports " + imported
		}
	}
	if isModule(imported) {
		return brokenInside(s, imported)
	}
	if (imported == "database/sql" || strings.HasPrefix(imported, "database/sql/")) &&
		!s.within("internal/store") && !s.within("e2e") {
		return imported + " belongs to internal/store"
	}
	return ""
}

func brokenInside(s source, imported string) string {
	target := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), ".")
	from, _ := floorOf(s.pkg())
	to, known := floorOf(target)
	switch {
	case !known:
		return imported + " has no room"
	case to < from:
		return fmt.Sprintf("%s imports %s, which is above it", roomOf(s.pkg()), imported)
	case strings.HasSuffix(target, "test") && !s.forTests():
		return imported + " is for tests"
	case slices.Contains(channels, target) && s.pkg() != "internal/app" && s.pkg() != "internal/call/handset" && !s.forTests():
		return "only internal/app wires " + imported
	}
	return ""
}

// serving are the names in net/http that are needed to serve HTTP.
var serving = []string{
	"Handler", "HandlerFunc", "ResponseWriter", "ServeMux", "NewServeMux", "Server", "Serve", "ServeTLS", "ListenAndServe",
	"ListenAndServeTLS",
}

// serves returns the names in serving that a file below edge uses. Tests and stand-ins for tests may serve.
func serves(s source) (names []string) {
	floor, known := floorOf(s.pkg())
	if !known || floor <= slices.Index(rooms, "edge") || floor == len(rooms) || s.forTests() {
		return nil
	}
	local := ""
	for _, i := range s.parsed.Imports {
		if i.Path.Value == `"net/http"` {
			if local = "http"; i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	ast.Inspect(s.parsed, func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := x.X.(*ast.Ident); ok && local != "" && of.Name == local && slices.Contains(serving, x.Sel.Name) {
			names = append(names, x.Sel.Name)
		}
		return true
	})
	return names
}

// roomOf returns the room of a package, or its top folder outside of internal.
func roomOf(pkg string) string {
	first, rest, _ := strings.Cut(pkg, "/")
	if first != "internal" {
		return first
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

func isModule(imported string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}

// sources parses every Go file of the module, once. It does not use the go command, whose cached result could be
// outdated.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(file, d.Name())
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{file: filepath.ToSlash(file), parsed: f}
		for _, i := range f.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// skip skips the folders that the go command skips, the front end's packages, and other modules.
func skip(dir, name string) error {
	if dir == "." {
		return nil
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	if err == nil || name == "testdata" || name == "node_modules" || name[0] == '.' || name[0] == '_' {
		return fs.SkipDir
	}
	return nil
}
