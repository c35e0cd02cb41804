package number_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"

	"carillon"
	"carillon/internal/base/number"
)

// The tests of the panel's fields read the same table (web/src/panel/ui/number.test.ts).
func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	text, err := os.ReadFile("testdata/numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Text, Number string }
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) < 40 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		got, err := number.Clean(row.Text)
		if got != row.Number || (err == nil) != (row.Number != "") {
			t.Errorf("%q is %q (%v), want %q", row.Text, got, err, row.Number)
		}
	}
}

func TestWhatIsNoNumberHasAReason(t *testing.T) {
	for text, want := range map[string]error{
		"": number.ErrMissing, " \u00a0": number.ErrMissing, "\u200b": number.ErrMissing, "'": number.ErrMissing,
		"600": number.ErrInvalid, "+39 (0)6 1234567": number.ErrInvalid, "0600111222": number.ErrInvalid,
		"3.46E+10": number.ErrAmount, "3,46E+10": number.ErrAmount, "34600111222.5": number.ErrAmount, "34600111222,25": number.ErrAmount,
		"346001112223.333": number.ErrAmount, "\u0663.\u0664\u0666E+\u0661\u0660": number.ErrAmount,
	} {
		if got, err := number.Clean(text); got != "" || !errors.Is(err, want) {
			t.Errorf("%q is %q (%v), want %v", text, got, err, want)
		}
	}
}

// Every digit of every script has the value in its Unicode name.
func TestDigitsOfEveryScriptAreDigits(t *testing.T) {
	words := strings.Fields("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE")
	tried := 0
	for _, r := range unicode.Nd.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			tried += try(t, c, words)
		}
	}
	for _, r := range unicode.Nd.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			tried += try(t, c, words)
		}
	}
	if tried < 600 {
		t.Errorf("only %d digits were tried", tried)
	}
}

func try(t *testing.T, c rune, words []string) int {
	t.Helper()
	name := runenames.Name(c)
	for value, word := range words {
		if strings.HasSuffix(name, " "+word) {
			if got, err := number.Clean("3460011122" + string(c)); got != fmt.Sprint("3460011122", value) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			return 1
		}
	}
	return 0
}

func TestInvisibleCharactersChangeNothing(t *testing.T) {
	for _, r := range unicode.Cf.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			if got, err := number.Clean("34600" + string(c) + "111222"); got != "34600111222" {
				t.Errorf("%U: %q, %v", c, got, err)
			}
		}
	}
}

func TestALookUpTakesDigitsAsTheyAre(t *testing.T) {
	for text, want := range map[string]string{
		"0600111222": "0600111222", " 34600111222 ": "34600111222", "+34 600 111 222": "34600111222", "x": "", "": "",
	} {
		if got := number.Find(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The digits of a number occur in its text in the same order, except for one 0.
func FuzzClean(f *testing.F) {
	for _, text := range []string{"+49 (0)30 1234567", "0034 600.111-222", "3.46E+10", "\u0663\u0664", "(((0", "+44(020)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := number.Clean(text)
		if err != nil {
			return
		}
		if !carillon.ValidNumber(got) || got[0] == '0' {
			t.Fatalf("%q is %q", text, got)
		}
		if again, err := number.Clean(got); again != got {
			t.Fatalf("%q is %q, then %q (%v)", text, got, again, err)
		}
	})
}
