package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/config"
	"carillon/internal/store/storetest"
)

func TestBenchMeasuresAndLeavesNothing(t *testing.T) {
	for _, engine := range []string{"SQLite", "PostgreSQL"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			cfg := config.Config{Data: t.TempDir()}
			if engine == "PostgreSQL" {
				cfg = config.Config{DatabaseURL: config.Secret(storetest.Postgres(t))}
			}
			p, err := newBenchPlace(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			r := &benchRun{place: p, lasts: time.Second, say: func(string) {}}
			if err := r.measure(t.Context()); err != nil {
				t.Error(err)
			}
			if r.result.Engine != engine || len(r.result.Figures) != 9 {
				t.Errorf("%s: %d figures", r.result.Engine, len(r.result.Figures))
			}
			for _, f := range r.result.Figures {
				if f.Value <= 0 || f.Unit == "" || f.Doc == "" {
					t.Errorf("figure %+v", f)
				}
			}
			if err := p.remove(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", p.dir, err)
			}
		})
	}
}

func TestBenchRefusesWhereNothingIs(t *testing.T) {
	s := newStrict(t)
	missing := filepath.Join(t.TempDir(), "none")
	s.try(nil, "bench", "--data", missing).want(t, exitUsage, "", "is not there")
	s.try(nil, "bench", "--data", t.TempDir(), "--for", "1s").want(t, exitUsage, "", "between 10s and 10m")
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("the folder is there now: %v", err)
	}
}

func TestBenchPrintsEveryFigureAndWarning(t *testing.T) {
	r := benchResult{Engine: "SQLite", Cores: 2, Version: "1", Warnings: []string{"fsync is off"}, Figures: []benchFigure{{"accept", 1234.5, "requests/s", "doc"}}}
	var b strings.Builder
	if err := r.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SQLite, 2 cores, carillon 1", "1234 requests/s", "doc", "warning: fsync is off"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
