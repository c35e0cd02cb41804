package carillon_test

import (
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

	"github.com/google/go-cmp/cmp"
)

// layers is the table of the layers: a package imports only packages of a greater number. A package that is not listed
// fails, but for one inside a listed package, which is its parent's helper: it imports what its parent may, and its
// parent, and only tests and what stands on top import it.
var layers = map[string]float64{
	"cmd":    0,
	"e2e":    0,
	"deploy": 0,
	"client": 20,

	"internal/app":         1,
	"internal/edge/manual": 1.5,
	"internal/edge/mcp":    1.5,

	"internal/edge/api":        2,
	"internal/edge/api/widget": 2,
	"internal/edge/api/panel":  2,
	"internal/edge/panel":      2,

	"internal/send/notify":       3,
	"internal/send/bulk":         3,
	"internal/talk/person":       3,
	"internal/call":              3,
	"internal/send/catalog":      3,
	"internal/chat":              3,
	"internal/event/hook":        3,
	"internal/talk/flow":         3.7,
	"internal/edge/widget":       2,
	"internal/talk/conversation": 3,
	"internal/talk/messaging":    2.5,
	"internal/account/auth":      3,
	"internal/talk/files":        3,

	"internal/send/whatsapp":   4,
	"internal/call/sip":        4.2,
	"internal/call/rtp":        4.5,
	"internal/call/telephone":  2.5,
	"internal/agent":           4,
	"internal/agent/openai":    3.5,
	"internal/voice":           3.7,
	"internal/voice/silero":    4,
	"internal/voice/spoken":    4,
	"internal/voice/espeak":    3.5,
	"internal/voice/openai":    3.5,
	"internal/voice/vosk":      3.5,
	"internal/voice/sphinx":    3.5,
	"internal/voice/convai":    2.5,
	"internal/base/audio":      9,
	"internal/agent/espeak":    4,
	"internal/agent/knowledge": 4.5,
	"internal/event/realtime":  4,
	"internal/send/sandbox":    4,

	"internal/queue":            5,
	"internal/queue/lane":       5,
	"internal/queue/membership": 5,
	"internal/account/limit":    5,
	"internal/store/purge":      5,

	"internal/send/request":        6,
	"internal/account/mail":        6,
	"internal/account/sso":         6,
	"internal/account/sso/ssotest": 6,

	"internal/store":              6,
	"internal/store/accounts":     6,
	"internal/store/addresses":    6,
	"internal/store/audit":        6.75,
	"internal/store/apicalls":     6.25,
	"internal/account/activity":   5,
	"internal/store/templates":    6,
	"internal/store/resources":    6,
	"internal/store/suppressions": 6.25,
	"internal/store/stats":        6,
	"internal/store/senders":      6,
	"internal/store/rates":        6,
	"internal/store/configure":    6.5,
	"internal/store/calls":        6,
	"internal/store/chats":        6,
	"internal/store/files":        6,
	"internal/store/people":       6,
	"internal/store/questions":    6,
	"internal/store/events":       6.25,
	"internal/store/runs":         6.25,
	"internal/store/bulk":         6.25,
	"internal/store/hooks":        6.2,
	"internal/store/replies":      6.25,
	"internal/store/work":         6.5,
	"internal/base/redact":        9,
	"internal/store/seal":         8,
	"internal/store/rank":         8,

	"internal/base/egress":     6,
	"internal/agent/translate": 6,
	"internal/base/httpio":     6,

	"internal/base/secret": 7,
	"internal/base/sheet":  7,
	"internal/base/number": 8,
	"internal/base/share":  8,

	"internal/base/tracing": 7,
	"internal/base/cache":   7,
	"internal/store/db":     7,
	"internal/base/config":  7,
	"web":                   7,
	"docs":                  9,

	"internal/base/content":  8,
	"internal/base/resource": 8,
	"internal/call/dial":     8,
	"internal/base/hours":    8,
	"internal/base/jsonbody": 9,
	"internal/base/cpu":      9,
	"internal/base/need":     9,
	"internal/base/schedule": 9,
	"internal/base/provider": 9,
	"internal/base/identity": 9,
	"internal/base/language": 9,

	"internal/base/destination": 9,

	".": 10, // the root package
}

const (
	module   = "carillon"
	topLayer = 0
)

