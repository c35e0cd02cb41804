//go:build linux

package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/base/need"
)

// user is the user ID in the image.
const user = 65532

// image is a root file system with the contents of the Containerfile's last stage. It is owned by root and read-only,
// except for the data folder.
type image struct {
	root        string
	environment []string
	nobody      bool // the test is not root and uses a user namespace instead
}

func newImage(t *testing.T) *image {
	t.Helper()
	// Not t.TempDir: folders above the root must be accessible to the image's user.
	dir, err := os.MkdirTemp("/tmp", "carillon-image-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o755)
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the image: %v", err)
		}
	})
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o",
		filepath.Join(dir, "carillon"), "../cmd/carillon")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	i := &image{root: dir, nobody: os.Getuid() != 0}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if !i.nobody {
		if err := os.Chown(data, user, user); err != nil {
			need.That(t, false, fmt.Sprintf("the data folder cannot be given to the image's user: %v", err))
		}
	}
	if err := os.Chmod(filepath.Join(dir, "carillon"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, line := range containerfile(t)["ENV"] {
		i.environment = append(i.environment, strings.Fields(line)...)
	}
	return i
}

// command returns a command that runs the program in the image as its user. Ending the context asks it to stop.
func (i *image) command(ctx context.Context, environment []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/carillon", args...)
	cmd.Dir, cmd.Env = "/", append(slices.Clip(i.environment), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	if i.nobody {
		cmd.SysProcAttr.Credential = nil
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getgid(), Size: 1}}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return cmd
}

func TestImageNeedsNothingButItsFiles(t *testing.T) {
	i := newImage(t)
	if out, err := i.command(t.Context(), nil, "version").CombinedOutput(); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			need.That(t, false,
				fmt.Sprintf("no root of its own can be given to a process, neither as root nor in a user namespace: %v", err))
		}
		t.Fatalf("%v: %s", err, out)
	}
	here := []string{"CARILLON_ADDR=127.0.0.1:0", "CARILLON_READY_FILE=/data/ready.json", "CARILLON_DEMO=true"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	serve := i.command(ctx, here, "serve")
	var log bytes.Buffer
	serve.Stdout, serve.Stderr = io.Discard, &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait(); close(ended) }()
	defer func() {
		stop()
		<-ended // until it has ended
	}()
	ready := i.ready(t, ended, &log)

	// The image's own probe.
	_, probe, _ := strings.Cut(containerfile(t)["HEALTHCHECK"][0], "CMD ")
	var words []string
	if err := json.Unmarshal([]byte(probe), &words); err != nil || words[0] != "/carillon" {
		t.Fatalf("%v in %s", err, probe)
	}
	if out, err := i.command(t.Context(), here, words[1:]...).CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v: %s", err, out)
	}
	i.delivered(t, ready, i.send(t, ready, "", ""))
	// British Columbia stays at UTC-7 from 2026 on. 2098 will be in the future for long.
	id := i.send(t, ready, "2098-01-15T09:00:00", "America/Vancouver")
	shown, err := i.command(t.Context(), append(here, "TZ=America/Vancouver"), "notifications", "show", id).CombinedOutput()
	if err != nil || !strings.Contains(string(shown), "2098-01-15 09:00:00 MST") {
		t.Errorf("%v: %s", err, shown)
	}
	shown, err = i.command(t.Context(), here, "notifications", "show", id, "--json").CombinedOutput()
	if err != nil || !strings.Contains(string(shown), `"scheduled_time": "2098-01-15T16:00:00Z"`) {
		t.Errorf("%v: %s", err, shown)
	}

	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v:\n%s", err, log.String())
	}
	left, err := os.ReadDir(i.root)
	if err != nil || len(left) != 2 {
		t.Errorf("the root holds %v: %v", left, err)
	}
}

// ready waits until the program listens.
func (i *image) ready(t *testing.T, ended chan error, log *bytes.Buffer) *config.Ready {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			t.Fatalf("ended: %v\n%s", err, log.String())
		case <-look.C:
		}
		if ready, err := config.ReadReady(filepath.Join(i.root, "data", "ready.json")); err == nil {
			return ready
		}
	}
}

// send sends a message now, or at a local time in a named time zone. This tests the time-zone data built into the
// program, because the image has none.
func (i *image) send(t *testing.T, ready *config.Ready, local, zone string) (id string) {
	t.Helper()
	request := map[string]any{
		"contact": map[string]string{"number": "34600111222", "name": "Ana"}, "recipient_id": ready.Sender, "name_template": "hello",
		"language_template": "en", "notification_type": "utility", "campaign_name": "image",
		"components_push": map[string]string{"body_text_0": "{{name}}"},
	}
	if local != "" {
		request["datetime_sending"], request["timezone"] = local, zone
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var sent struct {
		ID string `json:"notification_id"`
	}
	i.ask(t, http.MethodPost, ready.BaseURL+"/functions/v1/notify?access_key="+ready.AccessKey, body, &sent)
	return sent.ID
}

// delivered waits until a message's recipient has it.
func (i *image) delivered(t *testing.T, ready *config.Ready, id string) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(2 * time.Minute)
	for {
		var now struct {
			Recipients []struct{ State, Reason string }
		}
		i.ask(t, http.MethodGet, ready.BaseURL+"/functions/v1/notify/"+id+"?access_key="+ready.AccessKey, nil, &now)
		if len(now.Recipients) == 1 && slices.Contains([]string{"delivered", "read"}, now.Recipients[0].State) {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("the message stands at %+v", now.Recipients)
		}
	}
}

func (i *image) ask(t *testing.T, method, url string, body []byte, to any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal("the program did not answer")
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s was answered %d %s, %v", method, resp.StatusCode, answer, err)
	}
	if err := json.Unmarshal(answer, to); err != nil {
		t.Fatal(err)
	}
}
