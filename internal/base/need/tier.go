package need

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// WithoutEnv is the variable with the comma-separated parts that a test tier leaves to another one: "postgres",
// "sound", "browser", "walk", "faults". Without it everything runs, as with `go test` of a package.
const WithoutEnv = "CARILLON_TEST_WITHOUT"

// Sound marks a test that plays, records or times sound in real time, or calls with other telephone software. It
// belongs to the tier of `make test-sound` and is skipped in other tiers, even if CI is set.
func Sound(t testing.TB) {
	t.Helper()
	if Left("sound") {
		t.Skip("left to make test-sound")
	}
}

// Browser marks a test of all pages, which belongs to the tier of `make test-browser`.
func Browser(t testing.TB) {
	t.Helper()
	if Left("browser") {
		t.Skip("left to make test-browser")
	}
}

// Walk marks a short browser walkthrough. `make test-quick` skips it.
func Walk(t testing.TB) {
	t.Helper()
	if Left("walk") {
		t.Skip("left to make test")
	}
}

// Postgres marks a test that concerns only PostgreSQL, or both engines, in this run. `make test-quick` skips it, even
// if CI is set.
func Postgres(t testing.TB) {
	t.Helper()
	if Left("postgres") {
		t.Skip("left to make test")
	}
}

// Faults marks a scenario of `make faults`, which says how often it runs. It is skipped in other tiers, even if CI is set.
func Faults(t testing.TB, rounds int) {
	t.Helper()
	if rounds == 0 && Left("faults") {
		t.Skip("left to make faults")
	}
	That(t, rounds > 0, noRounds)
}

const noRounds = "-faults.rounds is missing: run make faults"

// Left reports whether this tier leaves a part to another one.
func Left(what string) bool { return slices.Contains(strings.Split(os.Getenv(WithoutEnv), ","), what) }
