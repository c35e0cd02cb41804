package agent

import "testing"

func TestAQuestionKnowsTheDigitsOfItsAnswer(t *testing.T) {
	for pattern, want := range map[string]int{
		`[0-9]{8}`: 8, `\d{3}-\d{2}`: 5, `[A-Z]{2}-[0-9]{6}`: 6, `[0-9]{4,8}`: 0, `[A-Z0-9]{6}`: 0, `[0-9]+`: 0, `34[0-9]{9}`: 11,
		`[0-9]{3}-?[0-9]{3}`: 6, ``: 0, `(`: 0,
	} {
		p := Parameter{Type: "text", Pattern: pattern}
		if got := p.digits(); got != want {
			t.Errorf("%q: %d digits, not %d", pattern, got, want)
		}
	}
}

func TestAQuestionKnowsWhatItExpects(t *testing.T) {
	for _, c := range [][3]string{
		{"email", "text", "email"},
		{"contact_mail", "text", "email"},
		{"first_name", "text", "name"},
		{"fecha", "text", "date"},
		{"day", "date", "date"},
		{"adults", "number", ""},
		{"reason", "text", ""},
		{"name", "choice", ""},
	} {
		if got := AnswerKind(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %q", c[0], c[1], got)
		}
	}
}