// wired are the packages that app alone imports: what they are is behind interfaces of the layers above.
var wired = []string{"internal/send/whatsapp", "internal/send/sandbox"}

// noRoot is what the root package does without, for it does no input or output.
var noRoot = []string{"database/sql", "io/fs", "net", "net/http", "os", "os/exec", "syscall"}

// source is one Go file and what it imports.
type source struct {
	file    string // slash-separated, from the module's root
	imports []string
	parsed  *ast.File
}

func (s source) pkg() string { return path.Dir(s.file) }
func (s source) test() bool  { return strings.HasSuffix(s.file, "_test.go") }
func (s source) onTop() bool {
	home, _ := homeOf(s.pkg())
	return home != "" && layers[home] == topLayer
}

func (s source) within(pkg string) bool {
	return s.pkg() == pkg || strings.HasPrefix(s.pkg(), pkg+"/")
}

// homeOf gives the listed package that a package is or belongs to, "" for none; helper: it is not listed itself.
func homeOf(pkg string) (home string, helper bool) {
	for p := pkg; p != "."; p = path.Dir(p) {
		if _, ok := layers[p]; ok {
			return p, p != pkg && layers[p] != topLayer
		}
	}
	if pkg == "." {
		return ".", false
	}
	return "", false
}

func TestPackagesImportOnlyLayersBelow(t *testing.T) {
	all := sources(t)
	if len(all) < 10 {
		t.Fatalf("found only %d Go files", len(all))
	}
	for _, v := range violations(all) {
		t.Error(v)
	}
}

func TestLayersAreBrokenInEveryWay(t *testing.T) {
	for _, c := range []struct {
		file, imports string
		want          string // "" for allowed
	}{
		{"internal/edge/api/notify.go", "carillon/internal/send/notify", ""},
		{"internal/edge/api/notify.go", "carillon", ""},
		{"internal/queue/start.go", "carillon/internal/queue/lane", ""},
		{"internal/app/app.go", "carillon/internal/send/sandbox", ""},
		{"internal/app/app.go", "carillon/internal/base/config", ""},
		{"internal/store/store.go", "database/sql", ""},
		{"internal/store/storetest/suite.go", "database/sql", ""},
		{"internal/store/storetest/suite.go", "carillon/internal/store", ""},
		{"internal/store/sqlite_test.go", "carillon/internal/store/storetest", ""},
		{"internal/send/notify/notify_test.go", "carillon/internal/store/storetest", ""},
		{"internal/send/notify/notify_test.go", "carillon/internal/send/notify", ""},
		{"internal/send/notify/notify_test.go", "carillon/internal/send/sandbox", ""},
		{"cmd/carillon/main.go", "carillon/internal/app", ""},
		{"cmd/carillon/main.go", "carillon/cmd/carillon/table", ""},
		{"e2e/send_test.go", "carillon/internal/send/whatsapp/graphtest", ""},
		{"number.go", "strings", ""},
		{"number_test.go", "pgregory.net/rapid", ""},

		{"internal/store/store.go", "carillon/internal/send/notify", "layer 6 imports carillon/internal/send/notify of layer 3"},
		{"internal/store/store_test.go", "carillon/internal/send/notify", "layer 6 imports carillon/internal/send/notify of layer 3"},
		{"internal/store/storetest/suite.go", "carillon/internal/queue", "layer 6 imports carillon/internal/queue of layer 5"},
		{"internal/queue/lane/lane.go", "carillon/internal/queue", "layer 5 imports carillon/internal/queue of layer 5"},
		{"internal/queue/lane/lane.go", "carillon/internal/queue/membership", "layer 5 imports carillon/internal/queue/membership of layer 5"},
		{"internal/send/notify/notify.go", "carillon/internal/queue/lane", ""},
		{"internal/send/notify/notify.go", "carillon/internal/send/catalog", "layer 3 imports carillon/internal/send/catalog of layer 3"},
		{"internal/send/notify/notify_test.go", "carillon/internal/send/catalog", "layer 3 imports carillon/internal/send/catalog of layer 3"},
		{"internal/app/app.go", "carillon/cmd/carillon", "layer 1 imports carillon/cmd/carillon of layer 0"},
		{"internal/send/notify/notify.go", "carillon/internal/send/sandbox", "only internal/app wires carillon/internal/send/sandbox"},
		{"internal/edge/api/callback.go", "carillon/internal/send/whatsapp", "only internal/app wires carillon/internal/send/whatsapp"},
		{"cmd/carillon/main.go", "carillon/internal/send/sandbox", "only internal/app wires carillon/internal/send/sandbox"},
		{"internal/send/notify/notify.go", "carillon/internal/store/storetest", "carillon/internal/store/storetest is for tests"},
		{"internal/store/store.go", "carillon/internal/store/storetest", "carillon/internal/store/storetest is for tests"},
		{"cmd/carillon/main.go", "carillon/internal/store/storetest", "carillon/internal/store/storetest is for tests"},
		{"e2e/send_test.go", "carillon/bench", "carillon/bench is not in the table of layers"},
		{"internal/utils/utils.go", "strings", "internal/utils is not in the table of layers"},
		{"tools/gen.go", "strings", "tools is not in the table of layers"},
		{"internal/edge/api/notify.go", "carillon/internal/utils", "carillon/internal/utils is not in the table of layers"},
		{"internal/send/notify/notify.go", "database/sql", "database/sql belongs to internal/store/db and internal/store"},
		{"internal/send/notify/notify.go", "database/sql/driver", "database/sql/driver belongs to internal/store/db and internal/store"},
		{"internal/app/app_test.go", "database/sql", "database/sql belongs to internal/store/db and internal/store"},
		{"internal/base/jsonbody/parse.go", "carillon/internal/base/content", "layer 9 imports carillon/internal/base/content of layer 8"},
		{"internal/base/content/fill.go", "carillon/internal/send/request", "layer 8 imports carillon/internal/send/request of layer 6"},
		{"number.go", "github.com/google/uuid", "the root package imports the standard library alone, not github.com/google/uuid"},
		{"number.go", "carillon/internal/base/config", "the root package imports the standard library alone, not carillon/internal/base/config"},
		{"number_test.go", "carillon/internal/base/config", "layer 10 imports carillon/internal/base/config of layer 7"},
		{"number.go", "net/http", "the root package does no I/O, and imports net/http"},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.file + ": " + c.want}
		}
		if diff := cmp.Diff(want, violations([]source{{file: c.file, imports: []string{c.imports}}})); diff != "" {
			t.Errorf("%s imports %s (-want +got):\n%s", c.file, c.imports, diff)
		}
	}
}

