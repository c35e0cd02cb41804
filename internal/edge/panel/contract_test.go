package panel_test

import (
	"bytes"
	"net/http"
	"os"
	"reflect"
	"testing"

	"carillon/internal/edge/panel/contracttest"
	"carillon/internal/edge/panel/paneltest"
)

// TestDescriptionIsCurrent compares openapi.json with the routes.
func TestDescriptionIsCurrent(t *testing.T) {
	const file = "contracttest/openapi.json"
	want, err := contracttest.Describe(paneltest.New(t).Routes, "../../..")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && !bytes.Equal(contracttest.OpenAPI(), want) {
		t.Errorf("%s is stale; run: go test ./internal/edge/panel -update", file)
	}
}

// TestEveryRouteIsDescribed checks that every route is either a file or has the type of its response.
func TestEveryRouteIsDescribed(t *testing.T) {
	for _, r := range paneltest.New(t).Routes {
		if s := r.Shape; s.Status == 0 || s.Status <= http.StatusCreated && !s.File &&
			(s.Gives == nil || s.Gives.Kind() == reflect.Interface) {
			t.Errorf("%s does not tell the type of its response", r.Pattern)
		}
	}
}
