package system_test

import (
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
)

func TestOnlyTheOperatorDecidesAfterARestore(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, admin, other := w.As("owner@acme.test"), w.As("admin@acme.test"), w.As("owner@other.test")
	const path = "/panel/v1/restored"
	for _, by := range []string{admin, other} {
		w.Want("GET", path, by, "", 403, "forbidden", "")
		w.Want("POST", path, by, `{"decision":"send"}`, 403, "forbidden", "")
	}
	if x := w.Want("GET", path, owner, "", 200, "", ""); x["restored_at"] != nil {
		t.Errorf("%v", x)
	}
	w.Want("POST", path, owner, `{"decision":"send"}`, 409, "conflict", "")
	if _, err := w.Store.Mark(t.Context(), time.UnixMilli(1_800_000_000_000), func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if x := w.Want("GET", path, owner, "", 200, "", ""); x["restored_at"] != "2027-01-15T08:00:00Z" {
		t.Errorf("%v", x)
	}
	for body, field := range map[string]string{
		`{}`: "decision", `{"decision":"keep"}`: "decision", `{"decision":true}`: "decision",
		`{"decision":"fail","company":"acme"}`: "company", `{"decision":"fail","company":1}`: "company",
	} {
		w.Want("POST", path, owner, body, 400, "validation_failed", field)
	}
	if x := w.Want("POST", path, owner, `{"decision":"fail"}`, 200, "", ""); x["decided"] != 0.0 || x["held"] != 0.0 {
		t.Errorf("%v", x)
	}
	if x := w.Want("GET", path, owner, "", 200, "", ""); x["restored_at"] != nil {
		t.Errorf("after all decisions: %v", x)
	}
}