// TestTimeZonesAreThoseOfPackageSchedule finds what would read the zone files of the machine, or another release.
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

// violations says which file breaks which rule.
func violations(sources []source) []string {
	var found []string
	for _, s := range sources {
		if home, _ := homeOf(s.pkg()); home == "" {
			found = append(found, fmt.Sprintf("%s: %s is not in the table of layers", s.file, s.pkg()))
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

// broken names the rule that an import breaks, "" for none.
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
		!s.within("internal/store/db") && !s.within("internal/store") && !s.within("e2e") {
		return imported + " belongs to internal/store/db and internal/store"
	}
	return ""
}

func brokenInside(s source, imported string) string {
	target := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
	if target == "" {
		target = "."
	}
	from, _ := homeOf(s.pkg())
	to, helper := homeOf(target)
	forTests := s.test() || s.within("e2e")
	switch {
	case to == "":
		return imported + " is not in the table of layers"
	case helper && !forTests && !helperOf(s.pkg(), to):
		return imported + " is for tests"
	case strings.HasPrefix(to, from+"/"): // a package and a listed part of it
		return ""
	case s.test() && s.pkg() == target, from == to && (helper || helperOf(s.pkg(), to) || s.onTop()):
		return "" // a package's own test, or a helper and its parent
	case layers[to] <= layers[from]:
		return fmt.Sprintf("layer %v imports %s of layer %v", layers[from], imported, layers[to])
	case slices.Contains(wired, to) && from != "internal/app" && !forTests:
		return "only internal/app wires " + imported
	}
	return ""
}

// helperOf reports whether a package is a helper of the listed one.
func helperOf(pkg, home string) bool {
	h, helper := homeOf(pkg)
	return helper && h == home
}

func isModule(imported string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}

// sources reads every Go file of the module, once. It asks no tool: a cached answer goes stale.
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

// skip leaves out what the go command leaves out too, the front end's packages, and other modules.
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
