package main

import (
	"runtime"
	"testing"
)

func TestSQLiteGetsAThreadMoreUnlessTheOperatorSaysHowMany(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for said, want := range map[string]int{"": before + 1, "7": before} {
		runtime.GOMAXPROCS(before)
		e := &environment{Lookup: func(name string) (string, bool) { return said, name == "GOMAXPROCS" && said != "" }}
		e.addThread()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("with GOMAXPROCS %q there are %d threads, want %d", said, got, want)
		}
	}
}
