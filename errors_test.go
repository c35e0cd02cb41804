package carillon

import (
	"errors"
	"testing"
)

// asError returns the *carillon.Error in err, or ends the test.
func asError(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e
}
