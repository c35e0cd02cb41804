package mcp

import (
	"os"
	"regexp"
	"testing"

	"carillon/client"
)

// TestEveryErrorComesWithAdvice compares the advice with the API's error codes.
func TestEveryErrorComesWithAdvice(t *testing.T) {
	source, err := os.ReadFile("../../../errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\{"([a-z_]+)", \d{3}\}`).FindAllStringSubmatch(string(source), -1)
	there := map[string]bool{string(client.UnexpectedAnswer): true}
	for _, c := range codes {
		there[c[1]] = true
		if advice()[c[1]] == "" {
			t.Errorf("%s has no advice", c[1])
		}
	}
	for code := range advice() {
		if !there[code] {
			t.Errorf("there is advice for an unknown code %s", code)
		}
	}
	if len(codes) < 15 {
		t.Errorf("only %d codes were found", len(codes))
	}
}
