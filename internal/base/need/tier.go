package need

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// WithoutEnv names the variable that lists, with commas, the parts a tier of the tests leaves to another one: "postgres", "sound",
// "browser", "walk". Without it everything runs: so does `go test` of a package.
const WithoutEnv = "CARILLON_TEST_WITHOUT"

// Sound marks a test that plays, records or times sound as fast as people hear it, or calls with another make of telephone. It belongs to
// the tier of `make test-sound`, and is skipped in others, with CI set too.
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

// Walk marks a short walk in a browser. `make test-quick` skips it.
func Walk(t testing.TB) {
	t.Helper()
	if Left("walk") {
		t.Skip("left to make test")
	}
}

// Postgres marks a test that is about PostgreSQL alone or about both engines in this run. `make test-quick` skips it, with CI set too.
func Postgres(t testing.TB) {
	t.Helper()
	if Left("postgres") {
		t.Skip("left to make test")
	}
}

// Left reports whether a tier leaves something to another one.
func Left(what string) bool { return slices.Contains(strings.Split(os.Getenv(WithoutEnv), ","), what) }
