package httpio

import "testing"

func TestACellIsNoFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+34600111222": "'+34600111222", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"": "", "Ana": "Ana", "1=1": "1=1", "ana@example.org": "ana@example.org", "ñ": "ñ",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q is written as %q, not %q", text, got, want)
		}
	}
}
