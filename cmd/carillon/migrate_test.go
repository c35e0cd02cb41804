package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/store/storetest"
)

const migrateSetup = `companies:
  - name: Acme
    keys: [{key: ck_moved_live, label: live}]
    senders: [{id: main, number: "15555550100", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: main, name: hi, language: en, category: UTILITY, status: approved, body: "Hi."}]
`

func TestAnInstallationIsMovedThereAndBack(t *testing.T) {
	t.Parallel()
	dirs := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dirs, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	setup, url := write("setup.yaml", migrateSetup), write("url", storetest.EmptyPostgres(t)+"\n")
	dir := filepath.Join(dirs, "data")
	key := filepath.Join(dir, "master.key")
	sent := func(s served, id string) {
		t.Helper()
		eventually(t, "the message is read", func() bool { return s.counts(t, "ck_moved_live", id)["read"] == 1 })
	}
	s := serveFolder(t, dir, setup)
	first := s.send(t, "ck_moved_live", 1, "")
	sent(s, first)
	output := command(t, exitOK, "migrate", "--data", dir, "--to-file", url)
	for _, want := range []string{
		"copying: ", "stopping, ", "comparing: ", "finishing, ", "with equal counts and hashes; the pause lasted ",
		"carillon serve --database-url-file " + url + " --master-key-file " + key,
		"carillon migrate --from-file " + url + " --master-key-file " + key + " --data " + dir,
	} {
		if !strings.Contains(output, want) {
			t.Errorf("without %q:\n%s", want, output)
		}
	}
	s.stop() // it has ended
	output = command(t, exitOK, "migrate", "--data", dir, "--to-file", url)
	if !strings.Contains(output, "the installation was moved at 20") {
		t.Error(output)
	}

	s = serveFolder(t, filepath.Join(dirs, "node"), setup, "--database-url-file", url, "--master-key-file", key)
	sent(s, first)
	second := s.send(t, "ck_moved_live", 1, "")
	sent(s, second)
	output = command(t, exitFailed, "migrate", "--data", dir, "--from-file", url)
	if !strings.Contains(output, "a node runs on the PostgreSQL") {
		t.Error(output)
	}
	s.stop()
	var back struct {
		Rows   int64   `json:"rows"`
		Former string  `json:"former"`
		Pause  float64 `json:"pause_seconds"`
	}
	output = command(t, exitOK, "migrate", "--data", dir, "--from-file", url, "--json")
	if err := json.Unmarshal([]byte(output[:strings.LastIndex(output, "}")+1]), &back); err != nil || back.Rows < 50 || back.Pause <= 0 {
		t.Errorf("%v: %s", err, output)
	}
	if _, err := os.Stat(back.Former); err != nil {
		t.Error(err)
	}
	s = serveFolder(t, dir, setup)
	sent(s, first)
	sent(s, second)
}

func TestAMoveIsRefusedWithoutShowingThePassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storetest.Fill(t, dir)
	const url = "postgres://carillon:very-secret@127.0.0.1:1/carillon"
	for _, x := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, nil, "--to=URL"},
		{exitUsage, []string{"--to", url, "--from", url}, "can't be used together"},
		{exitUsage, []string{"--to-file", filepath.Join(dir, "none")}, "none"},
		{exitUsage, []string{"--to", url}, "the installation's master key is needed"},
		{exitFailed, []string{"--to", url, "--master-key-file", storetest.MasterKey(t)}, "connect to PostgreSQL"},
		{exitFailed, []string{"--from", url, "--master-key-file", storetest.MasterKey(t)}, "connect to PostgreSQL"},
	} {
		output := command(t, x.code, append([]string{"migrate", "--data", dir}, x.args...)...)
		if !strings.Contains(output, x.want) || strings.Contains(output, "very-secret") {
			t.Errorf("%v responds\n%s", x.args, output)
		}
	}
}
