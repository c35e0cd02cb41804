package configure

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"testing"

	"carillon/internal/store/db"
)

func TestUnknownNamesAreRememberedWithinBounds(t *testing.T) {
	names := NewNames[int](New(&db.DB{}, nil))
	loads := 0
	get := func(name string) int {
		v, err := names.Get(t.Context(), name, func(context.Context) (int, string, error) {
			if loads++; name == "known" {
				return 7, "ours", nil
			}
			return 0, "", sql.ErrNoRows
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := range maxUnknown + 10 {
		if v := get(strconv.Itoa(i)); v != 0 {
			t.Fatal(i, v)
		}
	}
	if v := get(strings.Repeat("x", 1000)); v != 0 {
		t.Error(v)
	}
	if n := names.unknown.Len(); n == 0 || n > maxUnknown {
		t.Errorf("%d unknown names are remembered, at most %d wanted", n, maxUnknown)
	}
	if n := names.known.Len(); n != 0 {
		t.Errorf("made-up names take %d places of the configuration's", n)
	}
	before := loads
	if a, b := get("known"), get("known"); a != 7 || b != 7 || loads != before+1 {
		t.Errorf("%d, %d after %d loads", a, b, loads-before)
	}
	if get("nobody"); loads != before+2 || get("nobody") != 0 || loads != before+2 {
		t.Errorf("a name that is known to be unknown was looked up again")
	}
}
