package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/base/schedule"
)

func TestZonesFileIsReadOrRefused(t *testing.T) {
	dir := t.TempDir()
	text, large := filepath.Join(dir, "text"), filepath.Join(dir, "large")
	if err := os.WriteFile(text, []byte("Europe/Madrid"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, make([]byte, maxZones+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file", dir: "is a directory", text: "read the zip of time zones", large: "is larger than",
	} {
		c := Config{ZonesFile: name}
		_, err := c.Zones()
		if err == nil {
			t.Errorf("%s is taken", name)
			continue
		}
		for _, part := range []string{"--zones-file: ", name, want} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v lacks %s", err, part)
			}
		}
	}
	if r, err := new(Config).Zones(); r != nil || err != nil {
		t.Errorf("without a file: %v, %v", r, err)
	}
	c, err := Load(nil, environment(map[string]string{"CARILLON_ZONES_FILE": "../schedule/zones/zoneinfo.zip"}))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Zones(); err != nil || r.Version != schedule.BuiltIn().Version {
		t.Errorf("%v, %v", r, err)
	}
}
