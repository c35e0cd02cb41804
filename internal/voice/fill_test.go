package voice

import (
	"strings"
	"testing"
)

func TestOfALongValueTheBeginningIsSaid(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Ana": "Hello Ana.", "": "Hello.", strings.Repeat("ñ", 100_000): "Hello " + strings.Repeat("ñ", maxSpoken) + ".",
	} {
		if got := Fill("Hello {{name}}.", map[string]string{"name": value}); got != want {
			t.Errorf("%d bytes: %.40q", len(value), got)
		}
	}
}
