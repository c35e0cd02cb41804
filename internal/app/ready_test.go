package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"carillon/internal/base/config"
)

func TestReadinessSeesADeletedDataFolderAndAFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	a := started(t, config.Config{Addr: "127.0.0.1:0", Data: dir, Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: Hung})
	awaitStatus := func(want int) {
		t.Helper()
		Within(t, fmt.Sprint("/readyz comes to ", want), func() bool {
			resp, err := http.Get(a.BaseURL() + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode == want
		})
	}
	awaitStatus(http.StatusOK)
	if err := os.Mkdir(filepath.Join(dir, "carillon.probe"), 0o700); err != nil { // prevents writing there
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "carillon.probe", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusServiceUnavailable)
	if err := os.RemoveAll(filepath.Join(dir, "carillon.probe")); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusOK)
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusServiceUnavailable)
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	awaitStatus(http.StatusOK)
}
