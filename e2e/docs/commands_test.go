package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/base/need"
)

// errorsOf returns the errors that a page shows on purpose, in order.
func errorsOf(page string) []string {
	return map[string][]string{
		"docs/guides/develop.md":  {"validation_failed"},
		"docs/guides/whatsapp.md": {"conflict"}, // the person has not written
	}[page]
}

// commands runs the commands of each page in order, in a separate folder with the files that the page asks the reader
// to save.
func (s *site) commands(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq", "node", "openssl"} {
		need.Program(t, tool, tool)
	}
	byPage := map[string][]snippet{"README.md": readme(t)}
	for _, x := range snippets(t) {
		byPage[x.page] = append(byPage[x.page], x)
	}
	claims := 0
	for page, all := range byPage {
		if !slices.ContainsFunc(all, func(x snippet) bool { return x.language == "sh" }) {
			continue
		}
		for _, x := range all {
			claims += len(x.prints())
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s.walk(t, page, all)
		})
	}
	if claims < 3 {
		t.Errorf("only %d texts were found that a page says its commands print", claims)
	}
}

// readme returns the commands in the README's indented blocks, without those of make and git, and without the one that
// needs a server. The called person hangs up after two seconds, since half a minute is too long for a test.
func readme(t *testing.T) (all []snippet) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := regexp.MustCompile(`^(?:curl |bin/carillon (?:send|calls?|notifications) )`)
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(string(text), -1) {
		if code := strings.TrimSpace(block); ran.MatchString(code) {
			line := strings.Count(string(text[:strings.Index(string(text), block)]), "\n") + 1
			all = append(all, snippet{
				page: "README.md", line: line, language: "sh", code: strings.ReplaceAll(code, "34600110018", "34600110021") + "\n",
			})
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d commands were found in the README", len(all))
	}
	return all
}

var (
	// savedAs matches the file name under which a page asks to save a snippet.
	savedAs = regexp.MustCompile("(?i)save (?:it|this|this one) as `([\\w.]+)`|^// ([\\w.]+\\.m?js):")
	// serves matches commands that run until they are stopped.
	serves = regexp.MustCompile(`(?m)^(carillon (?:mcp --http|serve)[^&\n]*)$`)
	// printed matches the output that a page announces for the commands before it.
	printed = regexp.MustCompile("^(?:It|`[^`]+`) (?:prints|shows) ((?:`[^`]+`|[^`.()])+)")
	// span matches inline code in a text.
	span = regexp.MustCompile("`([^`]+)`")
	// assigned matches variables that are set to a command's output.
	assigned = regexp.MustCompile(`(?m)^(?:export )?([A-Z]+)=\$\(`)
	// someID stands for the ID that the previous command printed.
	someID = regexp.MustCompile(`\b019d…`)
)

// prints returns the texts that the snippet prints according to the page.
func (s snippet) prints() (all []string) {
	if found := printed.FindStringSubmatch(s.after); found != nil && s.language == "sh" {
		for _, text := range span.FindAllStringSubmatch(found[1], -1) {
			all = append(all, text[1])
		}
	}
	return all
}

// prelude makes every curl save the response of a refused request, even if a pipe reads it, and waits for the output
// that the page shows.
const prelude = `set -euo pipefail
curl() {
  local body status
  body=$(mktemp)
  status=$(command curl -o "$body" -w '%{http_code}' "$@") || return
  cat "$body"
  [[ $status == 2* ]] || { echo "$status $(cat "$body")" >>"$REFUSED"; }
}
last() { grep -oE '\b01[0-9a-f]{6}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' "$OUTPUT" | tail -1; }
prints() {
  for _ in $(seq 600); do grep -qF -- "$1" "$OUTPUT" && return; sleep 0.1; done
  echo "what the page says is printed did not come" >&2
  return 1
}
`

