package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"carillon/internal/base/need"
)

// TestProgramsOfThePagesCompile compiles or parses the snippets that are not commands with the tools of their
// languages.
func TestProgramsOfThePagesCompile(t *testing.T) {
	node, err := exec.LookPath("node")
	need.That(t, err == nil, "programs of the pages are read by Node, which is not installed")
	dir := t.TempDir()
	var typescript []string
	for i, s := range snippets(t) {
		name := filepath.Join(dir, strconv.Itoa(i))
		switch s.language {
		case "js":
			save(t, name+".mjs", s.code)
			if out, err := exec.CommandContext(t.Context(), node, "--check", name+".mjs").CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s, err, out)
			}
		case "go":
			save(t, name+".go", s.code)
			if out, err := exec.CommandContext(t.Context(), "go", "vet", name+".go").CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s, err, out)
			}
		case "ts":
			save(t, name+".ts", s.code)
			typescript = append(typescript, name+".ts")
		case "html":
			for j, inline := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(s.code, -1) {
				file := name + "-" + strconv.Itoa(j) + ".mjs"
				save(t, file, inline[1])
				if out, err := exec.CommandContext(t.Context(), node, "--check", file).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", s, err, out)
				}
			}
		}
	}
	checkTypes(t, dir, typescript)
}

// checkTypes compiles TypeScript programs against the built client.
func checkTypes(t *testing.T, dir string, files []string) {
	t.Helper()
	web, err := filepath.Abs(filepath.Join(root, "web"))
	if err != nil {
		t.Fatal(err)
	}
	compiler, client := filepath.Join(web, "node_modules/.bin/tsc"), filepath.Join(web, "../clients/typescript/dist/index.d.ts")
	_, err = os.Stat(client)
	need.That(t, err == nil, "the client for TypeScript is not built: run make web")
	settings, err := json.Marshal(map[string]any{
		"compilerOptions": map[string]any{
			"target": "ES2022", "lib": []string{"ES2022", "DOM", "DOM.Iterable"}, "module": "ESNext", "moduleResolution": "bundler",
			"strict": true, "noEmit": true, "skipLibCheck": true,
			"typeRoots": []string{filepath.Join(web, "node_modules/@types")}, "types": []string{"node"},
			"paths": map[string]any{"@carillon/client": []string{client}},
		},
		"files": files,
	})
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "tsconfig.json"), string(settings))
	if out, err := exec.CommandContext(t.Context(), compiler, "-p", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
