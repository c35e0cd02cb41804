package jsonbody

import (
	"encoding/json"
	"errors"
	"testing"

	"carillon"
)

// asError returns the *carillon.Error in err, or ends the test.
func asError(t testing.TB, err error) *carillon.Error {
	t.Helper()
	var e *carillon.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e
}

// shownTo returns an error's message and details as a caller sees them.
func shownTo(t testing.TB, err error) (message, details string) {
	t.Helper()
	e := asError(t, err)
	return e.Message, string(marshal(t, e.Details))
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
