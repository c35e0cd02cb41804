package deploy_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/base/need"
)

// unit returns the values of each key in a unit file, in the file's order.
func unit(t *testing.T, name string) map[string][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			t.Errorf("%s: %q is no setting", name, line)
		}
		values[key] = append(values[key], value)
	}
	return values
}

// variables returns the environment variables of the program's settings.
func variables() []string {
	var all []string
	for _, s := range config.Settings() {
		all = append(all, s.Env())
		if s.Secret {
			all = append(all, s.Env()+"_FILE")
		}
	}
	return all
}

// shutdown returns the default duration of a stop.
func shutdown(t *testing.T) time.Duration {
	t.Helper()
	return duration(t, "shutdown-timeout")
}

// duration returns the default of a setting.
func duration(t *testing.T, name string) time.Duration {
	t.Helper()
	for _, s := range config.Settings() {
		if s.Name == name {
			d, err := time.ParseDuration(s.Default)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestUnitsSettingsAreTheProgramsOwn(t *testing.T) {
	set := unit(t, "systemd/carillon.service")["Environment"]
	set = append(set, unit(t, "systemd/carillon.service.d/postgresql.conf")["Environment"]...)
	if len(set) < 4 {
		t.Errorf("found only %v", set)
	}
	for name := range unit(t, "systemd/carillon.env") {
		set = append(set, name+"=")
	}
	for _, s := range set {
		if name, _, _ := strings.Cut(s, "="); !slices.Contains(variables(), name) {
			t.Errorf("the program has no setting %s", name)
		}
	}
}

func TestUnitKeepsTheProgramAliveAndConfined(t *testing.T) {
	u := unit(t, "systemd/carillon.service")
	for key, want := range map[string]string{
		"ExecStart": "/usr/local/bin/carillon serve", "User": "carillon", "Restart": "always", "StartLimitIntervalSec": "0",
		"StateDirectory": "carillon", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "ProtectHome": "yes",
		"CapabilityBoundingSet": "", "LoadCredential": "master.key:/etc/carillon/master.key", "UMask": "0077",
	} {
		if got := u[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s=%v, want %q", key, got, want)
		}
	}
	if got := u["SystemCallFilter"]; !slices.Equal(got, []string{"@system-service", "~@privileged"}) {
		t.Errorf("system calls: %v; the process for password hashes needs those of @resources", got)
	}
	if !slices.Contains(u["Environment"], "CARILLON_DATA=/var/lib/carillon") {
		t.Error("the data folder is not the state directory, the only one that can be written")
	}
	stop, err := time.ParseDuration(u["TimeoutStopSec"][0])
	if err != nil || stop < shutdown(t)+10*time.Second {
		t.Errorf("killed after %v, while a stop may take %v: %v", stop, shutdown(t), err)
	}
}

func TestSystemdTakesTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		need.That(t, false, "systemd-analyze is not installed (Debian's package systemd); the unit's essentials are checked all the same")
	}
	text, err := os.ReadFile("systemd/carillon.service")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable() // the executable in ExecStart must exist
	if err != nil {
		t.Fatal(err)
	}
	verify := func(text string) (string, error) {
		name := filepath.Join(t.TempDir(), "carillon.service")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", name).CombinedOutput()
		return string(out), err
	}
	good := strings.Replace(string(text), "/usr/local/bin/carillon", self, 1)
	out, err := verify(good)
	if err != nil && !strings.Contains(out, "carillon.service") {
		need.That(t, false, fmt.Sprintf("systemd-analyze does not work here: %v: %s", err, out))
	}
	if err != nil || strings.Contains(out, "carillon.service") {
		t.Errorf("%v: %s", err, out)
	}
	if out, _ := verify(strings.Replace(good, "ProtectSystem=strict", "ProtectSystem=strictly", 1)); !strings.Contains(out,
		"carillon.service:") {
		t.Errorf("a mistake passes: %s", out)
	}
}
