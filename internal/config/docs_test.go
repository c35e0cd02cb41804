package config

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

func TestSettingsDocIsFresh(t *testing.T) {
	const name = "../../docs/settings.md"
	if *update {
		if err := os.WriteFile(name, []byte(SettingsDoc()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(SettingsDoc(), string(have)); diff != "" {
		t.Errorf("docs/settings.md is stale; run: go test ./internal/config -run TestSettingsDoc -update\n%s", diff)
	}
}
