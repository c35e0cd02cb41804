package faults

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	programDir string // created and removed by TestMain
	built      = sync.OnceValues(build)
)

// build builds the program and returns its path.
func build() (string, error) {
	exe := filepath.Join(programDir, "carillon")
	cmd := exec.Command("go", "build", "-o", exe, "carillon/cmd/carillon") // our own program
	if out, err := cmd.CombinedOutput(); err != nil {
		return exe, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return exe, nil
}

// executable returns the path of the production program.
func executable(t *testing.T) string {
	t.Helper()
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}
