package deploy_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/base/need"
)

// hung is the time after which a wait counts as hung.
const hung = 2 * time.Minute

var (
	builtDir string
	built    = sync.OnceValues(func() (string, error) {
		file := filepath.Join(builtDir, "carillon")
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", file, "../cmd/carillon") //nolint:noctx // for all tests
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return file, nil
	})
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "carillon-deploy-")
	if err != nil {
		panic(err)
	}
	builtDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// carillon returns the path of the program.
func carillon(t *testing.T) string {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// tool returns a program's path, which may be outside of the PATH of an ordinary user.
func tool(t *testing.T, name, pkg string) string {
	t.Helper()
	if path := filepath.Join("/usr/sbin", name); exists(path) {
		return path
	}
	return need.Program(t, name, pkg)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// example writes a copy of a file in this folder to dir, in which each old text is replaced by the new one after it. Each
// old text must occur.
func example(t *testing.T, dir, name string, replace ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s has no %q", name, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	file := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// process is a running program.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// start runs a program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, log: log.Name(), ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			text := p.text()
			t.Logf("%s:\n%s", cmd.Path, text[max(0, len(text)-4000):])
		}
	})
	return p
}

func (p *process) text() string {
	b, _ := os.ReadFile(p.log)
	return string(b)
}

// stop asks the program to end and returns its exit code.
func (p *process) stop() int {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.await("end", func() bool { return p.dead() })
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// await waits until a condition holds. It fails if the program ends before.
func (p *process) await(what string, holds func() bool) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for limit := time.After(hung); !holds(); {
		select {
		case <-limit:
			p.t.Fatalf("%s: it did not %s in %s", p.cmd.Path, what, hung)
		case <-look.C:
		}
		if p.dead() && !holds() {
			p.t.Fatalf("%s ended before it could %s", p.cmd.Path, what)
		}
	}
}

// responds waits until an address responds with 200.
func (p *process) responds(url string) {
	p.t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	p.await("respond", func() bool {
		resp, err := client.Get(url) //nolint:noctx // the client has a timeout
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

const (
	installed    = "ck_deployed_everything"
	installation = `companies:
  - name: Deployed
    limits: {sends_per_minute: 0, daily_recipients: 0}
    keys: [{key: ck_deployed_everything, label: all}]
    senders: [{id: main, number: "15550100177", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: main, name: hello, language: en, category: UTILITY, status: approved, body: "Hello."}]
`
	notification = `{"contact":{"number":"34600111222","name":"Ana"},"recipient_id":"main","name_template":"hello",
		"language_template":"en","notification_type":"utility","campaign_name":"deploy"}`
)

// node is a running Carillon.
type node struct {
	*process
	addr, ops string
	dir       string // the data folder
}

// serve starts a node, on SQLite unless a flag has a database.
func serve(t *testing.T, flags ...string) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{addr: instance.FreeAddress(t), ops: instance.FreeAddress(t), dir: dir}
	file := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(file, []byte(installation), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{
		"serve", "--addr=" + n.addr, "--ops-addr=" + n.ops, "--data=" + dir, "--provision=" + file,
		"--ready-file=" + filepath.Join(dir, "ready"),
	}, flags...)
	n.process = start(t, exec.CommandContext(t.Context(), carillon(t), args...))
	return n
}

// ready waits until the node is ready.
func (n *node) ready() {
	n.t.Helper()
	n.responds("http://" + n.addr + "/readyz")
}

func (*node) client() *http.Client { return &http.Client{Timeout: hung} }

// serves reports whether the node is ready.
func (n *node) serves() bool {
	resp, err := n.client().Get("http://" + n.addr + "/readyz") //nolint:noctx // the client has a timeout
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// notify sends a notification and returns the response.
func notify(t *testing.T, client *http.Client, base string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/functions/v1/notify?access_key="+installed,
		strings.NewReader(notification))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(resp.Body)
	return resp, b.String(), err
}
