package app

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/base/schedule"
)

func TestStartWarnsOfOldTimeZones(t *testing.T) {
	at := time.Date(2026, 10, 28, 6, 16, 48, 0, time.UTC)
	own := &schedule.Release{Version: "2026f", Date: at}
	for _, c := range []struct {
		used       *schedule.Release
		now        time.Time
		old, older bool
	}{
		{own, at.AddDate(0, 0, 365), false, false},
		{own, at.AddDate(0, 0, 365).Add(time.Second), true, false},
		{&schedule.Release{Version: "2027a", Date: at.AddDate(0, 4, 0)}, at.AddDate(0, 15, 0), false, false},
		{&schedule.Release{Version: "2026e", Date: at.AddDate(0, 0, -9)}, at, false, true},
		{&schedule.Release{Version: "2025b", Date: at.AddDate(-2, 0, 0)}, at, true, true},
	} {
		var log bytes.Buffer
		warnOfZones(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), c.used, own, c.now)
		if got := strings.Contains(log.String(), "over a year old"); got != c.old {
			t.Errorf("%s at %s: warned of its age: %v", c.used.Version, c.now, got)
		}
		if got := strings.Contains(log.String(), "older than the program's own"); got != c.older {
			t.Errorf("%s with %s: warned of it: %v", c.used.Version, own.Version, got)
		}
	}
}

// oldZones returns an operator's file: the program's zones, labeled 2024a of February 2024, with America/Vancouver in
// Japan.
func oldZones(t *testing.T) string {
	t.Helper()
	own, err := zip.OpenReader("../base/schedule/zones/zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	name := filepath.Join(t.TempDir(), "zones.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	for _, entry := range own.File {
		from := entry.Name
		if from == "America/Vancouver" {
			from = "Asia/Tokyo"
		}
		var text io.Reader = strings.NewReader("2024a\n")
		if from != schedule.VersionFile {
			if text, err = own.Open(from); err != nil {
				t.Fatal(err)
			}
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: entry.Name, Modified: time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOperatorsTimeZonesAreInUseFromTheStart(t *testing.T) {
	t.Cleanup(func() { schedule.Use(nil) })
	var log bytes.Buffer
	cfg := config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: time.Minute,
		ZonesFile: oldZones(t),
	}
	a, err := New(cfg, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ready struct {
		TimeZones string `json:"time_zones"`
	}
	resp, err := http.Get(a.BaseURL() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	err = json.NewDecoder(resp.Body).Decode(&ready)
	_ = resp.Body.Close()
	if err != nil || ready.TimeZones != "2024a" {
		t.Errorf("/readyz has %q, %v", ready.TimeZones, err)
	}
	if at, err := schedule.Parse("2027-01-15T09:00:00", "America/Vancouver"); err != nil ||
		at.Format(time.RFC3339) != "2027-01-15T00:00:00Z" {
		t.Errorf("the schedule is at %s, %v", at, err)
	}
	if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"time_zones=2024a", "over a year old", "date=2024-02-01", "older than the program's own"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestStartAndApplyRefuseUnreadableTimeZones(t *testing.T) {
	name := filepath.Join(t.TempDir(), "zones.zip")
	if err := os.WriteFile(name, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Addr: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "data"), ZonesFile: name}
	a, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "--zones-file: "+name) {
		t.Errorf("the start: %v", err)
	}
	if _, err := Apply(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "--zones-file: "+name) {
		t.Errorf("apply: %v", err)
	}
}
