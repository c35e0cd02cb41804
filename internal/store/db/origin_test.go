package db

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestAServerBehindAnEarlierOneIsRefused(t *testing.T) {
	a := func(data string, timeline int64) answer { return answer{Origin: Origin{data, timeline}} }
	for name, c := range map[string]struct {
		servers []answer
		err     string // of the last one
		era     int64  // of the last one
	}{
		"the same":                  {[]answer{a("1/2", 9), a("1/2", 9)}, "", 0},
		"a failover":                {[]answer{a("1/2", 9), a("1/2", 10)}, "", 1},
		"the old primary is back":   {[]answer{a("1/2", 9), a("1/2", 10), a("1/2", 9)}, "timeline is 9 after 10", 0},
		"it follows the new one":    {[]answer{a("1/2", 9), a("1/2", 10), a("1/2", 9), a("1/2", 10)}, "", 1},
		"another installation":      {[]answer{a("1/2", 9), a("3/2", 9)}, "Another database", 0},
		"a dump on the same server": {[]answer{a("1/2", 9), a("1/7", 9)}, "Another database", 0},
		"before the first tables":   {[]answer{a("", 9), a("1/2", 9)}, "", 0},
		"a server that hides it":    {[]answer{a("", 0), a("", 0)}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := origins{log: slog.New(slog.DiscardHandler)}
			var era int64
			var err error
			for _, x := range c.servers {
				era, _, err = o.accept(t.Context(), x)
			}
			if c.err == "" && (err != nil || era != c.era || o.refused != "") {
				t.Error(era, err, o.refused)
			}
			if c.err != "" && (!Away(err) || !strings.Contains(err.Error(), c.err) || o.refused != err.Error()) {
				t.Error(era, err, o.refused)
			}
		})
	}
}

func TestADatabaseThatLostCommitsIsRefusedForGood(t *testing.T) {
	d := &DB{}
	d.Health.d = d
	o := &d.server.origin
	o.log = slog.New(slog.DiscardHandler)
	before, _, err := o.accept(t.Context(), answer{Origin: Origin{"1/2", 9}})
	if err != nil {
		t.Fatal(err)
	}
	d.Health.Distrust(t.Context(), "a counter fell")
	_, _, err = o.accept(t.Context(), answer{Origin: Origin{"1/2", 10}})
	if err == nil || !strings.Contains(err.Error(), "a counter fell") {
		t.Error(err)
	}
	if reason := d.Health.Refused(); !strings.Contains(reason, "a counter fell") {
		t.Error(reason)
	}
	if o.era.Load() == before {
		t.Error("connections made before are still used")
	}
	if known := Unavailable(&refusal{"x"}); !isOverloaded(known) || !errors.As(known, new(*refusal)) {
		t.Error(known)
	}
}
