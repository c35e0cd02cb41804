package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

func TestSettingsDocIsFresh(t *testing.T) {
	const name = "../../../docs/settings.md"
	if *update {
		if err := os.WriteFile(name, []byte(settingsDoc()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settingsDoc(), string(have)); diff != "" {
		t.Errorf("docs/settings.md is stale; run: go test ./internal/base/config -run TestSettingsDoc -update\n%s", diff)
	}
}

// settingsDoc returns docs/settings.md.
func settingsDoc() string {
	var b strings.Builder
	b.WriteString(`# Settings

<!-- Made from internal/base/config/settings.go by: go test ./internal/base/config -run TestSettingsDoc -update -->

` + "`carillon serve` reads each setting from a flag or an environment variable. A flag overrides the variable, and the variable\n" +
		`overrides the default. An empty variable counts as not set. To set a repeatable setting in a variable, separate the values
with commas. A secret has a second flag and variable that name a file with the value; setting both is an error. Prefer the
file or the variable to the flag, because other users of the machine can see flags.

| Flag | Environment | Value | Default | Meaning |
|---|---|---|---|---|
`)
	for _, s := range Settings() {
		flag, env := "`--"+s.Name+"`", "`"+s.Env()+"`"
		if s.Secret {
			flag += "<br>`--" + s.Name + FileSuffix + "`"
			env += "<br>`" + s.Env() + "_FILE`"
		}
		standard := "empty"
		if s.Default != "" {
			standard = "`" + s.Default + "`"
		}
		unit := s.Unit
		if s.Switch {
			unit = "true or false"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", flag, env, strings.ReplaceAll(unit, "|", ", "), standard, s.Doc)
	}
	return b.String()
}
