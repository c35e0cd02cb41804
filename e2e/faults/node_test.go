package faults

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// node is the program in a separate process. Its address stays the same over restarts.
type node struct {
	t     *testing.T
	addr  string
	args  []string
	id    string   // in the table of nodes, if it was never restarted
	proxy *proxy   // its connection to the database, if it uses one
	env   []string // besides PATH and HOME
	exe   string   // default: the production program
	ready string
	log   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

func newNode(t *testing.T, dir string, flags ...string) *node {
	t.Helper()
	n := &node{t: t, addr: freeAddress(t), ready: filepath.Join(dir, "ready.json"), log: filepath.Join(dir, "log")}
	n.args = append([]string{"serve", "--addr=" + n.addr, "--data=" + dir, "--ready-file=" + n.ready}, flags...)
	t.Cleanup(func() {
		n.kill()
		if t.Failed() {
			n.tail()
		}
	})
	return n
}

// freeAddress returns an unused loopback address. If loopback is a network, as on Linux, no connection uses it as a
// source, so the port stays free while its node is dead.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.41:0")
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// spawn starts the process without waiting for it.
func (n *node) spawn() {
	n.t.Helper()
	_ = os.Remove(n.ready)
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.t.Fatal(err)
	}
	defer log.Close()
	exe := n.exe
	if exe == "" {
		exe = executable(n.t)
	}
	cmd := exec.Command(exe, n.args...) // our own program; ended by kill
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, n.env...)
	cmd.Stderr, cmd.Stdout = log, log
	dieWithUs(cmd)
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	n.cmd, n.ended = cmd, ended
}

// start spawns the process and waits until it serves.
func (n *node) start() {
	n.t.Helper()
	n.spawn()
	n.awaitReady()
}

func (n *node) awaitReady() {
	n.t.Helper()
	ok := await(n.t.Context(), 2*time.Minute, func() bool {
		_, err := os.Stat(n.ready)
		return err == nil || n.dead()
	})
	if !ok || n.dead() {
		n.tail()
		n.t.Fatalf("the program did not start (ended: %v)", n.dead())
	}
}

func (n *node) dead() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL.
func (n *node) kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill()
	<-n.ended
}

func (n *node) signal(s syscall.Signal) {
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Errorf("signal %v: %v", s, err)
	}
}

// stop asks the process to end and returns its exit code, or -1 if it did not end in time.
func (n *node) stop(within time.Duration) int {
	n.signal(syscall.SIGTERM)
	select {
	case <-n.ended:
		return n.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		return -1
	}
}

// tail prints the end of the log of a failed test, and the last errors before it.
func (n *node) tail() {
	b, _ := os.ReadFile(n.log)
	end := b[max(0, len(b)-6000):]
	var errs [][]byte
	for line := range bytes.Lines(b[:len(b)-len(end)]) {
		if bytes.Contains(line, []byte("level=ERROR")) {
			errs = append(errs, line)
		}
	}
	n.t.Logf("log of %s:\n%s…\n%s", n.addr, bytes.Join(errs[max(0, len(errs)-20):], nil), end)
}

func provisionFile(t *testing.T, dir string, senders ...*channelAccount) string {
	t.Helper()
	text := "companies:\n  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01\n    name: Faults\n" +
		"    limits: {sends_per_minute: 0, template_lists_per_minute: 0, daily_recipients: 0, daily_bytes: 0}\n" +
		"    keys:\n      - {key: " + accessKey + ", label: faults, scopes: [\"*\"]}\n" + users() + "    senders:\n"
	for i, p := range senders {
		if i == 1 { // two nodes own half of the shards each, and a sender's position in the list determines its shard
			for k := range 31 {
				text += fmt.Sprintf("      - {id: idle%d, number: \"1666555%04d\", channel: messaging, provider: sandbox}\n", k, k)
			}
		}
		text += fmt.Sprintf("      - id: %s\n        number: %q\n        channel: messaging\n        provider: whatsapp\n"+
			"        default: %v\n        per_second: %d\n        per_recipient_interval: %[9]s\n        media_check: syntax\n"+
			"        unknown_outcome: {transactional: %[5]s, utility: %[5]s, marketing: %[5]s, after: %[6]s}\n"+
			"        settings: {base_url: %[7]q, version: v23.0, phone_number_id: %[8]q, waba_id: \"2000001\", access_token: "+
			"provider-token, "+
			"app_secret: provider-app-secret, verify_token: provider-verify-token}\n",
			p.id, p.number, p.first, p.perSecond, p.policy, cmp.Or(p.after, unknownAfter), p.graph.URL(), p.phone, p.interval)
	}
	text += "    templates:\n"
	for _, p := range senders {
		for _, c := range []string{"UTILITY", "MARKETING"} {
			text += fmt.Sprintf("      - {sender: %s, name: hello_%s, language: en, category: %s, status: approved, body: \"Hello "+
				"{{1}}, bye.\", examples: {body: [Ana]}}\n", p.id, strings.ToLower(c), c)
		}
	}
	name := filepath.Join(dir, "provision.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