// script returns the bash script for a page.
func script(all []snippet, here func(string) string) string {
	var b strings.Builder
	b.WriteString(prelude)
	for _, x := range all {
		if x.language != "sh" {
			continue
		}
		if strings.HasPrefix(x.code, "bin/carillon calls ") { // the page says "once it has ended"
			b.WriteString("until bin/carillon calls show $(last) | grep -q '^state *completed'; do sleep 0.2; done\n")
		}
		b.WriteString("echo '# " + x.String() + "'\n" + someID.ReplaceAllString(here(x.code), "$$(last)"))
		for _, variable := range assigned.FindAllStringSubmatch(x.code, -1) {
			name := variable[1]
			b.WriteString("[[ -n $" + name + " && $" + name + " != null ]] || { echo '" + name + " is empty'; exit 1; }\n")
		}
		for _, text := range x.prints() {
			b.WriteString("prints '" + text + "'\n")
		}
	}
	return b.String()
}

// files returns the files that the page asks to save, by name.
func files(all []snippet) map[string]string {
	saved := map[string]string{}
	for _, x := range all {
		if x.language == "sh" {
			continue
		}
		name := savedAs.FindStringSubmatch(x.before)
		if name == nil {
			name = savedAs.FindStringSubmatch(x.code)
		}
		if name != nil {
			saved[name[1]+name[2]] = x.code
		}
	}
	return saved
}

func (s *site) walk(t *testing.T, page string, all []snippet) {
	t.Helper()
	dir := t.TempDir()
	ports := map[string]string{}
	for _, port := range []string{"3000", "3001", "8090"} {
		_, ports[port], _ = strings.Cut(instance.FreeAddress(t), ":")
	}
	receiver := "http://127.0.0.1:" + ports["3000"]
	here := func(code string) string {
		code = serves.ReplaceAllString(code, "$1 &\nsleep 1\nkill -0 $$!") // still running
		code = strings.NewReplacer("http://127.0.0.1:8080", s.BaseURL, "https://hooks.example.com", receiver,
			"https://carillon.example.com", s.BaseURL).Replace(code)
		return regexp.MustCompile(`\b(3000|3001|8090)\b`).ReplaceAllStringFunc(code, func(port string) string { return ports[port] })
	}
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{s.bin, "bin"}, {filepath.Dir(s.File), "data"}, {examples, "examples"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for name, code := range files(all) {
		save(t, filepath.Join(dir, name), here(code))
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	refused := out.Name() + ".refused"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", script(all, here))
	c.Dir = dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that leftover processes can be killed with it
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	c.Env = append(plain(), "no_proxy=127.0.0.1", "PATH="+s.bin+":"+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+t.TempDir(),
		"OUTPUT="+out.Name(), "REFUSED="+refused)
	c.Stdout, c.Stderr = out, out // a file, so that leftover processes do not delay it
	err = c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	text, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%v\n%s%s", err, text, readIf(refused))
	}
	var codes []string
	for line := range strings.Lines(readIf(refused)) {
		code := regexp.MustCompile(`"error": ?"(\w+)"`).FindStringSubmatch(line)
		if code == nil {
			t.Errorf("a request was refused: %s", line)
			continue
		}
		codes = append(codes, code[1])
	}
	if !slices.Equal(codes, errorsOf(page)) {
		t.Errorf("refused were %q, not %q:\n%s%s", codes, errorsOf(page), text, readIf(refused))
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, ",\n"); strings.HasSuffix(line, "null") && !strings.HasSuffix(line, `"reason": null`) {
			t.Errorf("a response lacked what the page reads from it, %q:\n%s", line, text)
		}
	}
}

// plain returns the environment without the variables that a page sets.
func plain() (all []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "CARILLON_") && !slices.Contains([]string{"BASE", "KEY", "TOKEN", "SECRET", "PORT", "ID", "TO"}, name) {
			all = append(all, variable)
		}
	}
	return all
}

func readIf(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}
