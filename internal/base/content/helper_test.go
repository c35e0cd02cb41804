package content

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"carillon"
)

// object is a JSON body. The value dropped{} removes a key of the base body.
type object = map[string]any

type dropped struct{}

// with applies changes to a body. Objects are merged.
func with(base, changes object) object {
	out := maps.Clone(base)
	for k, v := range changes {
		inner, merge := v.(object)
		old, isObject := out[k].(object)
		switch {
		case v == dropped{}:
			delete(out, k)
		case merge && isObject:
			out[k] = with(old, inner)
		default:
			out[k] = v
		}
	}
	return out
}

const (
	missingForm = "Required field missing"
	formatForm  = "Invalid parameter format"
	phoneForm   = "Invalid phone number format"
	otherForm   = "Invalid value"
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

func compiled(t testing.TB, tpl *carillon.Template) *carillon.Template {
	t.Helper()
	if err := Compile(tpl); err != nil {
		t.Fatal(err)
	}
	return tpl
}
