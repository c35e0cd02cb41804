package app

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/base/config"
)

func TestStartWarnsOfAnOpenMasterKeyAndAPublicDemo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode       os.FileMode
		demo       bool
		addr       string
		key, demos bool
	}{
		{0o600, true, "127.0.0.1:0", false, false},
		{0o640, false, "0.0.0.0:0", false, false},
		{0o644, true, "0.0.0.0:0", true, true},
	} {
		if err := os.Chmod(name, c.mode); err != nil {
			t.Fatal(err)
		}
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		a := &App{cfg: config.Config{MasterKeyFile: name, Demo: c.demo}, log: slog.New(slog.NewTextHandler(&log, nil))}
		warn(t.Context(), a.log, a.cfg, l.Addr())
		_ = l.Close()
		if got := strings.Contains(log.String(), "master key"); got != c.key {
			t.Errorf("mode %o: warned of the key: %v", c.mode, got)
		}
		if got := strings.Contains(log.String(), "the demo"); got != c.demos {
			t.Errorf("on %s: warned of the demo: %v", c.addr, got)
		}
	}
}
